#ifndef FAIRLEAD_AGENT_UPSTREAM_H_
#define FAIRLEAD_AGENT_UPSTREAM_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

// Where the control plane is, and who vouches for it.
struct UpstreamOptions {
  std::string host;  // a name, or an address without brackets
  int port = 0;
  bool tls = false;         // else plaintext
  std::string server_name;  // whom its certificate must name; "": the host
  std::string crl_file;     // revocation lists; need not be there
};

// What happens on a call; on the upstream's thread, must not block. OnEnd comes once, as the last, unless the
// call was cancelled.
class UpstreamHandler {
 public:
  virtual ~UpstreamHandler() = default;
  virtual void OnReply(std::string message) = 0;
  virtual void OnTaken() = 0;  // all that was sent is on its way
  virtual void OnEnd(const absl::Status& status) = 0;
};

class Upstream;

// A bidirectional gRPC call under way. Thread-safe.
class UpstreamCall {
 public:
  struct State;
  explicit UpstreamCall(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~UpstreamCall() { Cancel(); }
  UpstreamCall(const UpstreamCall&) = delete;
  UpstreamCall& operator=(const UpstreamCall&) = delete;
  // Sends a message: UpstreamHandler::OnTaken follows.
  void Send(std::string_view message);
  // So many bytes of messages that came are dealt with. While a lot is not, the server is not read from.
  void Done(size_t bytes);
  // No callback begins after it but one that has begun already.
  void Cancel();

 private:
  const std::shared_ptr<State> state_;
};

// Calls of the control plane's streams over HTTP/2, each on a connection of its own, all on one thread. A
// server that vanishes is found by TCP's own probes. A message of more than 24 MiB ends its call with
// RESOURCE_EXHAUSTED.
// Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
class Upstream {
 public:
  explicit Upstream(UpstreamOptions options);
  ~Upstream();  // as Stop()
  void Start();
  // Breaks calls off, without callbacks.
  void Stop();
  // `path`: "/package.Service/Method". `own` is shown to the server, `roots` vouch for it, PEM; with TLS
  // alone.
  std::unique_ptr<UpstreamCall> Open(const std::string& path, const Secret& own, const std::string& roots,
                                     std::shared_ptr<UpstreamHandler> handler);

 private:
  friend class UpstreamCall;
  struct Loop;
  const UpstreamOptions options_;
  const std::shared_ptr<Loop> loop_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_UPSTREAM_H_
