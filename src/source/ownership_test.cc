#include "source/ownership.h"

#include <gmock/gmock.h>

#include <memory>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::source {
namespace {

using config::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The content is the hash.
config::ConfigPtr Object(Kind kind, const std::string& name, uint64_t content) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = "default";
  return std::make_shared<config::ConfigObject>(kind, meta, config::Origin{}, nullptr, content);
}

class OwnershipTest : public testing::Test {
 protected:
  static config::ObjectChange Has(const std::string& name, uint64_t content) {
    const auto object = Object(Kind::kService, name, content);
    return {config::KeyOf(*object), object};
  }
  static config::ObjectChange Gone(const std::string& name) {
    return {{Kind::kService, "default", name}, nullptr};
  }
  // "name=content" of what changes in the mesh, "-name" for what goes.
  static std::vector<std::string> Text(const std::vector<config::ObjectChange>& changes) {
    std::vector<std::string> all;
    all.reserve(changes.size());
    for (const auto& [key, object] : changes)
      all.push_back(object == nullptr ? StrCat("-", key.name.str())
                                      : StrCat(key.name.str(), "=", object->content_hash().low));
    return all;
  }
  std::vector<std::string> Change(size_t source, std::vector<config::ObjectChange> batch) {
    return Text(ownership_.Change(source, std::move(batch)));
  }
  std::vector<std::string> Losers() {
    std::vector<std::string> all;
    for (const config::Diagnostic& d : ownership_.Diagnostics())
      all.push_back(StrCat(d.object->name.str(), " ", d.message));
    return all;
  }

  Ownership ownership_;
  const size_t first_ = ownership_.AddSource("first"), second_ = ownership_.AddSource("second");
};

TEST_F(OwnershipTest, ObjectsOfOneSourceAreItsOwn) {
  EXPECT_THAT(Change(second_, {Has("a", 1), Has("b", 1)}), ElementsAre("a=1", "b=1"));
  EXPECT_THAT(Change(first_, {Gone("a")}), IsEmpty()) << "it has none";
  EXPECT_THAT(Change(second_, {Has("a", 2), Gone("b"), Gone("never")}), ElementsAre("a=2", "-b"));
  EXPECT_THAT(Losers(), IsEmpty());
}

TEST_F(OwnershipTest, OfTwoTheFirstSourceCounts) {
  EXPECT_THAT(Change(second_, {Has("a", 2)}), ElementsAre("a=2"));
  EXPECT_THAT(Change(first_, {Has("a", 1)}), ElementsAre("a=1")) << "whichever came sooner";
  EXPECT_THAT(Change(second_, {Has("a", 3)}), IsEmpty());
  EXPECT_THAT(Losers(), ElementsAre("a is not used: second has it, and so has first, which comes first"));
  EXPECT_THAT(Change(first_, {Gone("a")}), ElementsAre("a=3")) << "the other takes its place";
  EXPECT_THAT(Losers(), IsEmpty());
  EXPECT_THAT(Change(second_, {Gone("a")}), ElementsAre("-a"));
}

TEST_F(OwnershipTest, OneNameInTwoClustersIsTwoObjects) {
  const auto in_east = [](uint64_t content) -> config::ObjectChange {
    config::ObjectMeta meta;
    meta.name = "a";
    meta.ns = "default";
    meta.cluster = "east";
    const auto object =
        std::make_shared<config::ConfigObject>(Kind::kService, meta, config::Origin{}, nullptr, content);
    return {config::KeyOf(*object), object};
  };
  EXPECT_THAT(Change(first_, {Has("a", 1)}), ElementsAre("a=1"));
  EXPECT_THAT(Change(second_, {in_east(2)}), ElementsAre("a=2"));
  EXPECT_THAT(Losers(), IsEmpty());
  EXPECT_THAT(Change(first_, {in_east(3)}), ElementsAre("a=3")) << "the same object of two sources";
  EXPECT_THAT(Losers(), ElementsAre("a is not used: second has it, and so has first, which comes first"));
  EXPECT_EQ(ownership_.Diagnostics()[0].object->cluster, "east");
  const auto left = ownership_.Replace(first_, Kind::kService, {Object(Kind::kService, "a", 1)});
  EXPECT_THAT(Text(left), ElementsAre("a=2")) << "a relist is of all clusters that the source has";
  EXPECT_EQ(left[0].key.cluster, "east");
}

