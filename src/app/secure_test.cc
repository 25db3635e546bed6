#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/ca_client.h"
#include "app/server_fixture.h"
#include "base/files.h"
#include "ca/authority.h"
#include "ca/certificate.h"
#include "ca/issue.h"
#include "ca/openssl.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "istio/security/v1alpha1/ca.grpc.pb.h"

// The TLS listener as proxies and agents meet it: who gets a certificate, who may speak for which node, and
// what it is told.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSecret[] = R"(
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: shop}
stringData: {cert: "C", key: "K"}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gw, namespace: shop}
spec: {selector: {app: gw}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
)";

std::string Base64Url(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  while (out.ends_with('=')) out.pop_back();
  return ReplaceAll(ReplaceAll(out, "+", "-"), "/", "_");
}

// A token of the issuer, signed by an RSA key.
std::string Token(const ca::KeyPtr& key, const std::string& subject, int64_t expires) {
  const nlohmann::json claims = {{"iss", "https://issuer"},
                                 {"aud", {"istio-ca"}},
                                 {"sub", "system:serviceaccount:" + subject},
                                 {"exp", expires}};
  const std::string text = StrCat(Base64Url(R"({"alg":"RS256"})"), ".", Base64Url(claims.dump()));
  const ca::Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  std::string signature(512, '\0');
  size_t size = signature.size();
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                 reinterpret_cast<const unsigned char*>(text.data()), text.size());
  signature.resize(size);
  return StrCat(text, ".", Base64Url(signature));
}

