#include "wasm/credentials.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "base/ip_address.h"
#include "base/json.h"
#include "base/strings.h"
#include "fetch/blocked_addresses.h"
#include "wasm/image_reference.h"

namespace fairlead::wasm {
namespace {

using nlohmann::json;

// Of a key of "auths": "https://registry.example.com/v1/" is "registry.example.com".
std::string_view HostOf(std::string_view url) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (url.starts_with(scheme)) url.remove_prefix(scheme.size());
  }
  return url.substr(0, url.find('/'));
}

RegistryCredentials Read(const json& entry) {
  RegistryCredentials out{JsonString(entry, "username"), JsonString(entry, "password"),
                          JsonString(entry, "identitytoken"), JsonString(entry, "registrytoken")};
  std::string pair;
  if (out.user.empty() && absl::Base64Unescape(ToAbsl(JsonString(entry, "auth")), &pair)) {
    const size_t colon = pair.find(':');
    if (colon != std::string::npos) {
      out.user = pair.substr(0, colon);
      out.password = pair.substr(colon + 1);
      while (out.password.ends_with('\0')) out.password.pop_back();
    }
  }
  return out;
}

// One challenge: a scheme and parameters key="value" or key=value with commas between.
std::optional<Challenge> ReadChallenge(std::string_view text) {
  Challenge out;
  const size_t space = text.find(' ');
  const std::string_view scheme = text.substr(0, space);
  out.bearer = EqualsIgnoreCase(scheme, "Bearer");
  if (!out.bearer && !EqualsIgnoreCase(scheme, "Basic")) return std::nullopt;
  std::string_view rest = space == std::string_view::npos ? "" : text.substr(space + 1);
  while (!rest.empty()) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    const std::string key = AsciiLower(Trim(rest.substr(0, equals)));
    rest.remove_prefix(equals + 1);
    const bool quoted = rest.starts_with('"');
    if (quoted) rest.remove_prefix(1);
    const size_t end = std::min(rest.find(quoted ? '"' : ','), rest.size());
    const std::string value(rest.substr(0, end));
    if (key == "realm") out.realm = value;
    if (key == "service") out.service = value;
    if (key == "scope") out.scope = value;
    const size_t comma = rest.find(',', end);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return out;
}

bool IsPrivate(const IpAddress& address) {
  static const auto* blocked = new fetch::BlockedAddresses(fetch::PrivateRanges());
  return blocked->Contain(address);
}

}  // namespace

std::string RegistryCredentials::Basic() const {
  std::string encoded;
  absl::Base64Escape(ToAbsl(StrCat(user, ":", password)), &encoded);
  return encoded;
}

absl::StatusOr<RegistryCredentials> CredentialsFor(std::string_view docker_config,
                                                   std::string_view registry) {
  const json config = ParseJson(docker_config).value_or(json());
  if (!config.is_object()) return absl::InvalidArgumentError("the pull secret is no docker config.json");
  const auto auths = config.find("auths");
  if (auths == config.end() || !auths->is_object()) return RegistryCredentials();
  const std::string key = registry == kDockerHub ? "https://index.docker.io/v1/" : std::string(registry);
  if (const auto exact = auths->find(key); exact != auths->end()) return Read(*exact);
  for (const auto& [name, entry] : auths->items()) {
    if (HostOf(name) == registry || (registry == kDockerHub && HostOf(name) == "docker.io"))
      return Read(entry);
  }
  return RegistryCredentials();
}

std::optional<Challenge> ParseChallenge(const std::vector<std::string>& values) {
  std::optional<Challenge> basic;
  for (const std::string& value : values) {
    auto challenge = ReadChallenge(Trim(value));
    if (challenge && challenge->bearer) return challenge;
    if (challenge) basic = std::move(challenge);
  }
  return basic;
}

absl::Status CheckRealm(std::string_view realm, std::string_view base) {
  const auto denied = [&](std::string_view why) {
    return absl::PermissionDeniedError(StrCat("the registry asks for a token from ", realm, ", ", why));
  };
  if (realm == base || realm.starts_with(StrCat(base, "/"))) return absl::OkStatus();
  if (!realm.starts_with("https://")) return denied("which is not over TLS");
  const std::string_view authority = HostOf(realm);
  // What is not host or host:port could be read in another way by who connects.
  if (authority.empty() || authority.find_first_of("@\\?# ") != std::string_view::npos)
    return denied("which names no host");
  std::string host(authority.substr(0, authority.rfind(':')));
  if (authority.starts_with('[')) host = authority.substr(1, std::max<size_t>(authority.find(']'), 1) - 1);
  host = AsciiLower(host);
  const auto address = IpAddress::Parse(host);
  if (host == "localhost" || host == "metadata.google.internal" || (address && IsPrivate(*address)))
    return denied("which is inside of this network");
  return absl::OkStatus();
}

}  // namespace fairlead::wasm