TEST_F(OwnershipTest, ALoserThatGoesChangesNothing) {
  Change(first_, {Has("a", 1)});
  Change(second_, {Has("a", 2)});
  const size_t revision = ownership_.revision();
  EXPECT_THAT(Change(second_, {Gone("a")}), IsEmpty());
  EXPECT_GT(ownership_.revision(), revision);
  EXPECT_THAT(Losers(), IsEmpty());
  EXPECT_THAT(Change(first_, {Gone("a")}), ElementsAre("-a"));
}

TEST_F(OwnershipTest, ARelistIsWhatDiffers) {
  Change(first_, {Has("same", 1), Has("other", 1), Has("gone", 1)});
  Change(second_, {Has("gone", 2), Has("theirs", 2)});
  const config::ConfigPtr rule = Object(Kind::kDestinationRule, "rule", 1);
  ownership_.Change(first_, {{config::KeyOf(*rule), rule}});
  EXPECT_THAT(Text(ownership_.Replace(first_, Kind::kService,
                                      {Object(Kind::kService, "same", 1), Object(Kind::kService, "other", 2),
                                       Object(Kind::kService, "new", 1)})),
              UnorderedElementsAre("other=2", "new=1", "gone=2"))
      << "other kinds and other sources keep what they have";
  EXPECT_THAT(Text(ownership_.Replace(first_, Kind::kService, {})),
              UnorderedElementsAre("-same", "-other", "-new"));
}

config::ObjectChange Entry(const std::string& host, const std::string& address, int64_t generation = 0) {
  config::ObjectMeta meta;
  meta.name = "e";
  meta.ns = "default";
  meta.generation = generation;
  auto spec = std::make_shared<istio::networking::v1alpha3::ServiceEntry>();
  spec->add_hosts(host);
  spec->add_endpoints()->set_address(address);
  const auto object =
      std::make_shared<config::ConfigObject>(Kind::kServiceEntry, meta, config::Origin{}, spec, uint64_t{1});
  return {config::KeyOf(*object), object};
}

TEST_F(OwnershipTest, KnowsWhereEndpointsAloneChange) {
  const auto alone = [&](std::vector<config::ObjectChange> batch) {
    return ownership_.ChangesEndpointsAlone(first_, batch);
  };
  EXPECT_FALSE(alone({Entry("a", "1.1.1.1")})) << "a new one";
  ownership_.Change(first_, {Entry("a", "1.1.1.1"), Has("s", 1)});
  EXPECT_TRUE(alone({Entry("a", "2.2.2.2", 7)}));
  EXPECT_FALSE(alone({Entry("b", "2.2.2.2")})) << "another host";
  EXPECT_FALSE(alone({Entry("a", "2.2.2.2"), Has("s", 2)})) << "something else, too";
  EXPECT_FALSE(alone({{Entry("a", "").key, nullptr}})) << "it goes";
  EXPECT_FALSE(ownership_.ChangesEndpointsAlone(second_, std::vector{Entry("a", "2.2.2.2")}))
      << "the other source has none";
  config::ObjectChange labelled = Entry("a", "2.2.2.2");
  config::ObjectMeta meta = labelled.object->meta();
  meta.labels["x"] = "y";
  labelled.object = std::make_shared<config::ConfigObject>(
      Kind::kServiceEntry, meta, config::Origin{},
      labelled.object->SharedSpec<istio::networking::v1alpha3::ServiceEntry>(), uint64_t{2});
  EXPECT_FALSE(alone({labelled})) << "another label";
}

}  // namespace
}  // namespace fairlead::source
