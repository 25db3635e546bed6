#include "ca/root_secret.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::ca {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;

LogScope secret_log("pkica");

constexpr char kCertificate[] = "ca-cert.pem", kKey[] = "ca-key.pem", kRoots[] = "root-cert.pem";
constexpr char kChain[] = "cert-chain.pem", kRevoked[] = "ca-crl.pem";
// Marks a `cacerts` that a control plane made. Source: Istio's IstioGenerated.
constexpr char kGenerated[] = "istio-generated";
constexpr char kType[] = "istio.io/ca-root";
constexpr int kMostRaces = 5;

const Json& DataOf(const Json& secret) {
  static const Json none = Json::object();
  const auto data = secret.find("data");
  return data != secret.end() && data->is_object() ? *data : none;
}

// "" where there is none, or it is no text.
std::string Text(const Json& data, const char* key) {
  return DecodeBase64(JsonString(data, key)).value_or("");
}

// The certificate, and what else the Secret trusts.
absl::StatusOr<Certificates> RootsOf(const std::string& certificate, const std::string& more) {
  absl::StatusOr<Certificates> roots = ReadCertificates(certificate);
  if (!roots.ok()) return roots.status();
  const absl::StatusOr<Certificates> others = ReadCertificates(more);
  if (!others.ok()) return roots;
  for (const CertificatePtr& other : *others) {
    const bool known = std::any_of(roots->begin(), roots->end(), [&other](const CertificatePtr& one) {
      return SameCertificate(one, other);
    });
    if (!known) roots->push_back(other);
  }
  return roots;
}

// Of `cacerts` as an operator fills it: either as Istio names the files, or as a Secret of type
// kubernetes.io/tls.
absl::StatusOr<BundlePtr> PluggedIn(const Json& data, bool revocations, int64_t now) {
  BundleTexts texts;
  if (data.contains("tls.crt")) {
    texts = {Text(data, "tls.crt"), Text(data, "tls.key"), Text(data, "tls.crt"), Text(data, "ca.crt"),
             Text(data, "ca.crl")};
  } else {
    texts = {Text(data, kCertificate), Text(data, kKey), Text(data, kChain), Text(data, kRoots),
             Text(data, kRevoked)};
  }
  if (!revocations) texts.crl.clear();
  return ReadBundle(texts, now);
}

absl::StatusOr<BundlePtr> Own(const Json& data, int64_t now) {
  const std::string certificate = Text(data, kCertificate);
  const absl::StatusOr<Certificates> roots = RootsOf(certificate, Text(data, kRoots));
  if (!roots.ok()) return roots.status();
  BundleTexts texts;
  texts.certificate = certificate;
  texts.key = Text(data, kKey);
  texts.roots = CertificatePems(*roots);
  const absl::StatusOr<BundlePtr> read = ReadBundle(texts, now);
  if (!read.ok()) return read;
  auto bundle = std::make_shared<Bundle>(**read);
  bundle->self_signed = true;
  return bundle;
}

Json StringDataOf(const Bundle& bundle) {
  return {{kCertificate, CertificatePem(bundle.certificate)},
          {kKey, PrivateKeyPem(bundle.key)},
          {kRoots, CertificatePems(bundle.roots)}};
}

}  // namespace

std::string RootSecret::Place() const { return StrCat("Secret ", options_.ns, "/", name_); }

std::string RootSecret::Path(const std::string& name) const {
  return kube::ObjectPath(StrCat("/api/v1/namespaces/", options_.ns, "/secrets"), name);
}

absl::StatusOr<RootSecret::Read> RootSecret::ReadSecret(const std::string& name, int64_t now) const {
  const ApiAnswer answer = options_.ask({.path = Path(name)});
  if (absl::IsNotFound(answer.status)) return Read{};
  const std::string place = StrCat("Secret ", options_.ns, "/", name, ": ");
  if (!answer.status.ok())
    return absl::Status(answer.status.code(), ToAbsl(StrCat(place, FromAbsl(answer.status.message()))));
  const std::optional<Json> secret = ParseJson(answer.body);
  if (!secret || !secret->is_object())
    return absl::FailedPreconditionError(StrCat(place, "the API server's answer is no Secret"));
  const Json& data = DataOf(*secret);
  const bool operators = name == kPluggedInSecret && !data.contains(kGenerated);
  absl::StatusOr<BundlePtr> bundle = operators ? PluggedIn(data, options_.revocations, now) : Own(data, now);
  if (!bundle.ok()) return absl::FailedPreconditionError(StrCat(place, FromAbsl(bundle.status().message())));
  return Read{*std::move(bundle), JsonString(secret->value("metadata", Json::object()), "resourceVersion")};
}

