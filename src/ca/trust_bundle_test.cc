#include "ca/trust_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "base/strings.h"
#include "ca/issue.h"
#include "ca/openssl.h"

namespace fairlead::ca {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int64_t kNow = 1'800'000'000;

CertificatePtr NewRoot(const std::string& organization) {
  return *MakeRoot(*MakeKey(KeyType::kEcdsaP256), organization, kNow - 60, kNow + 3600);
}

// A certificate that may sign none.
CertificatePtr NewLeaf() {
  const KeyPtr key = *MakeKey(KeyType::kEcdsaP256);
  const CertificatePtr root = *MakeRoot(key, "mesh", kNow - 60, kNow + 3600);
  return *Issue(
      root, key, key,
      {.names = {"spiffe://cluster.local/ns/shop/sa/web"}, .not_before = kNow - 60, .not_after = kNow});
}

std::string Base64Of(const CertificatePtr& certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  std::string out(static_cast<size_t>(4 * ((size + 2) / 3)), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), der, size);
  OPENSSL_free(der);
  return out;
}

std::string KeyOf(const CertificatePtr& certificate, std::string_view use = "x509-svid") {
  return StrCat(R"({"kty": "EC", "use": ")", use, R"(", "x5c": [")", Base64Of(certificate), R"("]})");
}

class TrustBundleTest : public testing::Test {
 protected:
  TrustBundleTest() {
    options_.fetch = [this](const std::string& url) -> absl::StatusOr<std::string> {
      asked_.push_back(url);
      return answer_;
    };
  }
  TrustBundle& Bundle() {
    if (bundle_ == nullptr)
      bundle_ = std::make_unique<TrustBundle>(
          options_, [this](model::TrustBundlePtr told) { told_.push_back(std::move(told)); });
    return *bundle_;
  }
  model::TrustBundle Last() const { return told_.empty() ? model::TrustBundle{"none told"} : *told_.back(); }

  const CertificatePtr a_ = NewRoot("a"), b_ = NewRoot("b"), c_ = NewRoot("c");
  const std::string pem_a_ = CertificatePem(a_), pem_b_ = CertificatePem(b_), pem_c_ = CertificatePem(c_);
  const Clock::time_point start_ = Clock::now();
  TrustBundleOptions options_;
  absl::StatusOr<std::string> answer_ = absl::UnavailableError("away");
  std::vector<std::string> asked_;
  std::vector<model::TrustBundlePtr> told_;
  std::unique_ptr<TrustBundle> bundle_;
};

TEST_F(TrustBundleTest, ItIsTheRootsAndThoseOfTheMeshEachOnceAndSorted) {
  Bundle().SetRoots({a_, b_});
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_a_, pem_b_));
  Bundle().SetMesh({StrCat("a comment\n", pem_b_, pem_c_)}, {});
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_a_, pem_b_, pem_c_));
  const model::TrustBundle last = Last();
  EXPECT_TRUE(std::is_sorted(last.begin(), last.end()));
  Bundle().SetMesh({pem_c_, pem_b_}, {});
  EXPECT_EQ(told_.size(), 2u) << "it says the same";
  Bundle().SetMesh({}, {});
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_a_, pem_b_));
  Bundle().SetRoots({b_});
  EXPECT_THAT(Last(), ElementsAre(pem_b_));
}

TEST_F(TrustBundleTest, WhatIsNoAuthoritysCertificateIsPassedOver) {
  Bundle().SetMesh({"no certificate", CertificatePem(NewLeaf()), pem_c_}, {});
  EXPECT_THAT(Last(), ElementsAre(pem_c_));
}

