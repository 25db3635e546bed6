#include "ca/listener_certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/eventually_fixture.h"
#include "base/files.h"
#include "base/strings.h"
#include "ca/issue.h"
#include "ca/secret_file.h"

namespace fairlead::ca {
namespace {

using testing::ElementsAre;

constexpr int64_t kNow = 1'800'000'000;

class ListenerCertificateTest : public testing::Test {
 protected:
  ListenerCertificateTest() { ReplaceAuthority(); }
  void ReplaceAuthority() {
    auto bundle = std::make_shared<Bundle>();
    bundle->key = *MakeKey(KeyType::kEcdsaP256);
    bundle->certificate = *MakeRoot(bundle->key, "cluster.local", kNow - 60, kNow + 1'000'000);
    bundle->roots = {bundle->certificate};
    authority_.Replace(bundle);
  }
  void Make(ListenerCertificateOptions options = {}) {
    options.names = {"istiod.istio-system.svc", "localhost"};
    options.lifetime = std::chrono::seconds(1000);
    options.retry = std::chrono::hours(1);
    options.now = [this] { return now_.load(); };
    certificate_ = std::make_unique<ListenerCertificate>(options, &authority_, [this](const auto& material) {
      if (refuses_) {
        ++refused_;
        return absl::InvalidArgumentError("no");
      }
      shown_.push_back(material);
      ++count_;
      return absl::OkStatus();
    });
  }

  std::atomic<int64_t> now_ = kNow;
  std::atomic<bool> refuses_ = false;
  std::atomic<int> refused_ = 0, count_ = 0;  // count_ is the size of shown_, for other threads
  Authority authority_{{.now = [this] { return now_.load(); }}};
  std::vector<http2::TlsMaterial> shown_;
  std::unique_ptr<ListenerCertificate> certificate_;
};

TEST_F(ListenerCertificateTest, TheAuthorityGivesOneWithTheListenersNames) {
  Make();
  ASSERT_TRUE(certificate_->Start().ok());
  const CertificatePtr leaf = ReadCertificates(shown_.at(0).certificate_chain)->front();
  EXPECT_THAT(DnsNames(leaf), ElementsAre("istiod.istio-system.svc", "localhost"));
  EXPECT_TRUE(VerifyChain(leaf, {}, *ReadCertificates(shown_[0].client_roots), "", kNow).ok());
  EXPECT_FALSE(shown_[0].require_client_certificate) << "a token will do";
}

TEST_F(ListenerCertificateTest, ItIsRenewedAtHalfOfItsLifetimeAndWithTheAuthority) {
  Make();
  ASSERT_TRUE(certificate_->Start().ok());
  now_ = kNow + 499;
  EXPECT_TRUE(certificate_->Look().ok());
  EXPECT_EQ(shown_.size(), 1u);
  now_ = kNow + 501;
  EXPECT_TRUE(certificate_->Look().ok());
  EXPECT_EQ(shown_.size(), 2u);
  ReplaceAuthority();
  EXPECT_TRUE(certificate_->Look().ok());
  EXPECT_EQ(shown_.size(), 3u);
  EXPECT_NE(shown_[2].client_roots, shown_[1].client_roots);
  ReplaceAuthority();
  EXPECT_TRUE(Eventually([&] { return count_ == 4; })) << "without another look";
}

TEST_F(ListenerCertificateTest, AnOperatorsFilesAreWatched) {
  const std::string folder = StrCat(testing::TempDir(), "/listener-", getpid());
  ASSERT_TRUE(MakePrivateFolder(folder).ok());
  ASSERT_TRUE(WritePrivateFile(folder + "/c", "chain").ok());
  ASSERT_TRUE(WritePrivateFile(folder + "/k", "key").ok());
  ListenerCertificateOptions options;
  options.chain_file = folder + "/c";
  options.key_file = folder + "/k";
  Make(options);
  ASSERT_TRUE(certificate_->Start().ok());
  EXPECT_EQ(shown_.at(0).certificate_chain, "chain");
  EXPECT_TRUE(certificate_->Look().ok());
  EXPECT_EQ(shown_.size(), 1u);
  refuses_ = true;
  ASSERT_TRUE(WritePrivateFile(folder + "/c", "other").ok());
  EXPECT_TRUE(Eventually([&] { return refused_ > 0; })) << "nobody but the system told of the change";
  refuses_ = false;
  EXPECT_TRUE(certificate_->Look().ok()) << "what was refused is tried again";
  EXPECT_EQ(shown_.at(1).certificate_chain, "other");
  ASSERT_TRUE(WritePrivateFile(folder + "/k", "another").ok());
  EXPECT_TRUE(Eventually([&] { return count_ == 3; }));
  EXPECT_EQ(shown_.at(2).private_key, "another");
  std::system(("rm -rf " + folder).c_str());
}

}  // namespace
}  // namespace fairlead::ca
