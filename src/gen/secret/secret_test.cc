#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/kubernetes_types.h"
#include "config/read/yaml.h"
#include "config/tree.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "gen/generator.h"
#include "gen/secret/key_pair.h"
#include "gen/secret/secret_name.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen::secret {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using config::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SecretTest : public mesh::MeshFixture {
 protected:
  SecretTest() {
    for (const char* ns : {"shop", "other"}) PutPlainGateway(ns);
  }
  void PutSecret(std::string_view ns, std::string_view name, Data data) {
    Put(Kind::kSecret, ns, name, config::SecretSpec{"Opaque", std::move(data)});
  }
  void PutConfigMap(std::string_view ns, std::string_view name, Data data) {
    Put(Kind::kConfigMap, ns, name, config::ConfigMapSpec{std::move(data), {}});
  }
  void PutGateway(std::string_view ns, std::string_view credential, LabelMap annotations = {}) {
    istio::networking::v1alpha3::Gateway gateway;
    (*gateway.mutable_selector())["app"] = "gw";
    auto* server = gateway.add_servers()->mutable_tls();
    server->set_mode(istio::networking::v1alpha3::ServerTLSSettings::MUTUAL);
    server->set_credential_name(std::string(credential));
    Put(Kind::kGateway, ns, "gw", std::move(gateway), 0, std::move(annotations));
  }
  // A pod as it is written, of a service account; found by its name where it has an address.
  void PutPod(std::string_view ns, std::string_view name, std::string_view account, const LabelMap& labels,
              std::string_view ip = "") {
    config::PodSpec spec;
    spec.service_account = account;
    spec.pod_ip = ip;
    const config::ConfigPtr pod = Put(Kind::kPod, ns, name, std::move(spec), 0, {}, labels);
    if (!ip.empty()) AddWorkload(pod, ip, labels);
    const std::vector<config::ObjectChange> changes = {{config::KeyOf(*pod), pod}};
    builder_.SetWritten(std::make_shared<const mesh::WrittenObjects>(nullptr, store_, changes));
  }
  void SetReaders(std::vector<std::string> readers) {
    settings_.features.secret_readers = std::move(readers);
    SetSettings();
  }
  // An EnvoyFilter's or DestinationRule's secrets are for gateways, too.
  void PutPlainGateway(std::string_view ns) {
    istio::networking::v1alpha3::Gateway gateway;
    (*gateway.mutable_selector())["app"] = "gw";
    auto* server = gateway.add_servers();
    server->mutable_port()->set_number(80);
    server->mutable_port()->set_protocol("HTTP");
    server->add_hosts("*");
    Put(Kind::kGateway, ns, "plain", std::move(gateway));
  }
  void PutGrant(std::string_view ns, const std::string& spec) {
    config::YamlDocument document = config::ParseYamlDocument("spec: " + spec);
    ASSERT_TRUE(document.problems.empty());
    Put(Kind::kReferenceGrant, ns, "grant", std::move(document.tree));
  }

  // The same of the cluster east, as it is written.
  template <typename Spec>
  void WriteThere(Kind kind, std::string_view ns, std::string_view name, Spec spec) {
    config::ObjectMeta meta;
    meta.ns = ns;
    meta.name = name;
    meta.cluster = "east";
    const auto object = std::make_shared<const config::ConfigObject>(
        kind, meta, config::Origin(), std::make_shared<const Spec>(std::move(spec)), ++hash_there_);
    const auto changes = there_.Apply(std::vector<config::ObjectChange>{{config::KeyOf(*object), object}});
    written_there_ = std::make_shared<const mesh::WrittenObjects>(written_there_.get(), there_, changes);
    builder_.SetWritten(written_there_);
  }
  void PutSecretThere(std::string_view ns, std::string_view name, Data data) {
    WriteThere(Kind::kSecret, ns, name, config::SecretSpec{"Opaque", std::move(data)});
  }

  // The secrets that a router of `ns` gets, by name.
  std::map<std::string, tls::Secret> Ask(const Names& names, std::string_view ns = "shop",
                                         bool proven = true) {
    auto proxy = std::make_shared<model::Proxy>(*MakeProxy(ns, "gw", "10.0.0.1"));
    proxy->type = type_;
    proxy->metadata.labels = labels_;
    proxy->metadata.cluster_id = cluster_;
    proxy->metadata.proxy_config = proxy_config_;
    proxy->proxy_class = model::ClassOf(*proxy);
    if (proven) proxy->identity = model::PeerIdentity{trust_domain_, std::string(ns), "gw"};
    const mesh::SnapshotPtr snapshot = Build();
    const auto scope = mesh::ComputeProxyScope(*snapshot, proxy);
    std::map<std::string, tls::Secret> secrets;
    for (const cache::ResourcePtr& resource : GenerateFor(*generator_, *snapshot, *scope, &names)) {
      google::protobuf::Any any;
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
      tls::Secret secret;
      EXPECT_TRUE(any.UnpackTo(&secret));
      EXPECT_EQ(secret.name(), resource->name.str());
      secrets[secret.name()] = std::move(secret);
    }
    return secrets;
  }
  std::vector<std::string> NamesOf(const Names& names, std::string_view ns = "shop") {
    std::vector<std::string> out;
    for (const auto& [name, secret] : Ask(names, ns)) out.push_back(name);
    return out;
  }

  std::string cluster_;  // that it says; "": none
  config::ObjectStore there_;
  std::shared_ptr<const mesh::WrittenObjects> written_there_;
  uint64_t hash_there_ = 0;
  std::string trust_domain_ = "cluster.local";  // of proven identities
  model::ProxyType type_ = model::ProxyType::kRouter;
  LabelMap labels_ = {{"app", "gw"}};
  std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> proxy_config_;
  std::unique_ptr<Generator> generator_ = NewSecretGenerator();
};

