#include "ca/token_issuer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "ca/token.h"
#include "ca/token_key_source.h"

// Tokens that are made here are believed here, and are no others than were asked for.
namespace fairlead::ca {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;

int ModeOf(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? static_cast<int>(found.st_mode & 0777) : -1;
}

class TokenIssuerTest : public testing::Test {
 protected:
  TokenIssuerTest()
      : root_(testing::TempDir() + "/token-issuer-" + std::to_string(getpid())), folder_(root_ + "/tokens") {
    std::filesystem::remove_all(root_);
  }
  ~TokenIssuerTest() override { std::filesystem::remove_all(root_); }

  TokenKeys Public() const {
    std::ostringstream text;
    text << std::ifstream(IssuerKeyFile(folder_)).rdbuf();
    auto keys = ReadTokenKeys(text.str());
    return keys.ok() ? *keys : TokenKeys();
  }
  static TokenRequest Request() {
    TokenRequest request;
    request.ns = "shop";
    request.service_account = "web";
    return request;
  }

  const std::string root_, folder_;
};

TEST_F(TokenIssuerTest, AKeyIsMadeOnceForItsOwnerAlone) {
  const auto key = LoadIssuerKey(folder_), again = LoadIssuerKey(folder_);
  ASSERT_TRUE(key.ok() && again.ok()) << key.status() << again.status();
  EXPECT_TRUE(SamePublicKey(*key, *again));
  EXPECT_EQ(ModeOf(folder_), 0700);
  EXPECT_EQ(ModeOf(folder_ + "/issuer-key.pem"), 0600);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2) << "nothing is left over";
  chmod((folder_ + "/issuer-key.pem").c_str(), 0644);
  EXPECT_THAT(std::string(LoadIssuerKey(folder_).status().message()), HasSubstr("open to others"));
}

TEST_F(TokenIssuerTest, ATokenSaysWhatItWasAskedFor) {
  const auto key = LoadIssuerKey(folder_);
  ASSERT_TRUE(key.ok());
  TokenRequest request = Request();
  request.audiences = {"istio-ca", "other"};
  request.lifetime = std::chrono::minutes(10);
  const auto token = MakeToken(*key, request, kNow);
  ASSERT_TRUE(token.ok()) << token.status();
  const auto claims = VerifyToken(*token, Public(), kNow);
  ASSERT_TRUE(claims.ok()) << claims.status();
  EXPECT_EQ(claims->issuer, "fairlead");
  EXPECT_EQ(claims->subject, "system:serviceaccount:shop:web");
  EXPECT_THAT(claims->audiences, ElementsAre("istio-ca", "other"));
  EXPECT_EQ(claims->ns + "/" + claims->service_account, "shop/web");
  EXPECT_EQ(claims->expires, kNow + 600);
  EXPECT_FALSE(VerifyToken(*token, Public(), kNow + 600).ok());
}

TEST_F(TokenIssuerTest, WhatNoTokenCanSayIsRefused) {
  const auto key = LoadIssuerKey(folder_);
  ASSERT_TRUE(key.ok());
  const auto refused = [&](auto change) {
    TokenRequest request = Request();
    change(request);
    return std::string(MakeToken(*key, request, kNow).status().message());
  };
  EXPECT_THAT(refused([](TokenRequest& r) { r.ns = "shop:x"; }), HasSubstr("\"shop:x\" is no name"));
  EXPECT_THAT(refused([](TokenRequest& r) { r.service_account = ""; }), HasSubstr("\"\" is no name"));
  EXPECT_THAT(refused([](TokenRequest& r) { r.audiences.clear(); }), HasSubstr("audience"));
  EXPECT_THAT(refused([](TokenRequest& r) { r.issuer.clear(); }), HasSubstr("issuer"));
  EXPECT_THAT(refused([](TokenRequest& r) { r.lifetime = std::chrono::hours(24 * 367); }),
              HasSubstr("366 days"));
  EXPECT_THAT(refused([](TokenRequest& r) { r.lifetime = std::chrono::seconds(0); }),
              HasSubstr("a second at least"));
}

TEST_F(TokenIssuerTest, TheKeyIsKnownWhileItIsThereAndItsFolderIsPrivate) {
  TokenKeySourceOptions options;
  options.file = IssuerKeyFile(folder_);
  options.own = true;
  options.issuer = kOwnIssuer;
  TokenKeySource source(options);
  EXPECT_TRUE(source.Refresh().ok()) << "none was made yet";
  EXPECT_EQ(source.Keys(false), nullptr);
  ASSERT_TRUE(LoadIssuerKey(folder_).ok());
  EXPECT_TRUE(source.Refresh().ok());
  EXPECT_NE(source.Keys(false), nullptr);
  std::filesystem::remove_all(folder_);
  EXPECT_TRUE(source.Refresh().ok());
  EXPECT_EQ(source.Keys(false), nullptr) << "nobody's tokens are believed again";
  ASSERT_TRUE(LoadIssuerKey(folder_).ok());
  chmod(folder_.c_str(), 0777);
  EXPECT_THAT(std::string(source.Refresh().message()), HasSubstr("open to others"));
  EXPECT_EQ(source.Keys(false), nullptr) << "anybody could have put it there";
}

}  // namespace
}  // namespace fairlead::ca
