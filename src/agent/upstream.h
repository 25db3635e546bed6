#ifndef FAIRLEAD_AGENT_UPSTREAM_H_
#define FAIRLEAD_AGENT_UPSTREAM_H_

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

// Where the control plane is, and who vouches for it.
struct UpstreamOptions {
  std::string host;  // a name, or an address without brackets
  int port = 0;
  bool tls = false;                // else plaintext
  std::string server_name;         // whom its certificate must name; "": the host
  std::string crl_file;            // revocation lists; need not be there
  std::string local_address = {};  // that connections come from; "": any
};

using Metadata = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// The proofs of a call: a certificate with TLS alone ("": none), metadata always; and the roots (PEM) for the
// server.
struct Proofs {
  Secret own;
  std::string roots;
  Metadata metadata;
};

// The events of a call; on its thread, must not block. OnEnd comes once, as the last, unless the call was
// cancelled.
class UpstreamHandler {
 public:
  virtual ~UpstreamHandler() = default;
  virtual void OnReply(std::string message) = 0;
  virtual void OnTaken() = 0;  // all that was sent is on its way
  virtual void OnEnd(const absl::Status& status) = 0;
};

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
  // The same; no message follows it.
  void SendLast(std::string_view message);
  // So many bytes of messages that came are dealt with. While a lot is not, the server is not read from.
  void Done(size_t bytes);
  // No callback begins after it but one that has begun already.
  void Cancel();

 private:
  const std::shared_ptr<State> state_;
};

// Calls of the control plane's streams over HTTP/2, each on a connection and a thread of its own. A server
// that vanishes is found by TCP's own probes. Messages may be as large as protobuf can read them.
// Thread-safe. Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
class Upstream {
 public:
  explicit Upstream(UpstreamOptions options);
  ~Upstream();  // as Stop()
  // Breaks calls off, without callbacks, and waits for their threads.
  void Stop();
  // `path`: "/package.Service/Method". An error, where no thread can be had or after Stop, comes without
  // callbacks.
  absl::StatusOr<std::unique_ptr<UpstreamCall>> Open(const std::string& path, Proofs proofs,
                                                     std::shared_ptr<UpstreamHandler> handler);

 private:
  struct Thread {
    std::thread thread;
    std::shared_ptr<UpstreamCall::State> call;
  };
  void Reap();  // threads that end; REQUIRES: mutex_ held

  const UpstreamOptions options_;
  std::mutex mutex_;
  bool stopped_ = false;       // guarded by mutex_
  std::list<Thread> threads_;  // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_UPSTREAM_H_