TEST_F(SecretTest, APairIsCertificateAndKeyWithItsStaple) {
  PutSecret("shop", "web", {{"tls.crt", "C"}, {"tls.key", "K"}, {"tls.ocsp-staple", "S"}, {"ca.crt", "R"}});
  const auto got = Ask({"kubernetes://web"}).at("kubernetes://web").tls_certificate();
  EXPECT_EQ(got.certificate_chain().inline_bytes(), "C");
  EXPECT_EQ(got.private_key().inline_bytes(), "K");
  EXPECT_EQ(got.ocsp_staple().inline_bytes(), "S");
}

TEST_F(SecretTest, GenericKeysGoBeforeThoseOfTlsSecrets) {
  PutSecret("shop", "web", {{"tls.crt", "C"}, {"tls.key", "K"}, {"cert", "c"}, {"key", "k"}});
  const auto got = Ask({"kubernetes://web"}).at("kubernetes://web").tls_certificate();
  EXPECT_EQ(got.certificate_chain().inline_bytes(), "c");
  EXPECT_EQ(got.private_key().inline_bytes(), "k");
}

TEST_F(SecretTest, RootsLieBesideThePairOrInASecretOfTheirOwnWithRevocations) {
  PutSecret("shop", "web", {{"ca.crt", "R"}, {"ca.crl", "L"}});
  auto got = Ask({"kubernetes://web-cacert"}).at("kubernetes://web-cacert").validation_context();
  EXPECT_EQ(got.trusted_ca().inline_bytes(), "R");
  EXPECT_EQ(got.crl().inline_bytes(), "L");
  PutSecret("shop", "web-cacert", {{"cacert", "own"}, {"crl", "l"}});
  got = Ask({"kubernetes://web-cacert"}).at("kubernetes://web-cacert").validation_context();
  EXPECT_EQ(got.trusted_ca().inline_bytes(), "own");
  EXPECT_EQ(got.crl().inline_bytes(), "l");
}

TEST_F(SecretTest, OfAnotherClusterItsOwnSecretsComeFirst) {
  PutSecret("shop", "web", {{"tls.crt", "C"}, {"tls.key", "K"}});
  PutSecret("shop", "both", {{"tls.crt", "C"}, {"tls.key", "K"}});
  cluster_ = "east";
  EXPECT_THAT(NamesOf({"kubernetes://web"}), IsEmpty()) << "there is no such cluster";
  PutSecretThere("shop", "both", {{"tls.crt", "there"}, {"tls.key", "K"}});
  EXPECT_THAT(NamesOf({"kubernetes://web", "kubernetes://both"}),
              ElementsAre("kubernetes://both", "kubernetes://web"));
  EXPECT_EQ(
      Ask({"kubernetes://both"}).at("kubernetes://both").tls_certificate().certificate_chain().inline_bytes(),
      "there");
  cluster_ = "";
  EXPECT_EQ(
      Ask({"kubernetes://both"}).at("kubernetes://both").tls_certificate().certificate_chain().inline_bytes(),
      "C");
}

