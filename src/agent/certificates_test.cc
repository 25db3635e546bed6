#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "agent/bootstrap/bootstrap.h"
#include "agent/file_secrets.h"
#include "agent/options.h"
#include "agent/sds_server.h"
#include "agent/secret_store.h"
#include "agent/workload_certificate.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/certificate.h"
#include "ca/issue.h"
#include "ca/openssl.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "envoy/service/secret/v3/sds.grpc.pb.h"

// The agent's certificates with an authority in the same process, and its SDS server over a real socket.
namespace fairlead::agent {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using envoy::service::secret::v3::SecretDiscoveryService;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kNow = 1'800'000'000;
constexpr char kWeb[] = "spiffe://cluster.local/ns/shop/sa/web";

class FakeCa : public CaClient {
 public:
  explicit FakeCa(const int64_t* now) : authority_({.now = [now] { return *now; }}) { NewRoot(); }
  void NewRoot() {
    auto bundle = std::make_shared<ca::Bundle>();
    bundle->key = *ca::MakeKey(ca::KeyType::kEcdsaP256);
    bundle->certificate = *ca::MakeRoot(bundle->key, "cluster.local", kNow - 60, kNow + 1'000'000);
    bundle->roots = {bundle->certificate};
    authority_.Replace(bundle);
  }
  absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                const Secret& earlier) override {
    ++asked;
    earlier_key = earlier.key;
    if (away) return absl::UnavailableError("away");
    const ca::Signed made = authority_.Sign({wrong_key ? Other() : csr, {kWeb}, lifetime});
    EXPECT_EQ(made.error, ca::Signed::Error::kNone) << made.message;
    std::vector<std::string> chain = made.chain;
    chain.push_back(made.roots);
    return chain;
  }

  bool away = false, wrong_key = false;
  int asked = 0;
  std::string earlier_key;

 private:
  static std::string Other() { return *ca::MakeSigningRequest(*ca::MakeKey(ca::KeyType::kEcdsaP256), kWeb); }
  ca::Authority authority_;
};

tls::Secret Unpacked(const cache::ResourcePtr& resource) {
  google::protobuf::Any any;
  tls::Secret secret;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&secret));
  return secret;
}

class WorkloadCertificateTest : public testing::Test {
 protected:
  WorkloadCertificateTest() {
    WorkloadCertificateOptions options;
    options.identity = kWeb;
    options.lifetime = std::chrono::seconds(1000);
    options.jitter = 0;
    options.key_type = ca::KeyType::kEcdsaP256;
    options.now = [this] { return now_; };
    certificate_ = std::make_unique<WorkloadCertificate>(options, &ca_, &store_);
  }
  std::string Key() const {
    return Unpacked(store_.Find("default")).tls_certificate().private_key().inline_bytes();
  }
  std::string Roots() const {
    return Unpacked(store_.Find("ROOTCA")).validation_context().trusted_ca().inline_bytes();
  }

  int64_t now_ = kNow;
  FakeCa ca_{&now_};
  SecretStore store_;
  std::unique_ptr<WorkloadCertificate> certificate_;
};

TEST_F(WorkloadCertificateTest, TheFirstOneIsProvenByATokenAndTheNextByIt) {
  certificate_->Step();
  EXPECT_EQ(ca_.earlier_key, "");
  const std::string key = Key();
  const auto chain = ca::ReadCertificates(
      Unpacked(store_.Find("default")).tls_certificate().certificate_chain().inline_bytes());
  ASSERT_TRUE(chain.ok());
  EXPECT_THAT(ca::UriNames(chain->front()), ElementsAre(kWeb));
  now_ += 499;
  EXPECT_EQ(certificate_->Step(), milliseconds(1000));
  EXPECT_EQ(ca_.asked, 1);
  now_ += 1;
  certificate_->Step();
  EXPECT_EQ(ca_.earlier_key, key);
  EXPECT_NE(Key(), key) << "each has a key of its own";
}

