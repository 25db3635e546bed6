#include "kube/list_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"

namespace fairlead::kube {
namespace {

using ::testing::IsEmpty;
using Result = ListScanner::Result;

struct Scanned {
  Result result = Result::kMore;
  std::vector<std::string> items;
  std::string rest;
};

// Fed in pieces of that many bytes.
Scanned Scan(std::string_view text, size_t piece, ListScanner::Limits limits = {}) {
  Scanned scanned;
  ListScanner scanner(limits);
  for (size_t at = 0; at < text.size() && scanned.result == Result::kMore; at += piece) {
    scanned.result = scanner.Feed(text.substr(at, piece), [&](std::string_view item) {
      scanned.items.emplace_back(item);
      return true;
    });
  }
  scanned.rest = scanner.rest();
  return scanned;
}

TEST(ListScannerTest, ItemsAreCutHoweverTheBytesCome) {
  const std::vector<std::string> items = {R"({"a":"}]","b":[{"c":[1,2]},"\\"],"\"{":{}})", "{}",
                                          R"({"items":[{"d":"\\\""}]})"};
  const std::string text =
      StrCat(R"({"kind":"PodList","metadata":{"resourceVersion":"7","items":[{"x":1}]},"items": [)", items[0],
             " ,\n", items[1], ",", items[2], R"( ],"after":{"items":[1]}})", "\n");
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const Scanned scanned = Scan(text, piece);
    ASSERT_EQ(scanned.result, Result::kMore) << piece;
    ASSERT_EQ(scanned.items, items) << piece;
    ASSERT_EQ(
        scanned.rest,
        R"({"kind":"PodList","metadata":{"resourceVersion":"7","items":[{"x":1}]},"items": [],"after":{"items":[1]}})"
        "\n")
        << piece;
  }
}

TEST(ListScannerTest, AListWithoutItemsIsAllRest) {
  for (const std::string_view text :
       {R"({"items":null,"metadata":{}})", R"({"items":{"a":[{}]}})", R"([{"items":[{}]}])",
        R"({"a":"items","b":[{}]})", R"({"xitems":[{}],"item":[{}]})", "no JSON", "]}]}"}) {
    const Scanned scanned = Scan(text, 3);
    EXPECT_EQ(scanned.result, Result::kMore) << text;
    EXPECT_THAT(scanned.items, IsEmpty()) << text;
    EXPECT_EQ(scanned.rest, text);
  }
}

TEST(ListScannerTest, AnItemThatIsNoObjectIsSenseless) {
  for (const std::string_view item : {"1", "\"a\"", "[{}]", "null", "}"})
    EXPECT_EQ(Scan(StrCat(R"({"items":[{},)", item, "]}"), 2).result, Result::kSenseless) << item;
}

TEST(ListScannerTest, ItemsAndTheRestAreBounded) {
  const ListScanner::Limits limits{.most_item_bytes = 20, .most_rest_bytes = 30};
  const std::string fits = StrCat(R"({"a":")", std::string(12, 'x'), R"("})");
  ASSERT_EQ(fits.size(), 20u);
  for (const size_t piece : {1, 7, 1000}) {
    const std::string list = StrCat(R"({"items":[)", fits, ",", fits, "]}");
    EXPECT_EQ(Scan(list, piece, limits).result, Result::kMore) << "many items that fit are no large one";
    EXPECT_EQ(Scan(StrCat(R"({"items":[)", fits.substr(0, 19), "y\"}]}"), piece, limits).result,
              Result::kTooLarge);
    EXPECT_EQ(Scan(StrCat(R"({"a":")", std::string(40, 'x')), piece, limits).result, Result::kTooLarge);
  }
}

TEST(ListScannerTest, WhoTakesItemsMayEndIt) {
  ListScanner scanner({});
  int items = 0;
  EXPECT_EQ(scanner.Feed(R"({"items":[{},{},{}]})", [&](std::string_view) { return ++items < 2; }),
            Result::kStopped);
  EXPECT_EQ(items, 2);
}

}  // namespace
}  // namespace fairlead::kube
