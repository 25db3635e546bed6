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

}  // namespace
}  // namespace fairlead::xds