absl::Status RootSecret::Create(const Bundle& bundle) const {
  Json secret = {{"apiVersion", "v1"},
                 {"kind", "Secret"},
                 {"metadata", {{"name", name_}, {"namespace", options_.ns}}},
                 {"type", kType},
                 {"stringData", StringDataOf(bundle)}};
  for (const char* empty : {kChain, "key.pem"}) secret["stringData"][empty] = "";
  if (name_ == kPluggedInSecret) secret["stringData"][kGenerated] = "";
  ApiRequest request;
  request.verb = ApiRequest::Verb::kCreate;
  request.path = StrCat("/api/v1/namespaces/", options_.ns, "/secrets");
  request.body = JsonText(secret);
  return options_.ask(std::move(request)).status;
}

// Of several replicas that start at once one makes it: a name is given once.
absl::StatusOr<BundlePtr> RootSecret::Load(int64_t now) {
  absl::Status last;
  for (int race = 0; race < kMostRaces; ++race) {
    const absl::StatusOr<Read> cacerts = ReadSecret(kPluggedInSecret, now);
    if (!cacerts.ok()) return cacerts.status();
    name_ = kPluggedInSecret;
    if (cacerts->bundle != nullptr && !cacerts->bundle->self_signed) return cacerts->bundle;
    const absl::StatusOr<Read> own = ReadSecret(kOwnSecret, now);
    if (!own.ok()) return own.status();
    if (options_.use_cacerts && own->bundle == nullptr && cacerts->bundle != nullptr) return cacerts->bundle;
    name_ = options_.use_cacerts && own->bundle == nullptr ? kPluggedInSecret : kOwnSecret;
    if (own->bundle != nullptr) return own->bundle;
    absl::StatusOr<BundlePtr> made = MakeSelfSigned(options_.self_signed, now);
    if (!made.ok()) return made.status();
    last = Create(**made);
    if (last.ok()) {
      secret_log.Info("{}: made with a new root", Place());
      return made;
    }
    if (!absl::IsAlreadyExists(last)) break;
  }
  return absl::Status(last.code(), ToAbsl(StrCat(Place(), " cannot be made: ", FromAbsl(last.message()))));
}

absl::StatusOr<BundlePtr> RootSecret::Reload(const Bundle& known, int64_t now) {
  absl::StatusOr<Read> read = ReadSecret(name_, now);
  if (!read.ok()) return read.status();
  if (read->bundle != nullptr) return read->bundle;
  if (!known.self_signed) return absl::NotFoundError(StrCat(Place(), " is gone"));
  const absl::Status made = Create(known);
  if (absl::IsAlreadyExists(made)) {
    read = ReadSecret(name_, now);
    if (!read.ok()) return read.status();
    if (read->bundle != nullptr) return read->bundle;
  } else if (!made.ok()) {
    return absl::Status(made.code(),
                        ToAbsl(StrCat(Place(), " cannot be made again: ", FromAbsl(made.message()))));
  }
  secret_log.Warn("{} was gone and is made again with the same root", Place());
  return std::make_shared<const Bundle>(known);
}

absl::StatusOr<BundlePtr> RootSecret::Renew(const Bundle& known, int64_t now) {
  absl::StatusOr<Read> read = ReadSecret(name_, now);
  if (!read.ok()) return read.status();
  if (read->bundle == nullptr) return absl::NotFoundError(StrCat(Place(), " is gone"));
  if (!SameCertificate(read->bundle->certificate, known.certificate)) return read->bundle;
  absl::StatusOr<BundlePtr> next = RenewedRoot(options_.self_signed, known, now);
  if (!next.ok()) return next;
  const Json patch = {
      {"metadata", {{"resourceVersion", read->version}}},
      {"stringData",
       {{kCertificate, CertificatePem((*next)->certificate)}, {kRoots, CertificatePems((*next)->roots)}}}};
  ApiRequest request;
  request.verb = ApiRequest::Verb::kMergePatch;
  request.path = Path(name_);
  request.body = JsonText(patch);
  const ApiAnswer answer = options_.ask(std::move(request));
  if (answer.status.ok()) return next;
  if (!absl::IsAborted(answer.status)) return answer.status;
  read = ReadSecret(name_, now);  // another replica was faster
  if (!read.ok()) return read.status();
  return read->bundle == nullptr ? absl::StatusOr<BundlePtr>(absl::NotFoundError(StrCat(Place(), " is gone")))
                                 : read->bundle;
}

}  // namespace fairlead::ca
