#ifndef FAIRLEAD_SOURCE_PLATFORM_LEADING_SERVER_H_
#define FAIRLEAD_SOURCE_PLATFORM_LEADING_SERVER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fetch/client.h"
#include "fetch/request.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

// How this side shows who it is, besides certificates.
struct HttpUser {
  std::string user = {}, password_file = {};  // of HTTP's basic authentication; "": none
  std::string token_scheme = "Bearer ";       // before the token in an Authorization header
};

// Options user, passwordFile and tokenScheme.
HttpUser ReadHttpUser(OptionReader& reader, const PlatformOptions& platform);

// "http://10.0.0.1:5050/PREFIX" of an address of the URL, counted from 0 and on from the first after the
// last.
std::string HttpBaseOf(const SourceUrl& url, bool tls, size_t address);

// Which of a platform's servers is asked, where one leads and the others redirect to it, and how this side
// shows who it is. Credentials are for the servers of the URL alone, whatever one of them says. One thread.
class LeadingServer {
 public:
  struct Options {
    SourceUrl url;
    PlatformOptions platform;
    HttpUser user;
  };
  explicit LeadingServer(Options options);

  // "http://10.0.0.1:5050/PREFIX": of the server that is asked now.
  const std::string& base() const { return base_; }
  // A request over HTTP/1.1 there, with certificates, password and token as their files have them now.
  // An error of a file names it.
  absl::StatusOr<fetch::Request> RequestFor(const std::string& path) const;

  // A server redirects to this URL, "//HOST:PORT/PATH" included. FailedPrecondition says why it is not
  // followed: no URL, plaintext where TLS is wanted, too many in a row, or credentials would go elsewhere.
  absl::Status Follow(const std::string& location);
  // The server that is asked leads.
  void Found() { redirects_ = 0; }
  // It failed: the next one of the URL knows who leads now.
  void TryNext();

 private:
  const Options options_;
  size_t address_ = 0;  // of the URL
  std::string base_;
  bool foreign_ = false;  // it is none of the URL's
  size_t redirects_ = 0;  // in a row
};

// Why an exchange is no success, for people; `body`: what the server said, of which the beginning is quoted.
std::string WhyItFailed(const fetch::Outcome& outcome, std::string_view body);

// Whether a status of HTTP sends to another server.
inline bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_LEADING_SERVER_H_
