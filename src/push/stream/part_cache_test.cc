#include "push/stream/part_cache.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "mesh/view/view.h"
#include "push/push_fakes.h"

namespace fairlead::push {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Its parts are made of names: those with 'a' before all others, the rest.
class GeneratorByName final : public FakeGenerator {
 public:
  explicit GeneratorByName(FakeMesh* mesh) : FakeGenerator(mesh, xds::TypeId::kEndpoint) {}
  size_t PartCount() const override { return 2; }
  PartOfName ByName() const override {
    return [](std::string_view name) -> size_t { return name.front() == 'a' ? 0 : 1; };
  }
  gen::Resources Generate(mesh::View& view, const gen::Names* names, size_t part) override {
    asked.push_back(*names);
    gen::Resources made = FakeGenerator::Generate(view, names, part);
    for (cache::ResourcePtr& resource : made) {
      cache::ResourcePtr& latest = latest_[resource->name.str()];
      if (latest == nullptr || latest->hash != resource->hash) latest = resource;
      resource = latest;
    }
    return made;
  }
  std::vector<gen::Names> asked;

 private:
  std::map<std::string, cache::ResourcePtr> latest_;  // equal ones are one object
};

class PartCacheTest : public testing::Test {
 protected:
  PartCacheTest() {
    for (const char* name : {"a1", "a2", "b1"}) mesh_.Put(xds::TypeId::kEndpoint, name, "content");
    auto proxy = std::make_shared<model::Proxy>();
    proxy->proxy_class = std::make_shared<model::ProxyClass>();
    client_.proxy = proxy;
  }
  xds::ResourceSetPtr Make(std::vector<std::string_view> names, LastResources* last) {
    generator_.asked.clear();
    return cache_.Make(generator_, {*snapshot_, &client_}, xds::NameSet::Of(std::move(names)), last);
  }
  const std::vector<gen::Names>& asked() const { return generator_.asked; }

  FakeMesh mesh_;
  mesh::SnapshotPtr snapshot_ = EmptySnapshot();
  mesh::ProxyScope client_;
  GeneratorByName generator_{&mesh_};
  PartCache cache_;
};

TEST_F(PartCacheTest, ANewNameLeavesThePartsOfOthersAlone) {
  LastResources last, neighbour;
  const auto before = Make({"a1", "b1"}, &last);
  EXPECT_THAT(asked(), ElementsAre(ElementsAre("a1"), ElementsAre("b1")));
  const auto after = Make({"a1", "a2", "b1"}, &last);
  EXPECT_THAT(asked(), ElementsAre(ElementsAre("a1", "a2")));
  EXPECT_EQ(after->size(), 3u);
  EXPECT_EQ(after->parts()[1], before->parts()[1]);
  EXPECT_EQ(Make({"a1", "a2", "b1"}, &neighbour)->hash(), after->hash());
  EXPECT_THAT(asked(), IsEmpty()) << "another client of the class is given the same";
}

TEST_F(PartCacheTest, EqualListsDoNotKeepWhatTheyWereMadeFrom) {
  LastResources last;
  const auto first = Make({"a1", "b1"}, &last);
  for (int i = 0; i < 10; ++i) {
    snapshot_ = EmptySnapshot();
    EXPECT_EQ(Make({"a1", "b1"}, &last), first);
    EXPECT_THAT(asked(), ElementsAre(ElementsAre("a1"), ElementsAre("b1")));
  }
  const Clock::time_point now = Clock::now();
  for (int i = 0; i < 4; ++i) cache_.Sweep(now + i * std::chrono::minutes(1));
  EXPECT_LE(cache_.size(), 2u) << "what the client has";
}

TEST_F(PartCacheTest, WhatWasTouchedIsMadeAnewWhereItDoesNotHold) {
  LastResources last;
  const auto before = Make({"a1", "b1"}, &last);
  const TouchedReads first({std::make_shared<TouchedReads::Set>(TouchedReads::Set{last.reads[0].get()})});
  const auto set = last.names;
  generator_.asked.clear();
  mesh_.Put(xds::TypeId::kEndpoint, "a1", "other");
  snapshot_ = EmptySnapshot();
  const auto after = cache_.Make(generator_, {*snapshot_, &client_}, set, &last, &first);
  EXPECT_THAT(asked(), ElementsAre(ElementsAre("a1")));
  EXPECT_NE(after->parts()[0], before->parts()[0]);
  EXPECT_EQ(after->parts()[1], before->parts()[1]);
}

}  // namespace
}  // namespace fairlead::push