TEST_F(TrustBundleTest, AddressesAreAskedEveryNowAndThenAndTheLastGoodIsKept) {
  answer_ = StrCat(R"({"keys": [)", KeyOf(a_), ",", KeyOf(b_, "jwt-svid"), ",", KeyOf(c_), "]}");
  Bundle().SetMesh({pem_b_}, {"other.example/bundle"});
  Bundle().Look(start_);
  EXPECT_THAT(asked_, ElementsAre("https://other.example/bundle"));
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_a_, pem_b_, pem_c_)) << "keys of another use do not count";
  answer_ = absl::UnavailableError("away");
  Bundle().Look(start_ + minutes(29));
  EXPECT_EQ(asked_.size(), 1u);
  Bundle().Look(start_ + minutes(31));
  EXPECT_EQ(asked_.size(), 2u);
  EXPECT_EQ(told_.size(), 2u) << "what was there before stays";
  answer_ = StrCat(R"({"keys": [)", KeyOf(c_), "]}");
  Bundle().Look(start_ + minutes(31) + seconds(4));
  EXPECT_EQ(asked_.size(), 2u);
  Bundle().Look(start_ + minutes(31) + seconds(6));
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_b_, pem_c_));
  Bundle().SetMesh({pem_b_}, {});
  EXPECT_THAT(Last(), ElementsAre(pem_b_)) << "nobody names the address any more";
}

TEST_F(TrustBundleTest, RootsOfASignerElsewhereAreItsFiles) {
  const std::string file = StrCat(testing::TempDir(), "/trust-", getpid(), ".pem");
  options_.roots_file = file;
  ASSERT_TRUE(WritePrivateFile(file, pem_a_).ok());
  Bundle().Look(start_);
  EXPECT_THAT(Last(), ElementsAre(pem_a_));
  ASSERT_TRUE(WritePrivateFile(file, pem_a_ + pem_b_).ok());
  Bundle().Look(start_);
  EXPECT_THAT(Last(), UnorderedElementsAre(pem_a_, pem_b_));
  std::remove(file.c_str());
  Bundle().Look(start_);
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(TrustBundleTest, ANewAddressIsAskedAtOnceByTheThread) {
  std::mutex mutex;
  std::condition_variable wake;
  bool asked = false;
  options_.fetch = [&](const std::string&) -> absl::StatusOr<std::string> {
    std::lock_guard lock(mutex);
    asked = true;
    wake.notify_all();
    return absl::UnavailableError("away");
  };
  Bundle().Start();
  Bundle().SetMesh({}, {"https://other.example"});
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(wake.wait_for(lock, seconds(30), [&] { return asked; }));
  }
  Bundle().Stop();
}

TEST(SpiffeBundle, EachX509KeyHasOneCertificateOfAnAuthority) {
  const CertificatePtr root = NewRoot("a");
  const auto read = ReadSpiffeBundle(StrCat(R"({"spiffe_sequence": 1, "keys": [)", KeyOf(root), "]}"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(CertificatePem(read->front()), CertificatePem(root));
  const auto why = [](const std::string& text) {
    return std::string(ReadSpiffeBundle(text).status().message());
  };
  EXPECT_THAT(why("[]"), HasSubstr("not a SPIFFE bundle"));
  EXPECT_THAT(why(R"({"keys": []})"), HasSubstr("no key of use x509-svid"));
  EXPECT_THAT(why(R"({"keys": [{"use": "x509-svid"}]})"), HasSubstr("not one certificate"));
  EXPECT_THAT(why(StrCat(R"({"keys": [{"use": "x509-svid", "x5c": ["a", "b"]}]})")),
              HasSubstr("not one certificate"));
  EXPECT_THAT(why(R"({"keys": [{"use": "x509-svid", "x5c": ["!"]}]})"), HasSubstr("no base64"));
  EXPECT_THAT(why(R"({"keys": [{"use": "x509-svid", "x5c": ["AAAA"]}]})"), HasSubstr("cannot be read"));
  EXPECT_THAT(why(StrCat(R"({"keys": [)", KeyOf(NewLeaf()), "]}")), HasSubstr("not an authority's"));
}

}  // namespace
}  // namespace fairlead::ca
