#include "xds/name_set.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
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

std::vector<std::string> NamesOf(const NamePart& part) {
  return part.With([](const std::vector<std::string>* names) { return *names; });
}

TEST(NameSetTest, PartsAreEqualWhereTheirNamesAre) {
  const NameSet::PartOf by_first = [](std::string_view name) -> size_t {
    return name.front() == 'a' ? 0 : 1;
  };
  const NameSet::PartOf by_size = [](std::string_view name) -> size_t { return name.size() % 2; };
  const NameSetPtr set = NameSet::Of({"a", "ab", "b"}), other = NameSet::Of({"a", "ab", "c"});
  const auto part = [](const NameSetPtr& names, NameSet::PartOf by, size_t number) {
    return NamePart(names, by, 2, number);
  };
  EXPECT_THAT(NamesOf(part(set, by_first, 0)), ElementsAre("a", "ab"));
  EXPECT_THAT(NamesOf(part(set, by_first, 1)), ElementsAre("b"));
  EXPECT_EQ(part(set, by_first, 0), part(other, by_first, 0));
  EXPECT_FALSE(part(set, by_first, 1) == part(other, by_first, 1));
  EXPECT_THAT(NamesOf(part(set, by_size, 0)), ElementsAre("ab"));
  EXPECT_EQ(part(set, by_first, 0), part(other, by_first, 0)) << "divided anew";
  EXPECT_FALSE(NamePart(set) == NamePart(other));
  EXPECT_EQ(NamePart(set), NamePart(NameSet::Of({"b", "ab", "a"})));
  EXPECT_EQ(NamePart(nullptr).With([](const auto* names) { return names; }), nullptr);
}

TEST(NameSetTest, APartOutlivesTheSetThatHadItFirst) {
  const NameSet::PartOf by_first = [](std::string_view name) -> size_t {
    return name.front() == 'a' ? 0 : 1;
  };
  std::optional<NamePart> of_first(std::in_place, NameSet::Of({"ax", "b"}), by_first, 2, 0);
  const NamePart of_second(NameSet::Of({"ax", "c"}), by_first, 2, 0);
  EXPECT_EQ(*of_first, of_second);
  of_first.reset();
  EXPECT_THAT(NamesOf(of_second), ElementsAre("ax"));
}

}  // namespace
}  // namespace fairlead::xds