TEST_F(WorkloadCertificateTest, AnOutageKeepsWhatIsValidAndIsWaitedForLongerAndLonger) {
  certificate_->Step();
  const std::string key = Key();
  ca_.away = true;
  now_ += 600;
  milliseconds last{0};
  for (int i = 0; i < 5; ++i) {
    const milliseconds wait = certificate_->Step();
    EXPECT_GT(wait, last * 5 / 4);
    last = wait;
  }
  for (int i = 0; i < 20; ++i) last = certificate_->Step();
  EXPECT_LE(last, milliseconds(36'000));
  EXPECT_EQ(Key(), key);
  now_ += 600;
  certificate_->Step();
  EXPECT_EQ(ca_.earlier_key, "") << "what has expired proves nothing";
  ca_.away = false;
  certificate_->Step();
  EXPECT_NE(Key(), key);
}

TEST_F(WorkloadCertificateTest, WhereOneProofIsRefusedTheOtherIsTried) {
  certificate_->Step();
  ca_.away = true;
  now_ += 600;
  certificate_->Step();
  EXPECT_NE(ca_.earlier_key, "");
  certificate_->Step();
  EXPECT_EQ(ca_.earlier_key, "");
  certificate_->Step();
  EXPECT_NE(ca_.earlier_key, "");
}

TEST_F(WorkloadCertificateTest, NewRootsComeWithTheNextCertificateAndBeforeIt) {
  certificate_->Step();
  const std::string roots = Roots();
  std::vector<std::string> order;
  store_.Follow([&](const std::string& name, const Secret&) { order.push_back(name); });
  ca_.NewRoot();
  now_ += 500;
  certificate_->Step();
  EXPECT_NE(Roots(), roots);
  EXPECT_THAT(order, ElementsAre("ROOTCA", "default"));
}

TEST_F(WorkloadCertificateTest, ACertificateForAnotherKeyIsRefused) {
  ca_.wrong_key = true;
  certificate_->Step();
  EXPECT_EQ(store_.Find("default"), nullptr);
}

class FileSecretsTest : public testing::Test {
 protected:
  FileSecretsTest() { EXPECT_TRUE(ca::MakePrivateFolder(folder_).ok()); }
  ~FileSecretsTest() override { std::system(("rm -rf " + folder_).c_str()); }
  void WritePair(const std::string& chain, const std::string& key) {
    const ca::KeyPtr made = *ca::MakeKey(ca::KeyType::kEcdsaP256);
    Write(chain, ca::CertificatePem(*ca::MakeRoot(made, "x", kNow, kNow + 60)));
    Write(key, ca::PrivateKeyPem(made));
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WritePrivateFile(folder_ + "/" + name, text).ok());
  }
  const std::string folder_ = StrCat(testing::TempDir(), "/agent-", getpid());
  SecretStore store_;
  FileSecrets files_{&store_};
};

TEST_F(FileSecretsTest, NamesStandForFiles) {
  EXPECT_EQ(FilesOfName("file-root:/etc/r")->roots, "/etc/r");
  EXPECT_EQ(FilesOfName("file-root:system")->roots, "/etc/ssl/certs/ca-certificates.crt");
  EXPECT_EQ(FilesOfName("file-cert:/c~/k")->key, "/k");
  for (const char* bad : {"file-root:", "file-cert:/c", "file-cert:~/k", "file-cert:/c~", "other"}) {
    EXPECT_FALSE(FilesOfName(bad).ok()) << bad;
  }
}

TEST_F(FileSecretsTest, ChangedFilesAreTakenAndPairsThatDoNotFitNot) {
  WritePair("c", "k");
  const std::string name = StrCat("file-cert:", folder_, "/c~", folder_, "/k");
  files_.Add(name, *FilesOfName(name), /*kept=*/true);
  files_.Look();
  const cache::ResourcePtr first = store_.Find(name);
  ASSERT_NE(first, nullptr);
  WritePair("c", "other");
  files_.Look();
  EXPECT_EQ(store_.Find(name), first);
  EXPECT_THAT(files_.Difficulties(), ElementsAre(HasSubstr("not the key of")));
  WritePair("c", "k");
  files_.Look();
  EXPECT_NE(store_.Find(name), first);
  EXPECT_THAT(files_.Difficulties(), IsEmpty());
}

TEST_F(FileSecretsTest, FilesThatComeLaterAreTakenThen) {
  const std::string name = StrCat("file-root:", folder_, "/r");
  files_.Add(name, *FilesOfName(name), /*kept=*/true);
  files_.Look();
  EXPECT_EQ(store_.Find(name), nullptr);
  EXPECT_THAT(files_.Difficulties(), ElementsAre(HasSubstr("/r: No such file or directory")));
  WritePair("r", "k");
  files_.Look();
  EXPECT_NE(store_.Find(name), nullptr);
}

TEST_F(FileSecretsTest, AFileIsReadWhenItChangesAndByItsThread) {
  const std::string name = StrCat("file-root:", folder_, "/sub/link");
  files_.Add(name, *FilesOfName(name), /*kept=*/true);
  files_.Start();
  WritePair("r", "k");
  ASSERT_TRUE(CreateFolders(folder_ + "/sub").ok());
  ASSERT_EQ(symlink("../r", (folder_ + "/sub/link").c_str()), 0);
  const auto changed = [&](const cache::ResourcePtr& from) {
    for (int i = 0; i < 1000 && store_.Find(name) == from; ++i) usleep(10'000);
    return store_.Find(name);
  };
  const cache::ResourcePtr first = changed(nullptr);
  ASSERT_NE(first, nullptr) << "the folder came later, and the link in it";
  WritePair("r", "k");
  EXPECT_NE(changed(first), first) << "where the link ends";
}

TEST_F(FileSecretsTest, WhatNobodyAsksForIsLetGoOf) {
  WritePair("r", "k");
  const std::string name = StrCat("file-root:", folder_, "/r"), same = StrCat("file-root:", folder_, "//r");
  for (const std::string& one : {name, same}) {
    store_.Hold(one);
    files_.Add(one, *FilesOfName(one), /*kept=*/false);
  }
  files_.Look();
  EXPECT_NE(store_.Find(name), nullptr);
  EXPECT_NE(store_.Find(same), nullptr);
  store_.Hold(name);
  store_.LetGo(name);
  files_.Look();
  EXPECT_NE(store_.Find(name), nullptr) << "another still asks";
  store_.LetGo(name);
  files_.Look();
  EXPECT_EQ(store_.Find(name), nullptr);
  EXPECT_NE(store_.Find(same), nullptr);
}

TEST_F(FileSecretsTest, FoldersOfLinksAndOfWhatIsNotThere) {
  ASSERT_TRUE(CreateFolders(folder_ + "/new/deep").ok());
  ASSERT_EQ(symlink("new", (folder_ + "/..data").c_str()), 0);
  ASSERT_EQ(symlink("..data/deep/c", (folder_ + "/c").c_str()), 0);
  Write("new/deep/c", "x");
  const std::string folder = AbsolutePath(folder_);
  EXPECT_THAT(source::FoldersOf({folder_ + "/c"}), ElementsAre(folder, folder + "/new/deep"));
  EXPECT_THAT(source::FoldersOf({folder_ + "/nosuch/deep/c"}), ElementsAre(folder));
  EXPECT_THAT(source::FoldersOf({"/nosuch"}), ElementsAre("/"));
}

// A list of the authority that names no certificate.
std::string EmptyList() {
  const ca::KeyPtr key = *ca::MakeKey(ca::KeyType::kEcdsaP256);
  const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> list(X509_CRL_new(), X509_CRL_free);
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> time(ASN1_TIME_set(nullptr, kNow),
                                                                   ASN1_TIME_free);
  X509_CRL_set1_lastUpdate(list.get(), time.get());
  X509_CRL_sign(list.get(), key.get(), EVP_sha256());
  const ca::OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(out.get(), list.get());
  return ca::Written(out.get());
}

std::string CrlOf(const cache::ResourcePtr& resource) {
  google::protobuf::Any any;
  tls::Secret secret;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&secret));
  return secret.validation_context().crl().inline_bytes();
}

