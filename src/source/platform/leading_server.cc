#include "source/platform/leading_server.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "base/excerpt.h"
#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostQuoted = 200;
constexpr size_t kMostRedirects = 3;

absl::Status NotFollowed(const std::string& why) { return absl::FailedPreconditionError(ToAbsl(why)); }

// Scheme, host and port of a URL; "" where it is none.
std::string_view OriginOf(std::string_view url) {
  const size_t host = url.find("://");
  if (host == std::string_view::npos) return "";
  return url.substr(0, url.find('/', host + 3));
}

}  // namespace

std::string WhyItFailed(const fetch::Outcome& outcome, std::string_view body) {
  if (!outcome.status.ok()) return std::string(FromAbsl(outcome.status.message()));
  return StrCat("status ", outcome.http_status, " ", Excerpt(Trim(body), kMostQuoted));
}

HttpUser ReadHttpUser(OptionReader& reader, const PlatformOptions& platform) {
  HttpUser user;
  user.user = reader.Text("user");
  user.password_file = reader.Text("passwordFile");
  if (user.user.empty() != user.password_file.empty())
    reader.Fail(user.user.empty() ? "passwordFile" : "user", "needs the other one of user and passwordFile");
  if (user.user.find(':') != std::string::npos) reader.Fail("user", "has a colon");
  if (!user.user.empty() && !platform.token_file.empty())
    reader.Fail("tokenFile", "is there beside user: one of both shows who asks");
  if (reader.OneOf("tokenScheme", {"bearer", "token"}) == "token") user.token_scheme = "token=";
  return user;
}

std::string HttpBaseOf(const SourceUrl& url, bool tls, size_t address) {
  const auto& [host, port] = url.addresses[address % url.addresses.size()];
  return StrCat(tls ? "https://" : "http://", host, ":", port, url.path);
}

LeadingServer::LeadingServer(Options options)
    : options_(std::move(options)), base_(HttpBaseOf(options_.url, options_.platform.tls, 0)) {}

// Files may be renewed at any time: they are read for each request.
absl::StatusOr<fetch::Request> LeadingServer::RequestFor(const std::string& path) const {
  const PlatformOptions& platform = options_.platform;
  fetch::Request request;
  request.url = base_ + path;
  request.tls = platform.tls_settings;
  auto certificate = ReadClientCertificate(platform);
  if (!certificate.ok()) return certificate.status();
  request.tls.certificate = std::move(certificate->chain);
  request.tls.key = std::move(certificate->key);
  const std::string& file = options_.user.user.empty() ? platform.token_file : options_.user.password_file;
  if (!file.empty() && !foreign_) {
    const auto secret = kube::ReadSmallFile(file);
    if (!secret.ok()) return secret.status();
    const std::string text(Trim(*secret));
    const std::string basic = absl::Base64Escape(ToAbsl(StrCat(options_.user.user, ":", text)));
    request.headers.push_back(StrCat("Authorization: ", options_.user.user.empty()
                                                            ? StrCat(options_.user.token_scheme, text)
                                                            : StrCat("Basic ", basic)));
  }
  request.version = fetch::HttpVersion::k1;
  request.proxy = "";
  request.plaintext = true;
  return request;
}

absl::Status LeadingServer::Follow(const std::string& location) {
  const bool tls = options_.platform.tls;
  const std::string origin(
      OriginOf(location.starts_with("//") ? StrCat(tls ? "https:" : "http:", location) : location));
  if (origin.empty() || ++redirects_ > kMostRedirects || (tls && !origin.starts_with("https://")))
    return NotFollowed(
        StrCat("it leads to \"", Excerpt(location, kMostQuoted), "\", where it is not followed"));
  bool foreign = true;
  for (size_t i = 0; i < options_.url.addresses.size(); ++i) {
    if (OriginOf(HttpBaseOf(options_.url, tls, i)) == origin) foreign = false;
  }
  const bool proves = !options_.user.user.empty() || !options_.platform.token_file.empty() ||
                      !options_.platform.certificate_file.empty();
  if (foreign && proves)
    return NotFollowed(
        StrCat("the leader is ", origin, ", which is no master of the URL and gets no credentials"));
  foreign_ = foreign;
  base_ = origin + options_.url.path;
  return absl::OkStatus();
}

void LeadingServer::TryNext() {
  base_ = HttpBaseOf(options_.url, options_.platform.tls, ++address_);
  foreign_ = false;
  redirects_ = 0;
}

}  // namespace fairlead::source