class SecureTest : public ServerTest {
 protected:
  SecureTest() {
    Write("secret.yaml", kSecret);
    state_ = folder_ + "-state";
    EXPECT_TRUE(ca::MakePrivateFolder(state_).ok());
    const ca::OwnedBio out(BIO_new(BIO_s_mem()));
    PEM_write_bio_PUBKEY(out.get(), issuer_.get());
    EXPECT_TRUE(WritePrivateFile(state_ + "/keys.pem", ca::Written(out.get())).ok());
    options_.secure_grpc_addr = "127.0.0.1:0";
    options_.environment.ca_dir = state_ + "/ca";
    options_.environment.root_ca_dir = state_ + "/none";
    options_.environment.custom_host = "localhost";
    options_.environment.token_issuer = "https://issuer";
    options_.environment.token_keys = state_ + "/keys.pem";
    StartServer();
    address_ = StrCat("localhost:", server_->secure_grpc_port());
    // The keys are read by another thread.
    for (int i = 0; i < 500 && !Certificate("shop:probe").ok(); ++i) usleep(10'000);
  }
  ~SecureTest() override {
    server_.reset();
    std::filesystem::remove_all(state_);
  }

  // A certificate with its key for whom a token names.
  absl::StatusOr<agent::Secret> Certificate(const std::string& subject, int64_t expires = ca::UnixNow() + 60,
                                            const agent::Secret& earlier = {}) {
    std::string token = subject.empty() ? "" : Token(issuer_, subject, expires);
    EXPECT_TRUE(WritePrivateFile(state_ + "/token", token).ok());
    agent::ControlPlaneOptions options;
    options.address = address_;
    options.roots_file = state_ + "/ca/root-cert.pem";
    options.token_file = subject.empty() ? "" : state_ + "/token";
    const ca::KeyPtr key = *ca::MakeKey(ca::KeyType::kEcdsaP256);
    auto chain = agent::NewCaClient(options)->Sign(
        *ca::MakeSigningRequest(key, "spiffe://cluster.local/ns/istio-system/sa/istiod"),
        std::chrono::seconds(60), earlier);
    if (!chain.ok()) return chain.status();
    return agent::Secret{chain->front(), ca::PrivateKeyPem(key), ""};
  }
  std::shared_ptr<grpc::Channel> Channel(const agent::Secret& proof) const {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = *ca::ReadSecretFile(state_ + "/ca/root-cert.pem");
    tls.pem_cert_chain = proof.chain;
    tls.pem_private_key = proof.key;
    return grpc::CreateChannel(address_, grpc::SslCredentials(tls));
  }

  // What a proxy of that node is answered when it asks for the Secret; the stream's end where it is not.
  struct Answer {
    grpc::Status status;
    std::vector<std::string> names;
  };
  Answer AskForSecret(const agent::Secret& proof, const std::string& ns, const std::string& token = "") {
    auto stub = envoy::service::discovery::v3::AggregatedDiscoveryService::NewStub(Channel(proof));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    auto stream = stub->StreamAggregatedResources(&context);
    DiscoveryRequest request;
    request.mutable_node()->set_id(StrCat("router~10.0.0.1~gw.", ns, "~", ns, ".svc.cluster.local"));
    auto& metadata = *request.mutable_node()->mutable_metadata()->mutable_fields();
    metadata["NAMESPACE"].set_string_value(ns);
    (*metadata["LABELS"].mutable_struct_value()->mutable_fields())["app"].set_string_value("gw");
    request.set_type_url(Url(xds::TypeId::kSecret));
    request.add_resource_names("kubernetes://shop/cert");
    stream->Write(request);
    // A type that is always answered, after it.
    DiscoveryRequest clusters;
    clusters.set_type_url(Url(xds::TypeId::kCluster));
    stream->Write(clusters);
    Answer answer;
    for (DiscoveryResponse response; stream->Read(&response);) {
      for (const auto& any : response.resources()) {
        envoy::extensions::transport_sockets::tls::v3::Secret secret;
        if (any.UnpackTo(&secret)) answer.names.push_back(secret.name());
      }
      if (response.type_url() == clusters.type_url()) {
        // Types are sent in order, clusters first: the secret's answer, if any, comes with the next.
        DiscoveryRequest listeners;
        listeners.set_type_url(Url(xds::TypeId::kNameTable));
        stream->Write(listeners);
      }
      if (response.type_url() == Url(xds::TypeId::kNameTable)) return answer;
    }
    answer.status = stream->Finish();
    return answer;
  }

  const ca::KeyPtr issuer_ = *ca::MakeKey(ca::KeyType::kRsa);
  std::string state_, address_;
};

TEST_F(SecureTest, ATokenGetsACertificateForItsAccountAndThatTheNextOne) {
  const auto first = Certificate("shop:gw");
  ASSERT_TRUE(first.ok()) << first.status();
  const auto names = [](const agent::Secret& secret) {
    return ca::UriNames(ca::ReadCertificates(secret.chain)->front());
  };
  EXPECT_THAT(names(*first), ElementsAre("spiffe://cluster.local/ns/shop/sa/gw"));
  const auto next = Certificate("", 0, *first);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_THAT(names(*next), ElementsAre("spiffe://cluster.local/ns/shop/sa/gw"));
}

TEST_F(SecureTest, WhoProvesNothingGetsNoCertificate) {
  EXPECT_EQ(Certificate("").status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Certificate("shop:gw", ca::UnixNow() - 1).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Certificate("shop/sa/x:gw").status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(SecureTest, OversizedRequestsAreRefusedBeforeAnythingElse) {
  auto stub = istio::v1::auth::IstioCertificateService::NewStub(Channel({}));
  istio::v1::auth::IstioCertificateRequest request;
  request.set_csr(std::string(200'000, 'A'));
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext context;
    istio::v1::auth::IstioCertificateResponse response;
    EXPECT_EQ(stub->CreateCertificate(&context, request, &response).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
  EXPECT_TRUE(Certificate("shop:gw").ok());
}

// Handshakes that a thousand clients begin and never go on with, each on a connection of its own.
TEST_F(SecureTest, SlowHandshakesByTheThousandKeepNobodyOut) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &files);
  constexpr char kBeginning[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";  // of a ClientHello
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server_->secure_grpc_port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<int> silent;
  for (int i = 0; i < 1000; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(socket, 0);
    silent.push_back(socket);
    ASSERT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    send(socket, kBeginning, sizeof kBeginning - 1, MSG_NOSIGNAL);
    if (i % 100 == 0) {
      EXPECT_TRUE(Certificate("shop:gw").ok()) << "with " << i << " silent ones";
    }
  }
  const auto certificate = Certificate("shop:gw");
  ASSERT_TRUE(certificate.ok()) << certificate.status();
  EXPECT_THAT(AskForSecret(*certificate, "shop").names, ElementsAre("kubernetes://shop/cert"));
  for (const int socket : silent) close(socket);
}

// A workload that asks without end, thousands at a time, with a certificate of its own.
TEST_F(SecureTest, AFloodOfRequestsForCertificatesKeepsNobodyOut) {
  const auto stub = istio::v1::auth::IstioCertificateService::NewStub(Channel(*Certificate("shop:flood")));
  istio::v1::auth::IstioCertificateRequest request;
  request.set_csr(*ca::MakeSigningRequest(*ca::MakeKey(ca::KeyType::kEcdsaP256),
                                          "spiffe://cluster.local/ns/shop/sa/flood"));
  struct Call {
    grpc::ClientContext context;
    grpc::Status status;
    istio::v1::auth::IstioCertificateResponse response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<istio::v1::auth::IstioCertificateResponse>> reader;
  };
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 12'000; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->reader = stub->AsyncCreateCertificate(&calls.back()->context, request, &queue);
    calls.back()->reader->Finish(&calls.back()->response, &calls.back()->status, calls.back().get());
  }
  const auto start = std::chrono::steady_clock::now();
  const auto other = Certificate("shop:other");
  EXPECT_TRUE(other.ok()) << other.status();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  std::map<grpc::StatusCode, size_t> codes;
  void* tag = nullptr;
  bool ok = false;
  for (size_t i = 0; i < calls.size() && queue.Next(&tag, &ok); ++i) {
    ++codes[static_cast<Call*>(tag)->status.error_code()];
  }
  EXPECT_LT(codes[grpc::StatusCode::OK], 40u) << "twenty at once, and one a second";
  EXPECT_GT(codes[grpc::StatusCode::RESOURCE_EXHAUSTED], 0u);
  // A connection that is refused by the thousand goes, and its calls with it.
  EXPECT_EQ(codes[grpc::StatusCode::OK] + codes[grpc::StatusCode::RESOURCE_EXHAUSTED] +
                codes[grpc::StatusCode::UNAVAILABLE],
            calls.size())
      << testing::PrintToString(codes);
}

TEST_F(SecureTest, CertificatesAreNotGivenInPlaintext) {
  auto stub = istio::v1::auth::IstioCertificateService::NewStub(channel_);
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + Token(issuer_, "shop:gw", ca::UnixNow() + 60));
  istio::v1::auth::IstioCertificateRequest request;
  istio::v1::auth::IstioCertificateResponse response;
  const grpc::Status status = stub->CreateCertificate(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(SecureTest, AProvenProxyGetsTheSecretsOfItsNamespaceAlone) {
  EXPECT_THAT(AskForSecret(*Certificate("shop:gw"), "shop").names, ElementsAre("kubernetes://shop/cert"));
  EXPECT_THAT(AskForSecret({}, "shop", Token(issuer_, "shop:gw", ca::UnixNow() + 60)).names,
              ElementsAre("kubernetes://shop/cert"));
  const Answer other = AskForSecret(*Certificate("other:gw"), "other");
  EXPECT_TRUE(other.status.ok()) << other.status.error_message();
  EXPECT_THAT(other.names, testing::IsEmpty());
}

TEST_F(SecureTest, ANodeOfAnotherNamespaceIsRefused) {
  const Answer answer = AskForSecret(*Certificate("other:gw"), "shop");
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(answer.status.error_message(), HasSubstr("authorization failed"));
}

TEST_F(SecureTest, AStreamWithoutAProofIsRefused) {
  EXPECT_EQ(AskForSecret({}, "shop").status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(SecureTest, ACertificateOfAnotherAuthorityIsNoProof) {
  const ca::KeyPtr key = *ca::MakeKey(ca::KeyType::kEcdsaP256);
  auto bundle = std::make_shared<ca::Bundle>();
  bundle->key = key;
  bundle->certificate = *ca::MakeRoot(key, "cluster.local", ca::UnixNow() - 60, ca::UnixNow() + 600);
  bundle->roots = {bundle->certificate};
  ca::Authority evil({});
  evil.Replace(bundle);
  const auto forged =
      evil.MakeKeyAndChain({"spiffe://cluster.local/ns/shop/sa/gw"}, std::chrono::seconds(60));
  ASSERT_TRUE(forged.ok());
  EXPECT_FALSE(AskForSecret({forged->chain, forged->key, ""}, "shop").status.ok());
}

// Of the mesh's own authority, which may sign for other meshes, too.
TEST_F(SecureTest, ACertificateOfAnotherTrustDomainIsNoProof) {
  const auto file = [this](const char* name) { return *ca::ReadSecretFile(StrCat(state_, "/ca/", name)); };
  const auto bundle = ca::ReadBundle({.certificate = file("ca-cert.pem"),
                                      .key = file("ca-key.pem"),
                                      .chain = "",
                                      .roots = file("root-cert.pem"),
                                      .crl = ""},
                                     ca::UnixNow());
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  ca::Authority authority({});
  authority.Replace(*bundle);
  const auto proof = [&authority](const std::string& domain) {
    const auto made =
        authority.MakeKeyAndChain({StrCat("spiffe://", domain, "/ns/shop/sa/gw")}, std::chrono::seconds(60));
    return agent::Secret{made->chain, made->key, ""};
  };
  EXPECT_TRUE(AskForSecret(proof("cluster.local"), "shop").status.ok());
  EXPECT_EQ(AskForSecret(proof("elsewhere.example"), "shop").status.error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Certificate("", 0, proof("elsewhere.example")).status().code(),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(SecureTest, ATokenThatWasGoodIsNotAfterItHasExpired) {
  const int64_t end = ca::UnixNow() + 2;
  ASSERT_TRUE(Certificate("shop:gw", end).ok());
  while (ca::UnixNow() <= end) usleep(50'000);
  EXPECT_EQ(Certificate("shop:gw", end).status().code(), absl::StatusCode::kUnauthenticated);
  const std::string token = Token(issuer_, "shop:gw", end);
  EXPECT_EQ(AskForSecret({}, "shop", token).status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace fairlead::app
