#include "ca/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/eventually_fixture.h"
#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "ca/bundle_folder.h"
#include "ca/issue.h"
#include "ca/keeper.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"

namespace fairlead::ca {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;
constexpr int64_t kHour = 3600;
constexpr char kWeb[] = "spiffe://cluster.local/ns/shop/sa/web";

KeyPtr NewKey(KeyType type = KeyType::kEcdsaP256) { return *MakeKey(type); }
std::string NewRequest(const KeyPtr& key = NewKey()) {
  return *MakeSigningRequest(key, "spiffe://evil/ns/a/sa/b");
}
CertificatePtr First(const std::string& pem) { return ReadCertificates(pem)->front(); }

BundlePtr NewBundle(int64_t now = kNow, seconds lifetime = hours(24 * 365), const KeyPtr& key = NewKey()) {
  auto bundle = std::make_shared<Bundle>();
  bundle->key = key;
  bundle->certificate = *MakeRoot(key, "cluster.local", now - 120, now + lifetime.count());
  bundle->roots = {bundle->certificate};
  bundle->self_signed = true;
  return bundle;
}

class Folder {
 public:
  Folder() : path_(StrCat(testing::TempDir(), "/ca-", getpid(), "-", ++count_)) {
    mkdir(path_.c_str(), 0700);
  }
  ~Folder() { std::system(("rm -rf " + path_).c_str()); }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WritePrivateFile(StrCat(path_, "/", name), text).ok());
  }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

class AuthorityTest : public testing::Test {
 protected:
  AuthorityTest() { authority_.Replace(NewBundle()); }
  Signed Sign(std::string csr, seconds lifetime = seconds(0)) {
    return authority_.Sign({std::move(csr), {kWeb}, lifetime});
  }
  int64_t now_ = kNow;
  Authority authority_{{.now = [this] { return now_; }}};
};

TEST_F(AuthorityTest, ACertificateIsForTheIdentityGivenWhateverTheRequestSays) {
  const Signed made = Sign(NewRequest());
  ASSERT_EQ(made.error, Signed::Error::kNone) << made.message;
  const CertificatePtr leaf = First(made.chain.front());
  EXPECT_THAT(UriNames(leaf), ElementsAre(kWeb));
  EXPECT_FALSE(IsAuthority(leaf));
  EXPECT_EQ(NotBefore(leaf), kNow - 120);
  EXPECT_EQ(NotAfter(leaf), kNow + 86400);
  EXPECT_TRUE(VerifyChain(leaf, {}, *ReadCertificates(made.roots), "", kNow, /*client=*/true).ok());
  EXPECT_EQ(X509_get_ext_by_NID(leaf.get(), NID_subject_alt_name, -1) >= 0, true);
}

TEST_F(AuthorityTest, LifetimesAreBoundedByTheMostAndBySigners) {
  EXPECT_EQ(NotAfter(First(Sign(NewRequest(), seconds(60)).chain.front())), kNow + 60);
  const Signed longer = Sign(NewRequest(), hours(24 * 90) + seconds(1));
  EXPECT_EQ(longer.error, Signed::Error::kLifetime);
  EXPECT_THAT(longer.message, HasSubstr("at most 7776000s"));
  EXPECT_EQ(Sign(NewRequest(), seconds(INT64_MAX)).error, Signed::Error::kLifetime);
  authority_.Replace(NewBundle(kNow, seconds(600)));
  EXPECT_EQ(NotAfter(First(Sign(NewRequest()).chain.front())), kNow + 600);
  now_ = kNow + 600;
  EXPECT_EQ(Sign(NewRequest()).error, Signed::Error::kFailed);
}

TEST_F(AuthorityTest, RequestsOfBothKindsOfKeysAreSignedByBothKindsOfAuthorities) {
  for (const KeyType signer : {KeyType::kEcdsaP256, KeyType::kEcdsaP384, KeyType::kRsa}) {
    authority_.Replace(NewBundle(kNow, hours(1), NewKey(signer)));
    for (const KeyType type : {KeyType::kEcdsaP256, KeyType::kRsa}) {
      const Signed made = Sign(NewRequest(NewKey(type)));
      ASSERT_EQ(made.error, Signed::Error::kNone) << made.message;
      EXPECT_TRUE(VerifyChain(First(made.chain.front()), {}, *ReadCertificates(made.roots), "", kNow).ok());
    }
  }
}

