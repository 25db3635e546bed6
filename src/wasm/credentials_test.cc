#include "wasm/credentials.h"

#include <gtest/gtest.h>

namespace fairlead::wasm {
namespace {

constexpr char kConfig[] = R"({"auths": {
    "https://index.docker.io/v1/": {"auth": "aHViOnNlc2FtZQ=="},
    "https://r.example.com/v2/": {"username": "ann", "password": "b:c"},
    "t.example.com:5000": {"registrytoken": "token"},
    "i.example.com": {"identitytoken": "identity"},
    "bad": 5}})";

TEST(Credentials, AreFoundByTheRegistrysName) {
  EXPECT_EQ(CredentialsFor(kConfig, "index.docker.io")->password, "sesame");
  EXPECT_EQ(CredentialsFor(kConfig, "r.example.com")->Basic(), "YW5uOmI6Yw==");
  EXPECT_EQ(CredentialsFor(kConfig, "t.example.com:5000")->registry_token, "token");
  EXPECT_EQ(CredentialsFor(kConfig, "i.example.com")->identity_token, "identity");
  for (const char* other : {"example.com", "t.example.com", "bad", ""})
    EXPECT_TRUE(CredentialsFor(kConfig, other)->empty()) << other;
  EXPECT_TRUE(CredentialsFor("{}", "r.example.com")->empty());
  const auto broken = CredentialsFor("secret-text", "r.example.com");
  EXPECT_TRUE(absl::IsInvalidArgument(broken.status()));
  EXPECT_EQ(broken.status().message().find("secret-text"), absl::string_view::npos);
}

TEST(Challenge, TheBearersCounts) {
  const auto challenge = ParseChallenge(
      {"Basic realm=\"x\"",
       "Bearer realm=\"https://auth.example.com/token\",service=\"r\", scope=\"a:b:pull,push\""});
  ASSERT_TRUE(challenge);
  EXPECT_TRUE(challenge->bearer);
  EXPECT_EQ(challenge->realm, "https://auth.example.com/token");
  EXPECT_EQ(challenge->service, "r");
  EXPECT_EQ(challenge->scope, "a:b:pull,push");
  EXPECT_FALSE(ParseChallenge({"basic"})->bearer);
  EXPECT_FALSE(ParseChallenge({"Negotiate", ""}));
  EXPECT_EQ(ParseChallenge({"Bearer realm=https://x/,service=\"unended"})->service, "unended");
}

TEST(Realm, CredentialsAreNotShownInside) {
  const std::string base = "https://r.example.com";
  for (const char* realm :
       {"https://r.example.com/token", "https://auth.example.com/token", "https://203.0.113.5:443/"})
    EXPECT_TRUE(CheckRealm(realm, base).ok()) << realm;
  for (const char* realm :
       {"http://auth.example.com/token", "http://r.example.com/token", "file:///etc/passwd",
        "https://localhost/", "https://127.0.0.1:15000/quitquitquit", "https://10.0.0.1/",
        "https://[fd00::1]:80/", "https://[::1]/", "https://", "https://169.254.169.254/latest",
        "https://METADATA.google.internal/", "https://a@127.0.0.1/", ""})
    EXPECT_TRUE(absl::IsPermissionDenied(CheckRealm(realm, base))) << realm;
  EXPECT_TRUE(CheckRealm("http://127.0.0.1:5000/token", "http://127.0.0.1:5000").ok())
      << "the registry itself";
}

}  // namespace
}  // namespace fairlead::wasm
