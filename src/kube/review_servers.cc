#include "kube/review_servers.h"

#include <utility>

#include "base/excerpt.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

ApiAnswer NoCluster(const std::string& cluster) {
  return {.status = absl::NotFoundError(StrCat("cluster ", Excerpt(cluster), " is not known"))};
}

}  // namespace

ReviewServers::ReviewServers(Options options, ServerAccess own, fetch::Client* client)
    : options_(std::move(options)), client_(client), own_(Make(std::move(own))) {}

ReviewServers::~ReviewServers() { Stop(); }

ReviewServers::WriterPtr ReviewServers::Make(ServerAccess access) const {
  ApiWriter::Options options;
  options.most_at_once = options_.most_at_once;
  options.most_waiting = options_.most_waiting;
  options.per_second = 0;
  return std::make_shared<ApiWriter>(options, std::move(access), client_);
}

// Null where there is none. A cluster that is gone, or has another kubeconfig, loses its queue.
ReviewServers::WriterPtr ReviewServers::Find(const std::string& cluster) {
  if (cluster.empty()) return own_;
  std::optional<Remote> remote = options_.find == nullptr ? std::nullopt : options_.find(cluster);
  WriterPtr old;  // whose thread is waited for without the lock
  std::lock_guard lock(mutex_);
  const auto it = servers_.find(cluster);
  if (it != servers_.end() && remote && it->second.kubeconfig == remote->kubeconfig) return it->second.writer;
  if (it != servers_.end()) {
    old = std::move(it->second.writer);
    servers_.erase(it);
  }
  if (!remote || stopped_) return nullptr;
  WriterPtr made = Make(std::move(remote->access));
  servers_.emplace(cluster, Server{std::move(remote->kubeconfig), made});
  return made;
}

void ReviewServers::Send(const std::string& cluster, ApiRequest request, ApiWriter::Done done) {
  const WriterPtr writer = Find(cluster);
  if (writer == nullptr) return done(NoCluster(cluster));
  writer->Send(std::move(request), std::move(done));
}

ApiAnswer ReviewServers::Ask(const std::string& cluster, ApiRequest request) {
  const WriterPtr writer = Find(cluster);
  return writer == nullptr ? NoCluster(cluster) : writer->SendAndWait(std::move(request));
}

void ReviewServers::Stop() {
  std::map<std::string, Server> servers;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    servers.swap(servers_);
  }
  own_->Stop();
  for (auto& [cluster, server] : servers) server.writer->Stop();
}

}  // namespace fairlead::kube