TEST_F(FileSecretsTest, RevocationsGoAlongWithTheRootsAsLongAsTheirFileIsThere) {
  store_.Set("ROOTCA", {{}, {}, "roots"});
  const std::string file = folder_ + "/crl", list = EmptyList();
  files_.WatchRevocations(file);
  EXPECT_EQ(CrlOf(store_.Find("ROOTCA")), "");
  ASSERT_TRUE(WritePrivateFile(file, list).ok());
  files_.Look();
  EXPECT_EQ(CrlOf(store_.Find("ROOTCA")), list);
  store_.Set("ROOTCA", {{}, {}, "other roots"});
  EXPECT_EQ(CrlOf(store_.Find("ROOTCA")), list) << "of new roots, too";
  for (const char* bad : {"", "no list"}) {
    ASSERT_TRUE(WritePrivateFile(file, bad).ok());
    files_.Look();
    EXPECT_EQ(CrlOf(store_.Find("ROOTCA")), list) << "the last good one stays";
  }
  ASSERT_EQ(unlink(file.c_str()), 0);
  files_.Look();
  EXPECT_EQ(CrlOf(store_.Find("ROOTCA")), "");
}

class SdsServerTest : public testing::Test {
 protected:
  SdsServerTest() {
    EXPECT_TRUE(server_.Start().ok());
    stub_ = SecretDiscoveryService::NewStub(
        grpc::CreateChannel(StrCat("unix:", socket_), grpc::InsecureChannelCredentials()));
  }
  ~SdsServerTest() override { server_.Stop(); }

