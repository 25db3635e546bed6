#ifndef FAIRLEAD_KUBE_REVIEW_SERVERS_H_
#define FAIRLEAD_KUBE_REVIEW_SERVERS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fetch/client.h"
#include "kube/access.h"
#include "kube/api_writer.h"

namespace fairlead::kube {

// The API servers of all clusters, for short questions about their own accounts. Each has a queue of its own,
// so that one that does not answer holds up no other. Thread-safe.
class ReviewServers {
 public:
  // How another cluster is reached, and which kubeconfig says so.
  struct Remote {
    ServerAccess access;
    std::string kubeconfig;
  };
  struct Options {
    size_t most_at_once = 32, most_waiting = 2000;  // questions to one server
    // Nothing where there is no such cluster. Thread-safe; may be null.
    std::function<std::optional<Remote>(const std::string& cluster)> find = nullptr;
  };
  // The client must outlive it.
  ReviewServers(Options options, ServerAccess own, fetch::Client* client);
  ~ReviewServers();  // as Stop()

  // `cluster`: "" for the control plane's own. NotFound where there is no such cluster. `done` is called
  // once, on a thread of ours or here.
  void Send(const std::string& cluster, ApiRequest request, ApiWriter::Done done);
  // The same, but blocks.
  ApiAnswer Ask(const std::string& cluster, ApiRequest request);
  // Ends what waits with Cancelled.
  void Stop();

 private:
  using WriterPtr = std::shared_ptr<ApiWriter>;
  struct Server {
    std::string kubeconfig;
    WriterPtr writer;
  };
  WriterPtr Find(const std::string& cluster);
  WriterPtr Make(ServerAccess access) const;

  const Options options_;
  fetch::Client* const client_;
  const WriterPtr own_;
  std::mutex mutex_;
  bool stopped_ = false;                   // guarded by mutex_
  std::map<std::string, Server> servers_;  // likewise; of other clusters that were asked
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_REVIEW_SERVERS_H_
