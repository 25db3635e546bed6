#include "ca/caller.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/strings.h"
#include "ca/authority.h"
#include "ca/certificate_service.h"
#include "ca/forwarded_certificate.h"
#include "ca/issue.h"
#include "ca/openssl.h"
#include "ca/signing_request.h"
#include "ca/token.h"
#include "ca/token_key_source.h"
#include "istio/security/v1alpha1/ca.pb.h"

namespace fairlead::ca {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;
constexpr char kWeb[] = "spiffe://cluster.local/ns/shop/sa/web";

std::vector<std::string> Domains() { return {"cluster.local", "old.local"}; }

std::string Base64Url(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  while (out.ends_with('=')) out.pop_back();
  return ReplaceAll(ReplaceAll(out, "+", "-"), "/", "_");
}

std::string SignWith(const KeyPtr& key, std::string_view text) {
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
  size_t size = 1024;
  std::string out(size, '\0');
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                 reinterpret_cast<const unsigned char*>(text.data()), text.size());
  out.resize(size);
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC) return out;
  const auto* der = reinterpret_cast<const unsigned char*>(out.data());
  const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size)));
  std::string raw(64, '\0');
  BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), reinterpret_cast<unsigned char*>(raw.data()), 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
  return raw;
}

std::string PublicPem(const KeyPtr& key) {
  const OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(out.get(), key.get());
  return Written(out.get());
}

json Claims() {
  return {{"iss", "https://issuer"},
          {"aud", {"istio-ca"}},
          {"sub", "system:serviceaccount:shop:web"},
          {"exp", kNow + 60}};
}

class TokenTest : public testing::Test {
 protected:
  std::string Token(const json& claims, json header = {{"alg", "ES256"}, {"kid", "k"}}) const {
    const std::string text = StrCat(Base64Url(header.dump()), ".", Base64Url(claims.dump()));
    return StrCat(text, ".", Base64Url(SignWith(header["alg"] == "RS256" ? rsa_ : key_, text)));
  }
  absl::StatusOr<std::optional<Caller>> Ask(const std::string& token) const {
    Credentials credentials;
    credentials.authorization = StrCat("Bearer ", token);
    return authenticator_->Authenticate(credentials);
  }
  // Why it is refused; "" where it is not.
  std::string Refusal(const std::string& token) const { return std::string(Ask(token).status().message()); }
  std::string Refusal(const char* claim, const json& value) const {
    json claims = Claims();
    claims[claim] = value;
    return Refusal(Token(claims));
  }

  const KeyPtr key_ = *MakeKey(KeyType::kEcdsaP256), other_ = *MakeKey(KeyType::kEcdsaP256),
               rsa_ = *MakeKey(KeyType::kRsa);
  const TokenKeysPtr keys_ =
      std::make_shared<const TokenKeys>(TokenKeys{{"k", "ES256", key_}, {"r", "", rsa_}});
  const std::unique_ptr<Authenticator> authenticator_ = NewTokenAuthenticator(
      {"https://issuer", {"istio-ca"}, [this](bool) { return keys_; }, [] { return kNow; }}, Domains);
};

TEST_F(TokenTest, ATokenOfTheIssuerIsItsServiceAccount) {
  const auto caller = Ask(Token(Claims()));
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_THAT((*caller)->identities, ElementsAre(kWeb));
  EXPECT_EQ(Refusal(Token(Claims(), {{"alg", "RS256"}})), "");
  json one = Claims();
  one["aud"] = "istio-ca";
  EXPECT_EQ(Refusal(Token(one)), "");
}

TEST_F(TokenTest, WhatItSaysOfItsPodCountsIfItIsTheSubjects) {
  json claims = Claims();
  claims["kubernetes.io"] = {{"namespace", "shop"},
                             {"serviceaccount", {{"name", "web"}}},
                             {"pod", {{"name", "web-1"}}},
                             {"node", {{"name", "n"}}}};
  EXPECT_EQ((*Ask(Token(claims)))->pod, "web-1");
  EXPECT_EQ((*Ask(Token(claims)))->node, "n");
  claims["kubernetes.io"]["namespace"] = "other";
  EXPECT_EQ((*Ask(Token(claims)))->pod, "");
}

