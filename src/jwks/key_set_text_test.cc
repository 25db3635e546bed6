#include "jwks/key_set_text.h"

#include <gmock/gmock.h>

#include "base/strings.h"

namespace fairlead::jwks {
namespace {

using testing::HasSubstr;

TEST(KeySetText, IsAnObjectWithAListOfKeys) {
  EXPECT_TRUE(CheckKeySet(R"({"keys": []})").ok());
  EXPECT_TRUE(CheckKeySet(R"({"keys": [{"kty": "EC"}], "more": 1})").ok());
  for (const auto& [text, why] :
       {std::pair("<html>", "no JSON"), std::pair("", "no JSON"), std::pair("[]", "no \"keys\""),
        std::pair(R"({"token": "secret"})", "no \"keys\""), std::pair(R"({"keys": {}})", "no list"),
        std::pair(R"({"keys": ["secret"]})", "no object"),
        std::pair("{\"keys\": [{\"a\": \"\xff\"}]}", "no JSON")}) {
    const absl::Status status = CheckKeySet(text);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why)) << text;
  }
}

TEST(KeySetText, IsNotNestedDeeply) {
  const auto nested = [](int levels) {
    return StrCat("{\"keys\": [{\"a\": ", std::string(levels, '['), std::string(levels, ']'), "}]}");
  };
  EXPECT_TRUE(CheckKeySet(nested(13)).ok());
  EXPECT_THAT(std::string(CheckKeySet(nested(14)).message()), HasSubstr("too deeply"));
  EXPECT_FALSE(CheckKeySet(nested(300'000)).ok());
  EXPECT_TRUE(CheckKeySet(R"({"keys": [{"a": "[[[[[[[[[[[[[[[[[[[[\"[[["}]})").ok()) << "in a string";
}

TEST(KeySetText, TheOrderOfKeysMeansNothing) {
  const char* one = R"({"keys": [{"kid": "a", "n": 1}, {"kid": "b", "n": 2}]})";
  EXPECT_TRUE(SameKeys(one, R"({ "keys": [{"n": 2, "kid": "b"}, {"kid": "a", "n": 1}] })"));
  EXPECT_FALSE(SameKeys(one, R"({"keys": [{"kid": "a", "n": 1}]})"));
  EXPECT_FALSE(SameKeys(one, R"({"keys": [{"kid": "a", "n": 3}, {"kid": "b", "n": 2}]})"));
}

TEST(KeySetText, DiscoveryIsBelowTheIssuer) {
  EXPECT_EQ(DiscoveryUri("https://a.example.com"), "https://a.example.com/.well-known/openid-configuration");
  EXPECT_EQ(DiscoveryUri("https://a.example.com/t/"),
            "https://a.example.com/t/.well-known/openid-configuration");
}

TEST(KeySetText, TheDocumentSaysWhereTheKeysAre) {
  EXPECT_EQ(*KeySetUri(R"({"issuer": "me", "jwks_uri": "https://k"})"), "https://k");
  for (const char* text : {"", "[]", "{}", R"({"jwks_uri": 5})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(KeySetUri(text).status())) << text;
  }
}

}  // namespace
}  // namespace fairlead::jwks
