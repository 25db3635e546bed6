#include "wasm/registry.h"

#include <curl/curl.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "wasm/digest.h"
#include "wasm/unbox.h"

namespace fairlead::wasm {
namespace {

constexpr size_t kMostManifest = 4 << 20;
constexpr std::string_view kModuleFile = "plugin.wasm";

std::string UrlText(const std::string& text) {
  const std::unique_ptr<char, decltype(&curl_free)> escaped(
      curl_easy_escape(nullptr, text.c_str(), static_cast<int>(text.size())), curl_free);
  return escaped == nullptr ? "" : escaped.get();
}

absl::Status CheckDigest(std::string_view what, std::string_view bytes, std::string_view digest) {
  const std::string got = Sha256Hex(bytes);
  if (got == digest) return absl::OkStatus();
  return absl::DataLossError(StrCat("the registry's ", what, " has checksum ", got, ", not ", digest));
}

std::vector<std::string> ChallengesOf(const fetch::WebAnswer& answer) {
  std::vector<std::string> out;
  for (const auto& [name, value] : answer.headers) {
    if (name == "www-authenticate") out.push_back(value);
  }
  return out;
}

}  // namespace

RegistryImage::RegistryImage(const Download& download, ImageReference reference,
                             std::optional<std::string> pull_secret)
    : download_(download),
      reference_(std::move(reference)),
      pull_secret_(std::move(pull_secret)),
      insecure_(download.options().IsInsecure(reference_.registry)),
      base_(StrCat("https://", reference_.registry)) {}

bool RegistryImage::MayBePlaintext() const {
  return insecure_ || fetch::IsOfThisMachine(StrCat("http://", reference_.registry));
}

void RegistryImage::FindScheme() {
  if (!MayBePlaintext()) return;
  const auto answer = download_.AskOnce({.url = StrCat(base_, "/v2/"), .unverified = insecure_});
  if (absl::IsUnavailable(answer.status())) base_ = StrCat("http://", reference_.registry);
}

absl::StatusOr<fetch::WebAnswer> RegistryImage::AskOnce(const std::string& path, const std::string& accept,
                                                        size_t most) {
  fetch::WebRequest request{.url = StrCat(base_, "/v2/", reference_.repository, path),
                            .most_bytes = most,
                            .plaintext = MayBePlaintext(),
                            .unverified = insecure_};
  if (!accept.empty()) request.headers.push_back(StrCat("Accept: ", accept));
  if (!authorization_.empty()) request.headers.push_back(authorization_);
  return download_.Ask(request);
}

absl::StatusOr<std::string> RegistryImage::Get(const std::string& path, const std::string& accept,
                                               size_t most) {
  auto answer = AskOnce(path, accept, most);
  if (answer.ok() && answer->status == 401 && authorization_.empty()) {
    if (absl::Status status = Authenticate(*answer); !status.ok()) return status;
    answer = AskOnce(path, accept, most);
  }
  if (!answer.ok()) return answer.status();
  if (answer->status == 200) return std::move(answer->body);
  const std::string what = StrCat(base_, "/v2/", reference_.repository, path, ": ");
  if (answer->status == 401 || answer->status == 403)
    return absl::PermissionDeniedError(StrCat(what, "the registry refuses, with status ", answer->status));
  if (answer->status == 404) return absl::NotFoundError(StrCat(what, "the registry has no such thing"));
  return absl::UnavailableError(StrCat(what, "the answer is status ", answer->status));
}

absl::StatusOr<RegistryCredentials> RegistryImage::FindCredentials() const {
  if (pull_secret_) return CredentialsFor(*pull_secret_, reference_.registry);
  if (download_.options().docker_config.empty()) return RegistryCredentials();
  std::ifstream file(download_.options().docker_config);
  if (!file) return RegistryCredentials();
  std::ostringstream text;
  text << file.rdbuf();
  return CredentialsFor(text.str(), reference_.registry);
}

absl::Status RegistryImage::Authenticate(const fetch::WebAnswer& refusal) {
  const auto challenge = ParseChallenge(ChallengesOf(refusal));
  if (!challenge)
    return absl::PermissionDeniedError(StrCat(base_, " refuses and does not say what it wants"));
  const auto credentials = FindCredentials();
  if (!credentials.ok()) return credentials.status();
  if (!credentials->registry_token.empty()) {
    authorization_ = StrCat("Authorization: Bearer ", credentials->registry_token);
    return absl::OkStatus();
  }
  if (challenge->bearer) return GetToken(*challenge, *credentials, download_.IsInside(refusal.address));
  if (credentials->user.empty())
    return absl::PermissionDeniedError(
        StrCat(base_, " wants a user and a password, and there is no pull secret for it"));
  authorization_ = StrCat("Authorization: Basic ", credentials->Basic());
  return absl::OkStatus();
}

absl::Status RegistryImage::GetToken(const Challenge& challenge, const RegistryCredentials& credentials,
                                     bool registry_inside) {
  if (absl::Status status = CheckRealm(challenge.realm, base_); !status.ok()) return status;
  const std::string scope =
      challenge.scope.empty() ? StrCat("repository:", reference_.repository, ":pull") : challenge.scope;
  const std::string query = StrCat("service=", UrlText(challenge.service), "&scope=", UrlText(scope));
  fetch::WebRequest request{.url = challenge.realm, .plaintext = MayBePlaintext(), .unverified = insecure_};
  if (!credentials.identity_token.empty()) {
    request.body = StrCat("grant_type=refresh_token&client_id=fairlead&", query,
                          "&refresh_token=", UrlText(credentials.identity_token));
  } else {
    StrAppend(&request.url, challenge.realm.find('?') == std::string::npos ? "?" : "&", query);
    if (!credentials.user.empty())
      request.headers.push_back(StrCat("Authorization: Basic ", credentials.Basic()));
  }
  // A name may lead inside, where the registry itself is not: nobody there is to see what this agent has.
  const bool own = challenge.realm == base_ || challenge.realm.starts_with(StrCat(base_, "/"));
  const auto answer = own || registry_inside ? download_.Ask(request) : download_.AskOutside(request);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200)
    return absl::PermissionDeniedError(StrCat(challenge.realm, " gives no token: status ", answer->status));
  const nlohmann::json said = ParseJson(answer->body).value_or(nlohmann::json::object());
  std::string token = JsonString(said, "token");
  if (token.empty()) token = JsonString(said, "access_token");
  if (token.empty() || token.find_first_of("\r\n") != std::string::npos)
    return absl::PermissionDeniedError(StrCat(challenge.realm, " gives no token"));
  authorization_ = StrCat("Authorization: Bearer ", token);
  return absl::OkStatus();
}