TEST_F(TokenTest, WhereThereIsNoTokenNothingIsSaid) {
  Credentials credentials;
  EXPECT_FALSE((*authenticator_->Authenticate(credentials)).has_value());
  credentials.authorization = "Basic abc";
  EXPECT_FALSE((*authenticator_->Authenticate(credentials)).has_value());
}

TEST_F(TokenTest, AnotherIssuerAudienceSubjectOrTimeIsRefused) {
  EXPECT_THAT(Refusal("iss", "https://issuer/"), HasSubstr("another issuer"));
  EXPECT_THAT(Refusal("aud", json::array({"other"})), HasSubstr("another audience"));
  EXPECT_THAT(Refusal("aud", nullptr), HasSubstr("another audience"));
  EXPECT_THAT(Refusal("exp", kNow), HasSubstr("expired")) << "a token that is replayed later";
  EXPECT_THAT(Refusal("exp", "never"), HasSubstr("when it expires"));
  EXPECT_THAT(Refusal("exp", 1e300), HasSubstr("when it expires"));
  EXPECT_THAT(Refusal("nbf", kNow + 120), HasSubstr("not valid yet"));
  for (const char* subject : {"web", "system:serviceaccount:shop", "system:serviceaccount:shop:web:x",
                              "system:serviceaccount:a/sa/b:web", "system:serviceaccountx:shop:web",
                              "system:serviceaccount::web"}) {
    EXPECT_THAT(Refusal("sub", subject), HasSubstr("service account")) << subject;
  }
}

TEST_F(TokenTest, UnsignedTokensAreRefused) {
  const std::string text = StrCat(Base64Url(R"({"alg":"none"})"), ".", Base64Url(Claims().dump()));
  EXPECT_THAT(Refusal(text + "."), HasSubstr("no acceptable algorithm"));
  EXPECT_THAT(Refusal(text), HasSubstr("no signed token"));
  for (const char* name : {"None", "NONE", "nOnE", "", "HS256"}) {
    EXPECT_THAT(Refusal(Token(Claims(), {{"alg", name}})), HasSubstr("no acceptable algorithm")) << name;
  }
}

TEST_F(TokenTest, APublicKeyIsNoSharedSecret) {
  const std::string text = StrCat(Base64Url(R"({"alg":"HS256","kid":"r"})"), ".", Base64Url(Claims().dump()));
  const std::string pem = PublicPem(rsa_);
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), pem.data(), static_cast<int>(pem.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  const std::string token = StrCat(text, ".", Base64Url({reinterpret_cast<const char*>(mac), size}));
  EXPECT_THAT(Refusal(token), HasSubstr("no acceptable algorithm"));
}

TEST_F(TokenTest, AKeyIsForItsOwnAlgorithmAlone) {
  EXPECT_THAT(Refusal(Token(Claims(), {{"alg", "RS256"}, {"kid", "k"}})), HasSubstr("not signed by a key"));
  EXPECT_THAT(Refusal(Token(Claims(), {{"alg", "ES384"}, {"kid", "k"}})), HasSubstr("not signed by a key"));
  EXPECT_THAT(Refusal(Token(Claims(), {{"alg", "PS256"}, {"kid", "r"}})), HasSubstr("not signed by a key"));
}

