#include "ca/forwarded_certificate.h"

#include <algorithm>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "ca/caller.h"

namespace fairlead::ca {
namespace {

constexpr size_t kMostHeader = 64 << 10;

// Reads "Key=Value;Key="quoted, value",Key=…".
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  absl::StatusOr<std::vector<ForwardedCertificate>> Read() {
    std::vector<ForwardedCertificate> all(1);
    for (;;) {
      const size_t equals = rest_.find('=');
      if (equals == std::string_view::npos) return Wrong();
      const std::string key = AsciiLower(Trim(rest_.substr(0, equals)));
      if (key.empty() || key.find_first_of(";,\"") != std::string::npos) return Wrong();
      rest_.remove_prefix(equals + 1);
      std::string value;
      if (!ReadValue(&value)) return Wrong();
      Set(key, std::move(value), &all.back());
      if (rest_.empty()) return all;
      const char separator = rest_.front();
      rest_.remove_prefix(1);
      if (separator == ',') all.emplace_back();
    }
  }

 private:
  static absl::Status Wrong() { return absl::InvalidArgumentError("x-forwarded-client-cert cannot be read"); }

  bool ReadValue(std::string* out) {
    if (rest_.empty() || rest_.front() != '"') {
      const size_t end = std::min(rest_.find_first_of(";,"), rest_.size());
      *out = rest_.substr(0, end);
      rest_.remove_prefix(end);
      return out->find('"') == std::string::npos;
    }
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      out->push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == ';' || rest_.front() == ',';
  }

  static void Set(const std::string& key, std::string value, ForwardedCertificate* out) {
    if (key == "uri")
      out->uris.push_back(std::move(value));
    else if (key == "dns")
      out->dns_names.push_back(std::move(value));
    else if (key == "subject")
      out->subject = std::move(value);
    else if (key == "hash")
      out->hash = std::move(value);
  }

  std::string_view rest_;
};

// Of "ipv4:10.0.0.1:43210" or "ipv6:%5B::1%5D:43210"; an IPv4 address that came as IPv6 is one.
std::optional<IpAddress> AddressOf(std::string_view peer) {
  if (peer.starts_with("ipv4:")) {
    peer.remove_prefix(5);
    return IpAddress::Parse(peer.substr(0, peer.rfind(':')));
  }
  if (!peer.starts_with("ipv6:")) return std::nullopt;
  std::string text = ReplaceAll(ReplaceAll(peer.substr(5), "%5B", "["), "%5D", "]");
  const size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string::npos) return std::nullopt;
  text = text.substr(1, end - 1);
  constexpr std::string_view kMapped = "::ffff:";
  if (text.starts_with(kMapped)) return IpAddress::Parse(std::string_view(text).substr(kMapped.size()));
  return IpAddress::Parse(text);
}

class ForwardedAuthenticator : public Authenticator {
 public:
  ForwardedAuthenticator(std::vector<IpPrefix> networks, TrustDomains trust_domains)
      : networks_(std::move(networks)), trust_domains_(std::move(trust_domains)) {}
  std::string_view name() const override { return "forwarded certificate"; }

  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const override {
    if (credentials.forwarded_certificate.empty()) return std::nullopt;
    if (!Trusts(credentials.address))
      return absl::UnauthenticatedError(StrCat(credentials.address, " is not a trusted gateway"));
    auto elements = ReadForwardedCertificates(credentials.forwarded_certificate);
    if (!elements.ok()) return absl::UnauthenticatedError(elements.status().message());
    Caller caller;
    caller.identities = OwnIdentities(elements->back().uris, trust_domains_());
    if (caller.identities.empty())
      return absl::UnauthenticatedError("the last element has no identity of this mesh's trust domain");
    return caller;
  }

 private:
  bool Trusts(std::string_view peer) const {
    const auto address = AddressOf(peer);
    if (!address) return false;
    return address->is_loopback() ||
           std::any_of(networks_.begin(), networks_.end(),
                       [&](const IpPrefix& network) { return network.Contains(*address); });
  }

  const std::vector<IpPrefix> networks_;
  const TrustDomains trust_domains_;
};

}  // namespace

absl::StatusOr<std::vector<ForwardedCertificate>> ReadForwardedCertificates(std::string_view header) {
  if (header.size() > kMostHeader) return absl::InvalidArgumentError("x-forwarded-client-cert is too long");
  return Reader(header).Read();
}

absl::StatusOr<std::unique_ptr<Authenticator>> NewForwardedAuthenticator(
    const std::vector<std::string>& networks, TrustDomains trust_domains) {
  std::vector<IpPrefix> trusted;
  for (const std::string& text : networks) {
    const auto network = IpPrefix::ParseRange(text);
    if (!network)
      return absl::InvalidArgumentError(StrCat("'", text, "' is not a network such as 10.0.0.0/8"));
    trusted.push_back(*network);
  }
  return std::make_unique<ForwardedAuthenticator>(std::move(trusted), std::move(trust_domains));
}

}  // namespace fairlead::ca