  const std::string socket_ = StrCat(testing::TempDir(), "/sds-", getpid(), "/socket");
  SecretStore store_;
  SdsServer server_{socket_, &store_};
  std::unique_ptr<SecretDiscoveryService::Stub> stub_;
};

class Stream {
 public:
  explicit Stream(SecretDiscoveryService::Stub* stub) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stream_ = stub->StreamSecrets(&context_);
  }
  ~Stream() { context_.TryCancel(); }
  void Ask(const std::string& name, const DiscoveryResponse& last = {}) {
    DiscoveryRequest request;
    request.mutable_node()->set_id("proxy");
    request.add_resource_names(name);
    request.set_version_info(last.version_info());
    request.set_response_nonce(last.nonce());
    EXPECT_TRUE(stream_->Write(request));
  }
  // The next response's secret.
  tls::Secret Hear(DiscoveryResponse* response) {
    tls::Secret secret;
    EXPECT_TRUE(stream_->Read(response));
    EXPECT_EQ(response->resources_size(), 1);
    if (response->resources_size() == 1) response->resources(0).UnpackTo(&secret);
    return secret;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<DiscoveryRequest, DiscoveryResponse>> stream_;
};

TEST_F(SdsServerTest, TheSocketIsForItsUserAlone) {
  struct stat found {};
  ASSERT_EQ(stat(socket_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 077, 0u);
}

TEST_F(SdsServerTest, ASecretIsSentAsSoonAsItIsThereAndWheneverItChanges) {
  Stream stream(stub_.get());
  stream.Ask("default");
  store_.Set("ROOTCA", {"", "", "R"});
  store_.Set("default", {"C1", "K1", ""});
  DiscoveryResponse response;
  EXPECT_EQ(stream.Hear(&response).tls_certificate().private_key().inline_bytes(), "K1");
  stream.Ask("default", response);
  store_.Set("default", {"C2", "K2", ""});
  EXPECT_EQ(stream.Hear(&response).tls_certificate().certificate_chain().inline_bytes(), "C2");
  Stream other(stub_.get());
  other.Ask("ROOTCA");
  EXPECT_EQ(other.Hear(&response).validation_context().trusted_ca().inline_bytes(), "R");
}

TEST_F(SdsServerTest, WhatIsWantedMayComeAtOnce) {
  store_.OnWanted([&](const std::string& name) { store_.Set(name, {"", "", "roots of " + name}); });
  Stream stream(stub_.get());
  stream.Ask("file-root:/x");
  DiscoveryResponse response;
  EXPECT_EQ(stream.Hear(&response).validation_context().trusted_ca().inline_bytes(), "roots of file-root:/x");
}

TEST_F(SdsServerTest, AStreamHoldsWhatItAsksForUntilItEnds) {
  store_.OnWanted([&](const std::string& name) { store_.Set(name, {"", "", "roots"}); });
  {
    Stream stream(stub_.get());
    DiscoveryResponse response;
    stream.Ask("file-root:/x");
    stream.Hear(&response);
    EXPECT_FALSE(store_.EraseUnlessHeld("file-root:/x"));
    stream.Ask("file-root:/y", response);
    stream.Hear(&response);
    EXPECT_TRUE(store_.EraseUnlessHeld("file-root:/x"));
    EXPECT_FALSE(store_.EraseUnlessHeld("file-root:/y"));
  }
  for (int i = 0; i < 1000 && !store_.EraseUnlessHeld("file-root:/y"); ++i) usleep(10'000);
  EXPECT_EQ(store_.Find("file-root:/y"), nullptr);
}

TEST(BootstrapTest, TheSecurePortIsSpokenToWithTheWorkloadsCertificate) {
  const auto secure = ReadOptions({"--discoveryAddress", "istiod.istio-system.svc:15012"}, {});
  ASSERT_TRUE(secure.ok());
  const std::string text = JsonText(BuildBootstrap(*secure));
  EXPECT_THAT(text, HasSubstr(R"("exact":"istiod.istio-system.svc")"));
  EXPECT_THAT(text, HasSubstr("ROOTCA"));
  const auto named = ReadOptions({"--discoveryAddress", "127.0.0.1:15012"}, {{"ISTIOD_SAN", "istiod.x.svc"}});
  EXPECT_THAT(JsonText(BuildBootstrap(*named)), HasSubstr(R"("exact":"istiod.x.svc")"));
  const auto plain = ReadOptions({"--discoveryAddress", "istiod:15010"}, {});
  EXPECT_THAT(JsonText(BuildBootstrap(*plain)), testing::Not(HasSubstr("ROOTCA")));
}

}  // namespace
}  // namespace fairlead::agent
