#include "xds/name_set.h"

#include <gmock/gmock.h>

#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::xds {
namespace {

using testing::ElementsAre;

TEST(NameSetTest, EqualSetsAreOneObject) {
  const NameSetPtr set = NameSet::Of({"b", "a", "b"});
  EXPECT_THAT(set->names(), ElementsAre("a", "b"));
  EXPECT_EQ(NameSet::Of({"a", "b"}), set);
  EXPECT_NE(NameSet::Of({"a"}), set);
  EXPECT_EQ(NameSet::Of({}), NameSet::Empty());
}

TEST(NameSetTest, ChangesAddAndDrop) {
  const NameSetPtr set = NameSet::Of({"a", "c", "e"}), none = NameSet::Empty();
  const auto change = [&](std::vector<std::string_view> added, std::vector<std::string_view> dropped) {
    return NameSet::Changed(set, NameSet::Of(std::move(added)), NameSet::Of(std::move(dropped)));
  };
  EXPECT_THAT(change({"b", "c", "f"}, {})->names(), ElementsAre("a", "b", "c", "e", "f"));
  EXPECT_THAT(change({}, {"a", "x"})->names(), ElementsAre("c", "e"));
  EXPECT_THAT(change({"b", "c"}, {"c"})->names(), ElementsAre("a", "b", "e"))
      << "what is dropped counts last";
  EXPECT_EQ(change({"a"}, {"a", "c", "e"}), none);
  EXPECT_EQ(change({}, {}), set);
  EXPECT_EQ(NameSet::Changed(none, set, none), set);
  // Once more, as another client does.
  EXPECT_THAT(change({"b", "c", "f"}, {})->names(), ElementsAre("a", "b", "c", "e", "f"));
  EXPECT_EQ(change({"d"}, {}), NameSet::Of({"a", "c", "d", "e"}));
}

TEST(NameSetTest, PartsAreSetsOfTheirOwn) {
  const NameSet::PartOf by_first = [](std::string_view name) -> size_t {
    return name.front() == 'a' ? 0 : 1;
  };
  const NameSet::PartOf by_size = [](std::string_view name) -> size_t { return name.size() % 2; };
  const NameSetPtr set = NameSet::Of({"a", "ab", "b"});
  const NameSetPtr part = NameSet::Part(set, by_first, 2, 0);
  EXPECT_THAT(part->names(), ElementsAre("a", "ab"));
  EXPECT_EQ(NameSet::Part(set, by_first, 2, 1), NameSet::Of({"b"}));
  EXPECT_EQ(NameSet::Part(NameSet::Of({"a", "ab", "c"}), by_first, 2, 0), part) << "as another set's";
  EXPECT_EQ(NameSet::Part(set, by_size, 2, 0), NameSet::Of({"ab"}));
  EXPECT_EQ(NameSet::Part(set, by_first, 2, 0), part);
}

TEST(NameSetTest, ASetThatIsItsOwnPartGoesWithItsLastOwner) {
  NameSetPtr set = NameSet::Of({"whole"});
  const NameSet::PartOf first = [](std::string_view) -> size_t { return 0; };
  EXPECT_EQ(NameSet::Part(set, first, 2, 0), set);
  EXPECT_EQ(NameSet::Part(set, first, 2, 1), NameSet::Empty());
  const std::weak_ptr<const NameSet> weak = set;
  set = nullptr;
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace fairlead::xds