TEST_F(SecretTest, APodOfAnyClusterIsNoGatewayByItsWord) {
  PutSecret("shop", "web", {{"tls.crt", "C"}, {"tls.key", "K"}});
  EXPECT_THAT(NamesOf({"kubernetes://web"}), ElementsAre("kubernetes://web"));
  WriteThere(Kind::kPod, "shop", "gw-0", [] {
    config::PodSpec pod;
    pod.service_account = "gw";
    return pod;
  }());
  EXPECT_THAT(NamesOf({"kubernetes://web"}), IsEmpty()) << "it is not the pod that it says it is";
}

TEST_F(SecretTest, AConfigMapHoldsRootsForEverybody) {
  PutConfigMap("far", "roots", {{"ca.crt", "R\n"}});
  EXPECT_EQ(Ask({"configmap://far/roots-cacert"})
                .at("configmap://far/roots-cacert")
                .validation_context()
                .trusted_ca()
                .inline_bytes(),
            "R");
}

TEST_F(SecretTest, ThoseWhoHaveNotProvenWhoTheyAreGetNothing) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  PutConfigMap("shop", "roots", {{"ca.crt", "R"}});
  EXPECT_THAT(Ask({"configmap://shop/roots-cacert", "kubernetes://web"}, "shop", /*proven=*/false),
              IsEmpty());
}

TEST_F(SecretTest, SecretsOfOtherNamespacesAreRefused) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}, {"cacert", "R"}});
  const Names names = {"kubernetes-gateway://shop/web", "kubernetes://shop/web",
                       "kubernetes://shop/web-cacert"};
  EXPECT_THAT(NamesOf(names, "other"), IsEmpty());
  EXPECT_THAT(NamesOf(names), ElementsAre("kubernetes://shop/web", "kubernetes://shop/web-cacert"));
}

// Istiod asks Kubernetes, whose roles let gateways alone list secrets.
TEST_F(SecretTest, ANamespacesSecretsAreForItsGateways) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  const Names names = {"kubernetes://web"};
  EXPECT_EQ(NamesOf(names), names);
  type_ = model::ProxyType::kSidecar;
  EXPECT_THAT(NamesOf(names), IsEmpty());
  type_ = model::ProxyType::kRouter;
  labels_ = {{"app", "another"}};
  EXPECT_EQ(NamesOf(names), names) << "a router on a host, for a DestinationRule's secret";
  PutPod("shop", "gw", "gw", labels_, "10.0.0.1");
  EXPECT_THAT(NamesOf(names), IsEmpty()) << "no Gateway selects the pod";
}

TEST_F(SecretTest, AnOptionLetsAccountsHaveTheSecretsOfTheirNamespace) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  type_ = model::ProxyType::kSidecar;
  const Names names = {"kubernetes://web"};
  for (const char* reader : {"*", "shop/*", "shop/gw"}) {
    SetReaders({"other/x", reader});
    EXPECT_EQ(NamesOf(names), names) << reader;
    EXPECT_THAT(NamesOf({"kubernetes://shop/web"}, "other"), IsEmpty()) << "its namespace alone";
  }
  SetReaders({"shop/web", "other/*"});
  EXPECT_THAT(NamesOf(names), IsEmpty());
}

class Reviewer : public model::SecretReviewer {
 public:
  void Want(const model::ClusterAccount& account) const override {
    wanted_.push_back(StrCat(account.cluster.str(), ":", account.account.str()));
  }
  std::vector<std::string> Take() { return std::exchange(wanted_, {}); }

 private:
  mutable std::vector<std::string> wanted_;
};

