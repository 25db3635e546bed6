#ifndef FAIRLEAD_FETCH_REQUEST_H_
#define FAIRLEAD_FETCH_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fetch/blocked_addresses.h"

namespace fairlead::fetch {

// How a server is verified, and how this side shows who it is. Connections are shared only by requests that
// agree in all of it.
struct TlsSettings {
  std::string roots = {};            // PEM certificates that vouch for the server
  std::string roots_file = {};       // the same as a file, read for each connection; both "": the system's
  std::string more_roots_file = {};  // besides the system's. One that cannot be read vouches for nobody.
  std::string certificate = {};      // PEM: the client's own and what leads to its root; "": none
  std::string key = {};              // PEM, of the certificate
  std::string server_name = {};  // in place of the URL's host, for SNI and verification; no redirects then
  bool unverified = false;       // any certificate is believed
};

enum class HttpVersion {
  kAny,  // HTTP/2 over TLS where the server has it, else HTTP/1.1
  k1,    // HTTP/1.1
};

// TLS 1.2 or newer; from https no redirect leads to plaintext; an Authorization header and a token stay with
// the first host.
struct Request {
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
  // A token as it is now, without "Bearer"; may block if Start may.
  using Bearer = std::function<absl::StatusOr<std::string>()>;

  std::string method = "GET";
  std::string url;                        // http or https
  std::vector<std::string> headers = {};  // "Name: value"; without a User-Agent, "fairlead" is sent
  std::optional<std::string> body = {};

  Bearer bearer = nullptr;       // asked once for each request
  std::string bearer_file = {};  // read for each request; 64 KiB at most
  TlsSettings tls = {};
  HttpVersion version = HttpVersion::kAny;
  // nullopt: as the environment says (https_proxy, no_proxy: curl's manual); "": none; else its URL. With
  // TlsSettings::server_name, no_proxy is about that name.
  std::optional<std::string> proxy = {};

  std::chrono::milliseconds connect_limit{10'000};  // to look the name up, connect and shake hands
  std::chrono::milliseconds idle_limit{0};          // without a byte from the server, once connected; 0: none
  std::chrono::milliseconds whole_limit{0};         // from Start to OnDone; 0: none
  uint64_t most_bytes = 1 << 20;                    // of the answer's body, unpacked
  size_t most_held = 4 << 20;                       // kept while paused: see Client::Pause
  int most_redirects = 0;                           // followed; one more is an error, with 0 an answer

  bool compressed = false;  // the answer may come packed by gzip
  // One that is shared with no other, and closed afterwards; of HTTP/1.1, or with own_http2 as `version`
  // says.
  bool own_connection = false;
  bool own_http2 = false;
  bool plaintext = false;  // an http URL may lead to another machine
  // An IP address of this machine that connections come from; "": any. With own_connection alone.
  std::string local_address = {};
  // Of these no address is connected to, nor asked over a connection that is there already. Null: none are.
  // Must outlive the exchange.
  const BlockedAddresses* blocked = nullptr;
};

// Whether a URL is of plaintext that does not leave the machine.
bool IsOfThisMachine(std::string_view url);

// InvalidArgument where a part of it cannot be sent; the message quotes no secret.
absl::Status CheckRequest(const Request& request);

// The bearer token of a request as it is now; "": it has none. An error where it cannot be had or sent.
absl::StatusOr<std::string> TokenOf(const Request& request);

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_REQUEST_H_