TEST_F(AuthorityTest, WhatIsNoProperRequestIsRefused) {
  const std::string good = NewRequest();
  std::string forged = good;
  forged[good.size() / 2] = forged[good.size() / 2] == 'A' ? 'B' : 'A';
  for (const std::string& bad : {std::string(), std::string("hello"), forged, good.substr(0, good.size() / 2),
                                 good + good, std::string(100'000, 'A'),
                                 StrCat("-----BEGIN CERTIFICATE REQUEST-----\n", std::string(60'000, 'A'),
                                        "\n-----END CERTIFICATE REQUEST-----\n")}) {
    EXPECT_EQ(Sign(bad).error, Signed::Error::kCsr) << bad.substr(0, 60);
  }
}

TEST_F(AuthorityTest, KeysThatAreTooWeakAreRefused) {
  const KeyPtr weak(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{1024}), EVP_PKEY_free);
  EXPECT_THAT(Sign(NewRequest(weak)).message, HasSubstr("1024 bits"));
  const KeyPtr curve(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "secp256k1"), EVP_PKEY_free);
  EXPECT_THAT(Sign(NewRequest(curve)).message, HasSubstr("secp256k1"));
}

TEST_F(AuthorityTest, ManyOversizedRequestsCostLittle) {
  const std::string large(4 << 20, 'A');
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(authority_.Sign({large.substr(0, 70'000), {kWeb}, {}}).error, Signed::Error::kCsr);
}

TEST_F(AuthorityTest, BeforeThereIsABundleNothingIsSigned) {
  Authority none({});
  EXPECT_EQ(none.Sign({NewRequest(), {kWeb}, {}}).error, Signed::Error::kUnavailable);
}

TEST(CertificateTest, WhatSomebodyElseSignedHasExpiredOrIsRevokedDoesNotVerify) {
  const BundlePtr bundle = NewBundle(), other = NewBundle();
  Authority authority({.now = [] { return kNow; }});
  authority.Replace(bundle);
  const CertificatePtr leaf = First(authority.Sign({NewRequest(), {kWeb}, seconds(60)}).chain.front());
  EXPECT_TRUE(VerifyChain(leaf, {}, bundle->roots, "", kNow).ok());
  EXPECT_FALSE(VerifyChain(leaf, {}, other->roots, "", kNow).ok());
  EXPECT_FALSE(VerifyChain(leaf, {}, bundle->roots, "", kNow + 61).ok());
  EXPECT_FALSE(VerifyChain(leaf, {}, bundle->roots, "no list", kNow).ok());
  // A list of the root that names the leaf.
  X509_CRL* crl = X509_CRL_new();
  X509_CRL_set_version(crl, X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(crl, X509_get_subject_name(bundle->certificate.get()));
  ASN1_TIME* time = ASN1_TIME_set(nullptr, kNow - 60);
  X509_CRL_set1_lastUpdate(crl, time);
  ASN1_TIME_set(time, kNow + 3600);
  X509_CRL_set1_nextUpdate(crl, time);
  X509_REVOKED* revoked = X509_REVOKED_new();
  X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber(leaf.get()));
  X509_REVOKED_set_revocationDate(revoked, time);
  X509_CRL_add0_revoked(crl, revoked);
  X509_CRL_sign(crl, bundle->key.get(), EVP_sha256());
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_CRL(out, crl);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  const std::string list(data, static_cast<size_t>(size));
  EXPECT_THAT(VerifyChain(leaf, {}, bundle->roots, list, kNow).message(), HasSubstr("revoked"));
  BIO_free(out);
  ASN1_TIME_free(time);
  X509_CRL_free(crl);
}

TEST(BundleTest, PartsThatDoNotBelongTogetherAreNamed) {
  const BundlePtr bundle = NewBundle(), other = NewBundle();
  const BundleTexts good{CertificatePem(bundle->certificate), PrivateKeyPem(bundle->key), "",
                         CertificatePem(bundle->certificate), ""};
  EXPECT_TRUE(ReadBundle(good, kNow).ok());
  BundleTexts bad = good;
  bad.key = PrivateKeyPem(other->key);
  EXPECT_THAT(ReadBundle(bad, kNow).status().message(), HasSubstr("key is not the one"));
  bad = good;
  bad.roots = CertificatePem(other->certificate);
  EXPECT_THAT(ReadBundle(bad, kNow).status().message(), HasSubstr("does not lead to a root"));
  Authority authority({.now = [] { return kNow; }});
  authority.Replace(bundle);
  const KeyPtr key = NewKey();
  bad = good;
  bad.certificate = authority.Sign({*MakeSigningRequest(key, kWeb), {kWeb}, {}}).chain.front();
  bad.key = PrivateKeyPem(key);
  EXPECT_THAT(ReadBundle(bad, kNow).status().message(), HasSubstr("may not sign"));
}

TEST(SelfSignedFolderTest, ARootIsMadeOnceAndKeptForItsOwnerAlone) {
  const Folder parent;
  const SelfSignedFolder folder({.folder = parent.path() + "/deep/ca", .lifetime = hours(24)});
  const auto made = folder.Load(kNow);
  ASSERT_TRUE(made.ok()) << made.status();
  struct stat found {};
  ASSERT_EQ(stat((parent.path() + "/deep/ca").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((parent.path() + "/deep/ca/ca-key.pem").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  const auto again = folder.Load(kNow + 60);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(SameCertificate((*made)->certificate, (*again)->certificate));
  chmod((parent.path() + "/deep/ca/ca-key.pem").c_str(), 0644);
  EXPECT_EQ(folder.Load(kNow).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SelfSignedFolderTest, ARenewedRootAndTheOldOneVouchForEachOthersCertificates) {
  const Folder parent;
  const SelfSignedFolder folder({.folder = parent.path() + "/ca", .lifetime = hours(100)});
  const BundlePtr old = *folder.Load(kNow);
  EXPECT_FALSE(folder.Due(*old, kNow + 79 * kHour));
  EXPECT_TRUE(folder.Due(*old, kNow + 81 * kHour));
  const int64_t later = kNow + 81 * kHour;
  const BundlePtr renewed = *folder.Renew(*old, later);
  EXPECT_EQ(renewed->roots.size(), 2u);
  Authority before({.now = [] { return later; }}), after({.now = [] { return later; }});
  before.Replace(old);
  after.Replace(renewed);
  const CertificatePtr old_leaf = First(before.Sign({NewRequest(), {kWeb}, hours(1)}).chain.front());
  const CertificatePtr new_leaf = First(after.Sign({NewRequest(), {kWeb}, hours(1)}).chain.front());
  for (const CertificatePtr& leaf : {old_leaf, new_leaf}) {
    EXPECT_TRUE(VerifyChain(leaf, {}, old->roots, "", later).ok());
    EXPECT_TRUE(VerifyChain(leaf, {}, renewed->roots, "", later).ok());
    EXPECT_TRUE(VerifyChain(leaf, {}, {renewed->certificate}, "", later).ok());
  }
  const auto kept = folder.Load(later + 30 * kHour);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE(SameCertificate((*kept)->certificate, renewed->certificate));
  EXPECT_EQ((*folder.Renew(*renewed, later + 30 * kHour))->roots.size(), 2u) << "the one that ended is gone";
}

class KeeperTest : public testing::Test {
 protected:
  // An authority below `root`, as an operator plugs it in.
  void PlugIn(const BundlePtr& root) {
    const KeyPtr key = NewKey();
    CertificateSubject subject;
    subject.names = {"intermediate"};
    subject.common_name = true;
    subject.not_before = kNow - 60;
    subject.not_after = kNow + 10'000;
    subject.authority = true;
    const CertificatePtr between = *Issue(root->certificate, root->key, key, subject);
    folder_.Write("root-cert.pem", CertificatePem(root->certificate));
    folder_.Write("cert-chain.pem", CertificatePem(between));
    folder_.Write("ca-key.pem", PrivateKeyPem(key));
    folder_.Write("ca-cert.pem", CertificatePem(between));
  }
  std::unique_ptr<Keeper> NewKeeper(bool revocations = true) {
    KeeperOptions options;
    options.revocations = revocations;
    options.plugged_in = folder_.path();
    options.self_signed.folder = own_.path() + "/ca";
    options.retry = hours(1);
    options.now = [] { return kNow; };
    return std::make_unique<Keeper>(options, &authority_);
  }
  const Folder folder_, own_;
  Authority authority_{{.now = [] { return kNow; }}};
};

TEST_F(KeeperTest, AnOperatorsAuthorityGoesBeforeOurOwnAndItsChainIsSent) {
  const BundlePtr root = NewBundle();
  PlugIn(root);
  const auto keeper = NewKeeper();
  ASSERT_TRUE(keeper->Start().ok());
  const Signed made = authority_.Sign({NewRequest(), {kWeb}, {}});
  ASSERT_EQ(made.chain.size(), 2u);
  EXPECT_TRUE(VerifyChain(First(made.chain[0]), {First(made.chain[1])}, root->roots, "", kNow).ok());
  EXPECT_EQ(NotAfter(First(made.chain[0])), kNow + 10'000) << "not beyond its signer";
}

TEST_F(KeeperTest, ANewRootIsAWarning) {
  const auto logged = [this] {
    testing::internal::CaptureStdout();
    EXPECT_TRUE(NewKeeper()->Start().ok());
    FlushLogs();
    return testing::internal::GetCapturedStdout();
  };
  const std::string expected = StrCat("the root is new: there was none in ", own_.path(), "/ca");
  EXPECT_THAT(logged(), testing::HasSubstr(expected));
  EXPECT_THAT(logged(), testing::Not(testing::HasSubstr(expected))) << "it was kept";
}

TEST_F(KeeperTest, ChangedFilesAreTakenAndBrokenOnesNot) {
  PlugIn(NewBundle());
  const auto keeper = NewKeeper();
  ASSERT_TRUE(keeper->Start().ok());
  const BundlePtr first = authority_.bundle();
  folder_.Write("ca-key.pem", PrivateKeyPem(NewKey()));
  keeper->Look();
  EXPECT_EQ(authority_.bundle(), first);
  int told = 0;
  authority_.Follow([&](const BundlePtr&) { ++told; });
  PlugIn(NewBundle());
  keeper->Look();
  EXPECT_NE(authority_.bundle(), first);
  EXPECT_EQ(told, 1);
  const BundlePtr second = authority_.bundle();
  PlugIn(NewBundle());
  EXPECT_TRUE(Eventually([&] { return authority_.bundle() != second; })) << "nobody looked";
}

TEST_F(KeeperTest, FilesThatAreMissingAreNamed) {
  folder_.Write("ca-key.pem", "k");
  const absl::Status status = NewKeeper()->Start();
  EXPECT_THAT(status.message(), HasSubstr("ca-cert.pem, root-cert.pem, cert-chain.pem"));
}

TEST_F(KeeperTest, AListOfRevokedCertificatesMayBeLeftOut) {
  PlugIn(NewBundle());
  folder_.Write("ca-crl.pem", "no list");
  EXPECT_FALSE(NewKeeper()->Start().ok());
  ASSERT_TRUE(NewKeeper(/*revocations=*/false)->Start().ok());
  EXPECT_EQ(authority_.bundle()->crl, "");
}

TEST_F(KeeperTest, NamesOfTlsSecretsAreKnown) {
  const BundlePtr root = NewBundle();
  folder_.Write("tls.crt", CertificatePem(root->certificate));
  folder_.Write("tls.key", PrivateKeyPem(root->key));
  folder_.Write("ca.crt", CertificatePem(root->certificate));
  ASSERT_TRUE(NewKeeper()->Start().ok());
  EXPECT_TRUE(SameCertificate(authority_.bundle()->certificate, root->certificate));
}

}  // namespace
}  // namespace fairlead::ca