// Source: Istio's CredentialsController.Authorize.
TEST_F(SecretTest, AnApiServerSaysWhoseSecretsAnAccountMayHave) {
  using model::SecretAccess;
  const auto reviewer = std::make_shared<Reviewer>();
  const auto say = [&](std::map<model::ClusterAccount, SecretAccess> verdicts) {
    builder_.SetSecretReaders(
        std::make_shared<const model::SecretReaders>(model::SecretReaders{reviewer, std::move(verdicts)}));
  };
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}, {"cacert", "R"}});
  const Names names = {"kubernetes://web"};
  say({});
  EXPECT_THAT(NamesOf(names), IsEmpty()) << "the server has not said anything yet";
  EXPECT_THAT(reviewer->Take(), testing::Contains(":shop/gw"));
  EXPECT_THAT(NamesOf({"kubernetes://web-cacert"}), ElementsAre("kubernetes://web-cacert")) << "roots";
  type_ = model::ProxyType::kSidecar;
  say({{{"", "shop/gw"}, SecretAccess::kAllowed}});
  EXPECT_EQ(NamesOf(names), names) << "a sidecar, too";
  EXPECT_THAT(NamesOf({"kubernetes://shop/web"}, "other"), IsEmpty()) << "of its namespace alone";
  type_ = model::ProxyType::kRouter;
  reviewer->Take();
  say({{{"", "shop/gw"}, SecretAccess::kDenied}, {{"east", "shop/gw"}, SecretAccess::kAllowed}});
  EXPECT_THAT(NamesOf(names), IsEmpty()) << "a gateway, too; and of its own cluster";
  EXPECT_THAT(reviewer->Take(), IsEmpty());
}

// A workload may say that it is a router with any labels: its account has pods, and that is none of them.
TEST_F(SecretTest, WhoClaimsToBeAGatewayIsNone) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  PutGateway("shop", "kubernetes-gateway://shop/web");
  const Names names = {"kubernetes-gateway://shop/web", "kubernetes://web"};
  EXPECT_EQ(NamesOf(names), names) << "no pod is written: a gateway on a host";
  PutPod("shop", "gw", "gateways", {{"app", "gw"}});
  EXPECT_EQ(NamesOf(names), names) << "the account has no pod, and so is a host's, still";
  PutPod("shop", "app-1", "gw", {{"app", "app"}});
  EXPECT_THAT(NamesOf(names), IsEmpty()) << "its pod is another";
}

TEST_F(SecretTest, AGatewaysPodIsOfItsAccount) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  PutGateway("shop", "kubernetes-gateway://shop/web");
  const Names names = {"kubernetes-gateway://shop/web", "kubernetes://web"};
  PutPod("shop", "gw", "another", {{"app", "gw"}}, "10.0.0.1");
  EXPECT_THAT(NamesOf(names), IsEmpty());
  PutPod("shop", "gw", "gw", {{"app", "gw"}}, "10.0.0.1");
  EXPECT_EQ(NamesOf(names), names);
}

TEST_F(SecretTest, OneBadReferenceDoesNotHoldBackTheOthers) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  PutSecret("shop", "half", {{"cert", "C"}});
  PutSecret("shop", "empty", {{"tls.crt", ""}, {"tls.key", ""}});
  EXPECT_THAT(NamesOf({"configmap://web", "default", "file-root:/etc/roots", "invalid://", "kubernetes://",
                       "kubernetes://empty", "kubernetes://half", "kubernetes://none", "kubernetes://web"}),
              ElementsAre("kubernetes://web"));
}

TEST_F(SecretTest, AGatewaysReferencesAreForItsOwnProxies) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}, {"cacert", "R"}});
  const Names names = {"kubernetes-gateway://shop/web", "kubernetes-gateway://shop/web-cacert"};
  EXPECT_THAT(NamesOf(names), IsEmpty());
  PutGateway("shop", "kubernetes-gateway://shop/web");
  EXPECT_EQ(NamesOf(names), names);
  EXPECT_THAT(NamesOf(names, "other"), IsEmpty());
  PutGateway("shop", "kubernetes-gateway://shop/web",
             {{"internal.istio.io/service-account-name", "another"}});
  EXPECT_THAT(NamesOf(names), IsEmpty());
}

// As FAIRLEAD_PLAINTEXT_IDENTITY takes proxies at their word.
TEST_F(SecretTest, AClaimIsNoProofForTheSecretsOfAGateway) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  PutGateway("shop", "kubernetes-gateway://shop/web");
  const Names names = {"kubernetes-gateway://shop/web", "kubernetes://web"};
  EXPECT_EQ(NamesOf(names), names);
  trust_domain_ = "";
  EXPECT_THAT(NamesOf(names), ElementsAre("kubernetes://web"));
}

