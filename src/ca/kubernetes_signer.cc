#include "ca/kubernetes_signer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "ca/given_certificate.h"
#include "ca/secret_file.h"

namespace fairlead::ca {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;

LogScope ra_log("pkira");

constexpr char kCollection[] = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr std::chrono::seconds kLimit{3};
constexpr int kTries = 2;
constexpr std::chrono::seconds kShortest{600};  // that the API server accepts

Signed Failed(Signed::Error error, const absl::Status& why) {
  return {error, std::string(FromAbsl(why.message())), {}, {}};
}

// Of a domain's signer: nothing that would lead elsewhere.
bool IsSignerName(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

absl::Status Cannot(std::string_view what, const ApiAnswer& answer) {
  return absl::Status(answer.status.code(), StrCat("the signing request cannot be ", what, ": ",
                                                   FromAbsl(answer.status.message())));
}

// A refusal, or a failure of the signer. Source: kubernetes.io/docs/reference/access-authn-authz/
// certificate-signing-requests
absl::Status TroubleIn(const Json& status, const std::string& name) {
  const auto conditions = status.find("conditions");
  if (conditions == status.end() || !conditions->is_array()) return absl::OkStatus();
  for (const Json& one : *conditions) {
    if (!one.is_object()) continue;
    const std::string type = JsonString(one, "type");
    if (type != "Denied" && type != "Failed") continue;
    return absl::InternalError(StrCat("the signing request ", name,
                                      type == "Denied" ? " is denied" : " failed", ": ",
                                      Excerpt(JsonString(one, "message"))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status KubernetesSigner::Check() const {
  if (options_.signer.empty() && options_.domain.empty())
    return absl::InvalidArgumentError(
        "EXTERNAL_CA=ISTIOD_RA_KUBERNETES_API needs K8S_SIGNER or CERT_SIGNER_DOMAIN: who signs");
  if (options_.roots_file.empty()) return absl::OkStatus();
  const auto text = ReadSecretFile(options_.roots_file);
  if (!text.ok()) return text.status();
  const auto roots = ReadCertificates(*text);
  if (roots.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(options_.roots_file, ": ", FromAbsl(roots.status().message())));
}

absl::StatusOr<std::string> KubernetesSigner::SignerOf(const SignRequest& request) const {
  if (request.signer.empty()) {
    if (options_.signer.empty())
      return absl::InvalidArgumentError("the request names no signer, and there is no default (K8S_SIGNER)");
    return options_.signer;
  }
  if (options_.domain.empty())
    return absl::InvalidArgumentError(
        StrCat("the signer ", Excerpt(request.signer), " needs a domain (CERT_SIGNER_DOMAIN)"));
  if (!IsSignerName(request.signer))
    return absl::InvalidArgumentError(StrCat("'", Excerpt(request.signer), "' is no name of a signer"));
  return StrCat(options_.domain, "/", request.signer);
}

absl::StatusOr<Certificates> KubernetesSigner::RootsOf(const std::string& signer,
                                                       const Certificates& given) const {
  std::string where = StrCat("caCertificates of the MeshConfig for ", signer);
  std::string text = options_.roots_of == nullptr ? "" : options_.roots_of(signer);
  if (!options_.roots_file.empty()) {
    where = options_.roots_file;
    auto read = ReadSecretFile(where);
    if (!read.ok()) return read.status();
    text = *std::move(read);
  }
  if (text.empty()) {
    const CertificatePtr& last = given.back();
    if (given.size() > 1 && IsAuthority(last) && VerifyChain(last, {}, {last}, "", options_.now()).ok())
      return Certificates{last};
    return absl::InternalError(StrCat("the roots of the signer ", signer,
                                      " are not known: its chain has none, and the MeshConfig has no "
                                      "caCertificates with it among their certSigners"));
  }
  auto roots = ReadCertificates(text);
  if (!roots.ok()) return absl::InternalError(StrCat(where, ": ", FromAbsl(roots.status().message())));
  return roots;
}

absl::Status KubernetesSigner::Approve(Json object, const std::string& path,
                                       const SignRequest& request) const {
  const std::string text =
      StrCat("Fairlead has proven that the requester is ", Join(request.identities, ", "));
  if (!object["status"].is_object()) object["status"] = Json::object();
  Json& conditions = object["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  conditions.push_back(
      {{"type", "Approved"}, {"status", "True"}, {"reason", "FairleadApproved"}, {"message", text}});
  ApiRequest approval{.verb = ApiRequest::Verb::kUpdate, .path = StrCat(path, "/approval")};
  approval.body = JsonText(object);
  approval.limit = kLimit;
  approval.tries = kTries;
  const ApiAnswer answer = options_.ask(std::move(approval));
  return answer.status.ok() ? absl::OkStatus() : Cannot("approved", answer);
}

absl::StatusOr<std::string> KubernetesSigner::Wait(const std::string& path, const std::string& name,
                                                   const std::string& signer) const {
  const auto end = Clock::now() + options_.patience;
  auto pause = options_.first_pause;
  for (;;) {
    ApiRequest look{.path = path};
    look.limit = kLimit;
    look.tries = 1;
    const ApiAnswer answer = options_.ask(std::move(look));
    if (!answer.status.ok() && !absl::IsUnavailable(answer.status) &&
        !absl::IsDeadlineExceeded(answer.status))
      return Cannot("read", answer);
    const auto object = answer.status.ok() ? ParseJson(answer.body) : std::nullopt;
    const auto status = object && object->is_object() ? object->find("status") : Json::const_iterator();
    if (object && object->is_object() && status != object->end() && status->is_object()) {
      if (absl::Status trouble = TroubleIn(*status, name); !trouble.ok()) return trouble;
      if (const std::string encoded = JsonString(*status, "certificate"); !encoded.empty()) {
        auto pem = DecodeBase64(encoded);
        if (!pem) return absl::InternalError(StrCat("the certificate of ", name, " cannot be read"));
        return *std::move(pem);
      }
    }
    if (Clock::now() + pause >= end)
      return absl::UnavailableError(StrCat("the signer ", signer, " has not signed the request ", name,
                                           " within ", options_.patience.count(), "ms"));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, options_.most_pause);
  }
}

// The certificate, PEM, with what the signer put behind it.
absl::StatusOr<std::string> KubernetesSigner::Obtain(const SignRequest& request,
                                                     const std::string& signer) const {
  const auto lifetime = request.lifetime.count() > 0 ? request.lifetime : options_.default_lifetime;
  const Json spec = {
      {"request", absl::Base64Escape(request.csr)},
      {"signerName", signer},
      {"expirationSeconds", std::max(lifetime, kShortest).count()},
      {"usages", {"digital signature", "key encipherment", "server auth", "client auth"}},
  };
  ApiRequest creation{.verb = ApiRequest::Verb::kCreate, .path = kCollection};
  creation.body = JsonText(Json{{"apiVersion", "certificates.k8s.io/v1"},
                                {"kind", "CertificateSigningRequest"},
                                {"metadata", {{"generateName", "csr-workload-"}}},
                                {"spec", spec}});
  creation.limit = kLimit;
  creation.tries = kTries;
  const ApiAnswer made = options_.ask(std::move(creation));
  if (!made.status.ok()) return Cannot("made", made);
  auto object = ParseJson(made.body);
  const std::string name =
      object && object->is_object() ? JsonString(object->value("metadata", Json::object()), "name") : "";
  if (name.empty()) return absl::InternalError("the API server's answer is no CertificateSigningRequest");
  const std::string path = kube::ObjectPath(kCollection, name);
  const absl::Status approved = Approve(*std::move(object), path, request);
  auto pem = approved.ok() ? Wait(path, name, signer) : absl::StatusOr<std::string>(approved);
  ApiRequest removal{.verb = ApiRequest::Verb::kDelete, .path = path};
  removal.limit = kLimit;
  const ApiAnswer removed = options_.ask(std::move(removal));
  if (!removed.status.ok() && !absl::IsNotFound(removed.status))
    ra_log.Warn("the signing request {} stays: {}", name, FromAbsl(removed.status.message()));
  return pem;
}

Signed KubernetesSigner::Sign(const SignRequest& request) {
  const auto csr = ReadSigningRequest(request.csr);
  if (!csr.ok()) return Failed(Signed::Error::kCsr, csr.status());
  std::vector<std::string> asked = csr->uris, proven = request.identities;
  std::sort(asked.begin(), asked.end());
  std::sort(proven.begin(), proven.end());
  if (csr->more_than_uris || asked != proven)
    return Failed(Signed::Error::kCsr,
                  absl::InvalidArgumentError(StrCat("the request must be for ", Join(proven, ", "),
                                                    " and nothing else, as the cluster signs what it says")));
  if (request.lifetime > options_.max_lifetime)
    return Failed(Signed::Error::kLifetime,
                  absl::InvalidArgumentError(StrCat("a lifetime of ", request.lifetime.count(),
                                                    "s is asked for, and at most ",
                                                    options_.max_lifetime.count(), "s are given")));
  const auto signer = SignerOf(request);
  if (!signer.ok()) return Failed(Signed::Error::kCsr, signer.status());
  const auto pem = Obtain(request, *signer);
  if (!pem.ok())
    return Failed(absl::IsUnavailable(pem.status()) || absl::IsDeadlineExceeded(pem.status())
                      ? Signed::Error::kUnavailable
                      : Signed::Error::kFailed,
                  pem.status());
  const auto given = ReadCertificates(*pem);
  if (!given.ok())
    return Failed(Signed::Error::kFailed, absl::InternalError("the signer's certificate cannot be read"));
  const auto roots = RootsOf(*signer, *given);
  if (!roots.ok()) return Failed(Signed::Error::kFailed, roots.status());
  const absl::Status good = CheckGiven(*given, {.key = csr->public_key,
                                                .identities = request.identities,
                                                .between = {},
                                                .roots = *roots,
                                                .max_lifetime = options_.max_lifetime,
                                                .now = options_.now()});
  if (!good.ok()) return Failed(Signed::Error::kFailed, good);
  Signed out;
  for (const CertificatePtr& one : *given) out.chain.push_back(CertificatePem(one));
  out.roots = CertificatePems(*roots);
  return out;
}

}  // namespace fairlead::ca