absl::StatusOr<Manifest> RegistryImage::GetManifest(const std::string& name, std::string* digest) {
  const auto text = Get(StrCat("/manifests/", name), std::string(kManifestTypes), kMostManifest);
  if (!text.ok()) return text.status();
  if (!digest->empty()) {
    if (absl::Status status = CheckDigest("manifest", *text, *digest); !status.ok()) return status;
  }
  *digest = Sha256Hex(*text);
  return ParseManifest(*text);
}

absl::StatusOr<std::string> RegistryImage::Resolve() {
  FindScheme();
  std::string digest = reference_.digest;
  auto found = GetManifest(reference_.Name(), &digest);
  if (found.ok() && found->is_index) {
    const auto image = ImageOfIndex(*found);
    if (!image.ok()) return image.status();
    std::string inner = image->digest;
    found = GetManifest(StrCat("sha256:", inner), &inner);
    if (found.ok() && found->is_index) return absl::InvalidArgumentError("the index leads to an index");
    if (reference_.digest.empty()) digest = inner;
  }
  if (!found.ok()) return found.status();
  image_ = *std::move(found);
  return digest;
}

absl::StatusOr<std::string> RegistryImage::Module() {
  const auto found = ModuleLayerOf(image_);
  if (!found.ok()) return found.status();
  const size_t most = download_.options().most_bytes;
  if (found->layer.size > most)
    return absl::ResourceExhaustedError(StrCat("the layer has ", found->layer.size, " bytes, more than ",
                                               most, " (ISTIO_WASM_MAX_BINARY_SIZE_BYTES)"));
  auto blob = Get(StrCat("/blobs/sha256:", found->layer.digest), "", found->layer.size);
  if (!blob.ok()) return blob.status();
  if (absl::Status status = CheckDigest("layer", *blob, found->layer.digest); !status.ok()) return status;
  if (found->archive) return FileOfLayer(*blob, kModuleFile, most);
  return blob;
}

}  // namespace fairlead::wasm