TEST_F(SecretTest, AGatewayOfAServiceIsForTheProxiesBehindIt) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  const Names names = {"kubernetes-gateway://shop/web"};
  PutGateway("shop", names.front(), {{"internal.istio.io/gateway-service", "gw.shop.svc.cluster.local"}});
  EXPECT_THAT(NamesOf(names), IsEmpty());
  PutPod("shop", "gw", "gw", {{"app", "gw"}}, "10.0.0.1");
  AddService("shop", "gw", {443}, {{"app", "gw"}});
  EXPECT_EQ(NamesOf(names), names);
}

TEST_F(SecretTest, AGrantLetsAGatewayHaveASecretOfAnotherNamespace) {
  PutSecret("vault", "web", {{"cert", "C"}, {"key", "K"}});
  PutGateway("shop", "kubernetes-gateway://vault/web");
  const Names names = {"kubernetes-gateway://vault/web"};
  EXPECT_THAT(NamesOf(names), IsEmpty());
  const std::string from = "{from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: ";
  PutGrant("vault", from + "else}], to: [{group: '', kind: Secret}]}");
  EXPECT_THAT(NamesOf(names), IsEmpty());
  PutGrant("vault", from + "shop}], to: [{group: '', kind: Secret, name: other}]}");
  EXPECT_THAT(NamesOf(names), IsEmpty());
  PutGrant("vault", from + "shop}], to: [{group: '', kind: Secret, name: web}]}");
  EXPECT_EQ(NamesOf(names), names);
}

TEST_F(SecretTest, AnAcceleratorKeepsTheKey) {
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  config->mutable_private_key_provider()->mutable_qat()->mutable_poll_delay()->set_nanos(5);
  proxy_config_ = config;
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  const auto got = Ask({"kubernetes://web"}).at("kubernetes://web").tls_certificate();
  EXPECT_FALSE(got.has_private_key());
  EXPECT_EQ(got.private_key_provider().provider_name(), "qat");
  EXPECT_THAT(got.private_key_provider().typed_config().value(), HasSubstr("K"));
}

TEST_F(SecretTest, OnlyTheSecretsThatWereReadAreAReasonToMakeThemAnew) {
  PutSecret("shop", "web", {{"cert", "C"}, {"key", "K"}});
  auto proxy = std::make_shared<model::Proxy>(*MakeProxy("shop", "gw", "10.0.0.1"));
  proxy->type = model::ProxyType::kRouter;
  proxy->metadata.labels = labels_;
  proxy->proxy_class = model::ClassOf(*proxy);
  proxy->identity = model::PeerIdentity{"", "shop", "gw"};
  const Names names = {"kubernetes://web"};
  const mesh::SnapshotPtr snapshot = Build();
  const auto scope = mesh::ComputeProxyScope(*snapshot, proxy);
  mesh::View view({*snapshot, scope.get()});
  generator_->Generate(view, &names, 0);
  const mesh::ReadsPtr reads = view.Take();
  PutSecret("shop", "other", {{"cert", "C"}, {"key", "K"}});
  EXPECT_TRUE(reads->Hold({*Build(), scope.get()}));
  auto stranger = std::make_shared<mesh::ProxyScope>(*scope);
  auto unproven = std::make_shared<model::Proxy>(*proxy);
  unproven->identity.reset();
  stranger->proxy = unproven;
  EXPECT_FALSE(reads->Hold({*Build(), stranger.get()})) << "what one has is not given to another";
  PutSecret("shop", "web", {{"cert", "C2"}, {"key", "K"}});
  EXPECT_FALSE(reads->Hold({*Build(), scope.get()}));
}

TEST(KeyPairTest, ReasonsNameKeysAndNoContent) {
  EXPECT_EQ(FindKeyPair({{"cert", ""}, {"key", ""}}).status().message(),
            "keys \"cert\" and \"key\" are empty");
  EXPECT_EQ(FindKeyPair({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}).status().message(),
            "expected keys (cert and key) or (tls.crt and tls.key); found: a, b, c, and 1 more...");
  EXPECT_EQ(FindRoots({{"ca.crt", ""}}).status().message(), "key \"ca.crt\" is empty");
}

TEST(KeyPairTest, WhatIsNoCertificateIsToldFromWhatHasExpired) {
  EXPECT_EQ(CheckCertificate("hello", 0).message(), "not a certificate in PEM");
}

}  // namespace
}  // namespace fairlead::gen::secret