TEST_F(TokenTest, AnotherKeyOrContentIsRefused) {
  const std::string good = Token(Claims());
  const size_t dot = good.find('.'), last = good.rfind('.');
  json claims = Claims();
  claims["sub"] = "system:serviceaccount:istio-system:istiod";
  EXPECT_THAT(Refusal(StrCat(good.substr(0, dot), ".", Base64Url(claims.dump()), good.substr(last))),
              HasSubstr("not signed by a key"));
  const std::string text = good.substr(0, last);
  EXPECT_THAT(Refusal(StrCat(text, ".", Base64Url(SignWith(other_, text)))),
              HasSubstr("not signed by a key"));
  EXPECT_THAT(Refusal(StrCat(text, ".", Base64Url(std::string(64, '\0')))), HasSubstr("not signed by a key"));
  EXPECT_THAT(Refusal(StrCat(text, ".")), HasSubstr("not signed by a key"));
  EXPECT_THAT(Refusal(Token(Claims(), {{"alg", "ES256"}, {"crit", {"x"}}})), HasSubstr("unknown extension"));
  EXPECT_THAT(Refusal(std::string(20'000, 'a')), HasSubstr("too long"));
}

TEST(TokenKeysTest, SetsAndPemAreRead) {
  const KeyPtr rsa = *MakeKey(KeyType::kRsa);
  EXPECT_EQ(ReadTokenKeys(PublicPem(rsa))->size(), 1u);
  // RFC 7517, A.1, and keys that are none.
  const auto keys = ReadTokenKeys(R"({"keys":[
    {"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
     "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"},
    {"kty":"EC","crv":"P-256","x":"MKBC","y":"4Etl"},
    {"kty":"EC","crv":"P-256","use":"enc","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
     "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"},
    {"kty":"RSA","n":"AQAB","e":"AQAB"}, {"kty":"oct","k":"AAAA"}, 7]})");
  ASSERT_TRUE(keys.ok()) << keys.status();
  ASSERT_EQ(keys->size(), 1u);
  EXPECT_EQ(keys->front().id, "1");
  EXPECT_FALSE(ReadTokenKeys("{}").ok());
  EXPECT_FALSE(ReadTokenKeys("hello").ok());
}

TEST(TokenKeySourceTest, AnIssuersKeysAreFoundByDiscoveryAndTheLastGoodOnesKept) {
  const std::string pem = PublicPem(*MakeKey(KeyType::kRsa));
  std::map<std::string, std::string> web = {{"https://issuer/.well-known/openid-configuration",
                                             R"({"issuer":"https://issuer","jwks_uri":"https://keys"})"},
                                            {"https://keys", pem}};
  TokenKeySourceOptions options;
  options.issuer = "https://issuer";
  options.fetch = [&](const std::string& url) -> absl::StatusOr<std::string> {
    if (!web.contains(url)) return absl::NotFoundError(url);
    return web[url];
  };
  TokenKeySource source(options);
  EXPECT_EQ(source.Keys(false), nullptr);
  ASSERT_TRUE(source.Refresh().ok());
  const TokenKeysPtr keys = source.Keys(false);
  EXPECT_EQ(keys->size(), 1u);
  web["https://keys"] = "broken";
  EXPECT_FALSE(source.Refresh().ok());
  EXPECT_EQ(source.Keys(false), keys);
  web["https://issuer/.well-known/openid-configuration"] =
      R"({"issuer":"https://evil","jwks_uri":"https://keys"})";
  EXPECT_THAT(source.Refresh().message(), HasSubstr("another issuer"));
}

TEST(FetchDocumentTest, PlaintextIsForThisMachineAlone) {
  EXPECT_THAT(FetchDocument("http://issuer/keys").status().message(), HasSubstr("only https"));
  EXPECT_THAT(FetchDocument("file:///etc/passwd").status().message(), HasSubstr("only https"));
}

TEST(ForwardedCertificateTest, ElementsAreReadAsEnvoyWritesThem) {
  const auto all = ReadForwardedCertificates(
      R"(By=spiffe://a;Hash=1;URI=spiffe://td/ns/a/sa/x,Hash=2;Subject="O=\"x\",CN=y; z";URI=)" +
      std::string(kWeb) + ";DNS=a.b;DNS=c");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->back().subject, "O=\"x\",CN=y; z");
  EXPECT_THAT(all->back().uris, ElementsAre(kWeb));
  EXPECT_THAT(all->back().dns_names, ElementsAre("a.b", "c"));
  for (const char* bad : {"", "URI", "=x", "URI=\"x", "URI=\"x\"y", "URI=a\"b", "a,b=c"}) {
    EXPECT_FALSE(ReadForwardedCertificates(bad).ok()) << bad;
  }
  EXPECT_FALSE(ReadForwardedCertificates(std::string(70'000, 'a')).ok());
}

TEST(ForwardedAuthenticatorTest, OnlyATrustedGatewaysLastElementCounts) {
  const auto made = NewForwardedAuthenticator({"10.0.0.0/8"}, Domains);
  ASSERT_TRUE(made.ok());
  Credentials credentials;
  credentials.forwarded_certificate = StrCat("URI=spiffe://cluster.local/ns/evil/sa/x,URI=", kWeb);
  for (const char* address : {"ipv4:10.1.2.3:99", "ipv6:%5B::ffff:10.1.2.3%5D:99", "ipv4:127.0.0.1:1"}) {
    credentials.address = address;
    const auto caller = (*made)->Authenticate(credentials);
    ASSERT_TRUE(caller.ok()) << caller.status();
    EXPECT_THAT((*caller)->identities, ElementsAre(kWeb));
  }
  for (const char* address : {"ipv4:11.1.2.3:99", "unix:/x", "", "ipv6:%5B2001::1%5D:1"}) {
    credentials.address = address;
    EXPECT_FALSE((*made)->Authenticate(credentials).ok()) << address;
  }
  credentials.address = "ipv4:10.1.2.3:99";
  credentials.forwarded_certificate = "URI=spiffe://evil/ns/shop/sa/web";
  EXPECT_FALSE((*made)->Authenticate(credentials).ok());
  EXPECT_FALSE(NewForwardedAuthenticator({"ten"}, Domains).ok());
}

TEST(CertificateAuthenticatorTest, IdentitiesAreOfThisMeshsTrustDomains) {
  const auto authenticator = NewCertificateAuthenticator(Domains);
  Credentials credentials;
  credentials.certificate_uris = {kWeb};
  EXPECT_FALSE((*authenticator->Authenticate(credentials)).has_value()) << "not verified";
  credentials.verified_certificate = true;
  credentials.certificate_uris = {kWeb, "spiffe://old.local/ns/a/sa/b", "spiffe://evil/ns/a/sa/b",
                                  "https://x", "spiffe://cluster.local/ns/a/sa/b/c"};
  EXPECT_THAT((*authenticator->Authenticate(credentials))->identities,
              ElementsAre(kWeb, "spiffe://old.local/ns/a/sa/b"));
  credentials.certificate_uris = {"spiffe://evil/ns/a/sa/b"};
  EXPECT_FALSE(authenticator->Authenticate(credentials).ok());
}

class FakePods : public Pods {
 public:
  std::optional<Pod> Find(const std::string& cluster, const std::string& ns,
                          const std::string& name) const override {
    if (cluster == cluster_ && ns == "kube-system" && name == "ztunnel-1") return Pod{"u", "n1", "ztunnel"};
    return std::nullopt;
  }
  bool Runs(const std::string& cluster, const std::string& ns, const std::string& account,
            const std::string& node) const override {
    return cluster == cluster_ && ns == "shop" && account == "web" && node == "n1";
  }
  std::string cluster_;
};

// Knows everybody by a word.
class FakeAuthenticator : public Authenticator {
 public:
  std::string_view name() const override { return "word"; }
  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const override {
    if (credentials.authorization == "web") return Caller{{kWeb}, "shop", "web", "web-1", "", "", ""};
    if (!credentials.authorization.starts_with("agent")) return std::nullopt;
    Caller agent;
    agent.identities = {"spiffe://cluster.local/ns/kube-system/sa/ztunnel"};
    agent.ns = "kube-system";
    agent.service_account = "ztunnel";
    agent.pod = "ztunnel-1";
    agent.pod_uid = credentials.authorization == "agent of an earlier pod" ? "earlier" : "u";
    agent.cluster = credentials.cluster;
    return agent;
  }
};

class CertificateServiceTest : public testing::Test {
 protected:
  CertificateServiceTest() {
    auto bundle = std::make_shared<Bundle>();
    bundle->key = *MakeKey(KeyType::kEcdsaP256);
    bundle->certificate = *MakeRoot(bundle->key, "cluster.local", UnixNow() - 60, UnixNow() + 86400);
    bundle->roots = {bundle->certificate};
    authority_.Replace(bundle);
    authenticators_.Add(std::make_unique<FakeAuthenticator>());
  }
  static std::string Request(const std::string& impersonated) {
    istio::v1::auth::IstioCertificateRequest request;
    request.set_csr(*MakeSigningRequest(*MakeKey(KeyType::kEcdsaP256),
                                        "spiffe://cluster.local/ns/istio-system/sa/istiod"));
    if (!impersonated.empty())
      (*request.mutable_metadata()->mutable_fields())["ImpersonatedIdentity"].set_string_value(impersonated);
    return request.SerializeAsString();
  }
  absl::StatusOr<std::string> Ask(const std::string& who, const std::string& impersonated = "") {
    Credentials credentials;
    credentials.authorization = who;
    credentials.cluster = cluster_;
    return service_.CreateCertificate(Request(impersonated), credentials);
  }
  static std::vector<std::string> NamesIn(const absl::StatusOr<std::string>& answer) {
    istio::v1::auth::IstioCertificateResponse response;
    if (!answer.ok() || !response.ParseFromString(*answer) || response.cert_chain_size() != 2) return {};
    return UriNames(ReadCertificates(response.cert_chain(0))->front());
  }
  Authority authority_{{}};
  Authenticators authenticators_;
  FakePods pods_;
  std::string cluster_;
  CertificateService service_{&authority_, &authenticators_, NodeAgents({"kube-system/ztunnel"}, &pods_)};
};

TEST_F(CertificateServiceTest, ARequestForAnotherIdentityGetsTheCallersOwn) {
  EXPECT_THAT(NamesIn(Ask("web")), ElementsAre(kWeb));
}

TEST_F(CertificateServiceTest, WhoProvesNothingGetsNothingAndNoReason) {
  const auto answer = Ask("nobody");
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(answer.status().message(), "request authenticate failure");
}

TEST_F(CertificateServiceTest, ANodeAgentMayAskForTheWorkloadsOfItsNodeAlone) {
  EXPECT_THAT(NamesIn(Ask("agent", kWeb)), ElementsAre(kWeb));
  for (const char* wanted :
       {"spiffe://cluster.local/ns/shop/sa/other", "spiffe://evil/ns/shop/sa/web", "web"}) {
    EXPECT_EQ(Ask("agent", wanted).status().code(), absl::StatusCode::kUnauthenticated) << wanted;
  }
  EXPECT_EQ(Ask("web", "spiffe://cluster.local/ns/kube-system/sa/ztunnel").status().code(),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(CertificateServiceTest, ANodeAgentsPodAndClusterCount) {
  EXPECT_THAT(NamesIn(Ask("agent", kWeb)), ElementsAre(kWeb));
  EXPECT_FALSE(Ask("agent of an earlier pod", kWeb).ok());
  cluster_ = "east";
  EXPECT_FALSE(Ask("agent", kWeb).ok()) << "the pods are of another cluster";
  pods_.cluster_ = "east";
  EXPECT_THAT(NamesIn(Ask("agent", kWeb)), ElementsAre(kWeb));
}

TEST_F(CertificateServiceTest, ARateIsOfAnIdentityAtAnAddress) {
  const CertificateService slow{&authority_, &authenticators_, NodeAgents({"kube-system/ztunnel"}, &pods_),
                                IssueRate::Limits{.per_second = 0.001, .burst = 2}};
  const auto ask = [&](const char* who, const char* address, const char* impersonated = "") {
    Credentials credentials;
    credentials.address = address;
    credentials.authorization = who;
    return slow.CreateCertificate(Request(impersonated), credentials).status().code();
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask("web", "ipv4:10.0.0.1:1000"), absl::StatusCode::kOk);
  EXPECT_EQ(ask("web", "ipv4:10.0.0.1:1001"), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ask("web", "ipv4:10.0.0.2:1000"), absl::StatusCode::kOk) << "another replica";
  EXPECT_EQ(ask("agent", "ipv4:10.0.0.1:1002", kWeb), absl::StatusCode::kResourceExhausted)
      << "the identity is what counts";
  EXPECT_EQ(ask("agent", "ipv4:10.0.0.1:1002"), absl::StatusCode::kOk);
  EXPECT_EQ(ask("nobody", "ipv4:10.0.0.1:1000"), absl::StatusCode::kUnauthenticated);
}

TEST_F(CertificateServiceTest, WhatCannotBeReadIsTheCallersMistake) {
  Credentials credentials;
  credentials.authorization = "web";
  EXPECT_EQ(service_.CreateCertificate("\xff\xff", credentials).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(service_.CreateCertificate("", credentials).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead::ca
