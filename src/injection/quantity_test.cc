#include "injection/quantity.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace fairlead::injection {
namespace {

TEST(QuantityTest, HasOneForm) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"1", "1"},       {"1.5", "1500m"},     {"0.5", "500m"},        {"1000m", "1"},
      {"2000", "2k"},   {"1500", "1500"},     {"1024Mi", "1Gi"},      {"1.5Gi", "1536Mi"},
      {"0", "0"},       {"0Mi", "0"},         {"100m", "100m"},       {"1e3", "1e3"},
      {"12E6", "12e6"}, {"1E", "1E"},         {"-2.50", "-2500m"},    {"0.1Gi", "107374183"},
      {"1Ki", "1Ki"},   {"1000Ki", "1000Ki"}, {"0.0000000001", "1n"}, {"+5k", "5k"},
      {"1000k", "1M"},  {"512", "512"},       {"0.5Ki", "512"},       {"100000000", "100M"},
  };
  for (const auto& [text, want] : cases) {
    const auto quantity = CanonicalQuantity(text);
    ASSERT_TRUE(quantity.ok()) << text;
    EXPECT_EQ(*quantity, want) << text;
  }
}

TEST(QuantityTest, RefusesWithKubernetesWords) {
  constexpr char kFormat[] =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (std::string_view text : {"", "lots", "m", "1 Gi", "1Gb"}) {
    EXPECT_EQ(CanonicalQuantity(text).status().message(), kFormat) << text;
  }
  for (std::string_view text : {"1KK", "1Mm", "1eE"})
    EXPECT_EQ(CanonicalQuantity(text).status().message(), "unable to parse quantity's suffix") << text;
}

TEST(QuantityTest, LongNumbersStay) {
  EXPECT_EQ(*CanonicalQuantity("12345678901234567890"), "12345678901234567890");
}

}  // namespace
}  // namespace fairlead::injection
