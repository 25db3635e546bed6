#ifndef FAIRLEAD_FETCH_CLIENT_H_
#define FAIRLEAD_FETCH_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fetch/request.h"

namespace fairlead::fetch {

// The headers of an answer in their order, names in lower case; 64 KiB at most, the rest is left out.
using Headers = std::vector<std::pair<std::string, std::string>>;

// How an exchange ended.
struct Outcome {
  // OK: the answer came whole, whatever its HTTP status. Otherwise:
  //   InvalidArgument    the request cannot be sent as it is (URL, header, certificate, token)
  //   Unavailable        no connection, a verification that failed, a broken or senseless answer
  //   DeadlineExceeded   a time limit of the request
  //   ResourceExhausted  more bytes than Request::most_bytes or most_held, or too many requests at once
  //   PermissionDenied   the server's address is blocked
  absl::Status status;
  int http_status = 0;  // 0: no headers came
  // Retry-After of the answer, given in seconds or as a date; a day at most.
  std::optional<std::chrono::seconds> retry_after = {};
  std::string address = {};  // an IP address: the answer is from there, or from a proxy there
};

// Whoever started an exchange. All calls come on the client's thread, one after the other: OnHeaders at most
// once, OnData any number of times, OnDone once and last. They must not block. They may call anything of the
// client, for any exchange, Cancel of their own included.
class Observer {
 public:
  virtual ~Observer() = default;
  // Of the last answer: those of redirects are not shown.
  virtual void OnHeaders(int /*status*/, const Headers& /*headers*/) {}
  // The next bytes of the body, never none; unpacked if it came compressed.
  virtual void OnData(std::string_view bytes) = 0;
  virtual void OnDone(const Outcome& outcome) = 0;
};

// An HTTP client: one thread, all exchanges side by side, connections kept and shared, HTTP/2 where a server
// has it. A thread at rest uses no CPU. Thread-safe.
class Client {
 public:
  // An exchange; never 0, never used again.
  using Handle = uint64_t;
  struct Options {
    size_t most_exchanges = 4096;  // at once; more are refused with ResourceExhausted
    // Of one HTTP/2 connection. Each arrival on a connection costs a little for each of its streams.
    size_t streams_per_connection = 32;
    size_t idle_connections = 32;             // kept for later
    std::chrono::seconds connection_age{60};  // unused for longer: not used again
  };

  Client();
  explicit Client(Options options);
  // Ends all exchanges as Cancel does. Not to be called by an observer.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The process's own, there from the first call on and never destroyed.
  static Client& Shared();

  // The observer must live until its OnDone returned or Cancel did. It may be called before Start returns.
  // Request::bearer is asked here, on the caller's thread. Does not block otherwise.
  Handle Start(Request request, Observer* observer);
  // The observer goes with the exchange, on the client's thread.
  Handle Start(Request request, std::unique_ptr<Observer> observer);

  // Ends an exchange; none of its callbacks runs or begins once this returned: it waits for one that runs, so
  // hold no lock that the observer takes. On the client's thread it never waits; then a callback that calls
  // this is the last. Nothing where the exchange is over already.
  void Cancel(Handle handle);

  // No OnData (and no OnDone) begins after that until Resume, where a callback of the exchange calls this;
  // from elsewhere one may still be on its way. The idle limit does not run meanwhile. Up to
  // Request::most_held bytes that arrive meanwhile are kept. Then the server is held up; but over HTTP/2,
  // where it would hold up others of the connection, the exchange ends with ResourceExhausted: for long
  // bodies that are to wait, Request::own_connection. One Resume ends all pauses.
  void Pause(Handle handle);
  void Resume(Handle handle);

  // Connections opened so far. For tests and metrics.
  uint64_t connections_opened() const;

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_CLIENT_H_
