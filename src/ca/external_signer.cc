#include "ca/external_signer.h"

#include <curl/curl.h>
#include <sys/stat.h>

#include <memory>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"

namespace fairlead::ca {
namespace {

using nlohmann::json;

constexpr size_t kMostAnswer = 256 << 10;
constexpr long kConnectMilliseconds = 3000, kMilliseconds = 9000;
constexpr int64_t kClockSkew = 300;  // seconds that a signer's clock may be ahead
constexpr long kOk = 200;

Signed Failed(Signed::Error error, std::string message) { return {error, std::move(message), {}, {}}; }

bool IsOfThisMachine(std::string_view url) {
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://localhost:") ||
         url.starts_with("http://[::1]:");
}

size_t Take(char* data, size_t size, size_t count, void* out) {
  auto* text = static_cast<std::string*>(out);
  if (text->size() + size * count > kMostAnswer) return 0;  // ends the transfer
  text->append(data, size * count);
  return size * count;
}

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
  if (!options_.url.starts_with("https://") && !IsOfThisMachine(options_.url))
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
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (ready != CURLE_OK || curl == nullptr) return absl::InternalError("libcurl cannot be used");
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  if (!options_.token_file.empty()) {
    const auto token = ReadSecretFile(options_.token_file);
    if (token.ok())
      headers = curl_slist_append(headers, StrCat("Authorization: Bearer ", Trim(*token)).c_str());
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owned(headers, curl_slist_free_all);
  std::string answer;
  curl_easy_setopt(curl.get(), CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, IsOfThisMachine(options_.url) ? "http" : "https");
  if (!options_.tls_roots.empty()) curl_easy_setopt(curl.get(), CURLOPT_CAINFO, options_.tls_roots.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, kMilliseconds);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK)
    return absl::UnavailableError(StrCat("the signer cannot be asked: ", curl_easy_strerror(code)));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != kOk) return absl::InternalError(StrCat("the signer answers with status ", status));
  return answer;
}

absl::Status ExternalSigner::CheckGiven(const Certificates& given, const KeyPtr& key,
                                        const SignRequest& request, const Trusted& trusted) const {
  const CertificatePtr& leaf = given.front();
  if (!SamePublicKey(PublicKey(leaf), key))
    return absl::InternalError("the signer's certificate is for another key");
  if (!IsForUrisAlone(leaf, request.identities))
    return absl::InternalError("the signer's certificate is for other names");
  if (IsAuthority(leaf)) return absl::InternalError("the signer's certificate may sign others");
  const int64_t now = options_.now();
  if (NotAfter(leaf) > now + options_.max_lifetime.count() + kClockSkew)
    return absl::InternalError(StrCat("the signer's certificate holds for more than ",
                                      options_.max_lifetime.count(), "s (MAX_WORKLOAD_CERT_TTL)"));
  Certificates between(given.begin() + 1, given.end());
  between.insert(between.end(), trusted.between.begin(), trusted.between.end());
  const absl::Status verified = VerifyChain(leaf, between, trusted.roots, "", now, /*client=*/true);
  if (verified.ok()) return verified;
  return absl::InternalError(StrCat("the signer's certificate: ", FromAbsl(verified.message())));
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
    const bool away = answer.status().code() == absl::StatusCode::kUnavailable;
    return Failed(away ? Signed::Error::kUnavailable : Signed::Error::kFailed,
                  std::string(answer.status().message()));
  }
  const auto given = CertificatesOf(*answer);
  if (!given.ok()) return Failed(Signed::Error::kFailed, std::string(given.status().message()));
  const absl::Status good = CheckGiven(*given, csr->public_key, request, *trusted);
  if (!good.ok()) return Failed(Signed::Error::kFailed, std::string(good.message()));
  Signed out;
  for (const Certificates* part : {&*given, &trusted->between}) {
    for (const CertificatePtr& one : *part) out.chain.push_back(CertificatePem(one));
  }
  out.roots = CertificatePems(trusted->roots);
  return out;
}

}  // namespace fairlead::ca
