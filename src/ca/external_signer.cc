#include "ca/external_signer.h"

#include <sys/stat.h>

#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "ca/given_certificate.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"
#include "fetch/web_request.h"

namespace fairlead::ca {
namespace {

using nlohmann::json;

constexpr size_t kMostAnswer = 256 << 10;
constexpr std::chrono::seconds kPatience{9};
constexpr int kOk = 200;

Signed Failed(Signed::Error error, std::string message) { return {error, std::move(message), {}, {}}; }

bool Exists(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0;
}

std::string BodyOf(const SignRequest& request, const std::string& profile) {
  json body = {{"certificate_request", request.csr}, {"hosts", request.identities}};
  if (!profile.empty()) body["profile"] = profile;
  if (request.lifetime.count() > 0) body["lifetime"] = request.lifetime.count();
  return JsonText(body);
}

// The certificates of an answer. What else it says is not repeated: it may quote what it was sent.
absl::StatusOr<Certificates> CertificatesOf(const std::string& answer) {
  const auto parsed = ParseJson(answer);
  if (!parsed || !parsed->is_object()) return absl::InternalError("the signer's answer is no JSON object");
  const auto result = parsed->find("result");
  if (parsed->value("success", json()) != json(true) || result == parsed->end() || !result->is_object())
    return absl::InternalError("the signer refuses the request");
  auto read = ReadCertificates(JsonString(*result, "certificate"));
  if (!read.ok()) return absl::InternalError("the signer's certificate cannot be read");
  return read;
}

}  // namespace

absl::Status ExternalSigner::Check() const {
  if (!options_.url.starts_with("https://") && !fetch::IsOfThisMachine(options_.url))
    return absl::InvalidArgumentError(StrCat(options_.url, ": a signer elsewhere is asked by https alone"));
  return ReadTrusted().status();
}

absl::StatusOr<ExternalSigner::Trusted> ExternalSigner::ReadTrusted() const {
  Trusted trusted;
  for (const auto& [file, out] :
       {std::pair(&options_.roots_file, &trusted.roots), std::pair(&options_.chain_file, &trusted.between)}) {
    if (out == &trusted.between && (file->empty() || !Exists(*file))) continue;
    const auto text = ReadSecretFile(*file);
    if (!text.ok()) return text.status();
    auto read = ReadCertificates(*text);
    if (!read.ok()) return absl::InvalidArgumentError(StrCat(*file, ": ", FromAbsl(read.status().message())));
    *out = *std::move(read);
  }
  return trusted;
}

absl::StatusOr<std::string> ExternalSigner::Ask(const std::string& body) const {
  fetch::WebRequest request{.url = options_.url,
                            .headers = {"Content-Type: application/json"},
                            .body = body,
                            .roots_file = options_.tls_roots,
                            .most_bytes = kMostAnswer,
                            .timeout = kPatience};
  if (!options_.token_file.empty()) {
    const auto token = ReadSecretFile(options_.token_file);
    if (token.ok()) request.headers.push_back(StrCat("Authorization: Bearer ", Trim(*token)));
  }
  auto answer = fetch::Ask(request);
  if (!answer.ok())
    return absl::Status(answer.status().code(),
                        StrCat("the signer cannot be asked: ", FromAbsl(answer.status().message())));
  if (answer->status != kOk)
    return absl::InternalError(StrCat("the signer answers with status ", answer->status));
  return std::move(answer->body);
}

Signed ExternalSigner::Sign(const SignRequest& request) {
  const auto csr = ReadSigningRequest(request.csr);
  if (!csr.ok()) return Failed(Signed::Error::kCsr, std::string(csr.status().message()));
  if (request.lifetime > options_.max_lifetime) {
    return Failed(Signed::Error::kLifetime,
                  StrCat("a lifetime of ", request.lifetime.count(), "s is asked for, and at most ",
                         options_.max_lifetime.count(), "s are given"));
  }
  const auto trusted = ReadTrusted();
  if (!trusted.ok()) return Failed(Signed::Error::kUnavailable, std::string(trusted.status().message()));
  const auto answer = Ask(BodyOf(request, options_.profile));
  if (!answer.ok()) {
    const bool away = !absl::IsInternal(answer.status());  // no answer, or one too long
    return Failed(away ? Signed::Error::kUnavailable : Signed::Error::kFailed,
                  std::string(answer.status().message()));
  }
  const auto given = CertificatesOf(*answer);
  if (!given.ok()) return Failed(Signed::Error::kFailed, std::string(given.status().message()));
  const absl::Status good = CheckGiven(*given, {.key = csr->public_key,
                                                .identities = request.identities,
                                                .between = trusted->between,
                                                .roots = trusted->roots,
                                                .max_lifetime = options_.max_lifetime,
                                                .now = options_.now()});
  if (!good.ok()) return Failed(Signed::Error::kFailed, std::string(good.message()));
  Signed out;
  for (const Certificates* part : {&*given, &trusted->between}) {
    for (const CertificatePtr& one : *part) out.chain.push_back(CertificatePem(one));
  }
  out.roots = CertificatePems(trusted->roots);
  return out;
}

}  // namespace fairlead::ca
