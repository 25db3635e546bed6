#ifndef FAIRLEAD_APP_REGISTRATION_H_
#define FAIRLEAD_APP_REGISTRATION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "app/discovery_options.h"
#include "config/store.h"
#include "fetch/client.h"
#include "kube/api_writer.h"
#include "push/publish/publication.h"
#include "push/stream/connection_observer.h"
#include "registration/entry_store.h"
#include "registration/registrar.h"
#include "source/source.h"

namespace fairlead::registration {
class MemoryStore;
}

namespace fairlead::app {

// The WorkloadEntries of connected proxies, wired: kept by the API server or the etcd that objects are read
// from, or in this process where there is none or nothing is to be written.
class WorkloadRegistration : public push::ConnectionObserver {
 public:
  using Objects = std::function<config::ObjectStore()>;  // of the mesh; on any thread
  explicit WorkloadRegistration(const DiscoveryOptions& options);
  ~WorkloadRegistration() override;

  // Where entries are written besides this process.
  struct Place {
    fetch::Client* client = nullptr;                 // of the API server
    kube::ApiWriter::Transport transport = nullptr;  // of etcd; null: nothing is written there
    std::string origin = {};                         // how the files of its objects begin
  };
  // Begins; before any client comes. REQUIRES: the place outlives Stop.
  absl::Status Start(Objects objects, Place place);
  // The source of what proxies register; null where another source has it.
  std::unique_ptr<source::Source> MakeSource();
  // What stands between a source and the mesh; null: nothing.
  std::unique_ptr<source::Sink> Tap(source::Sink* next);
  void OnPublished(const push::Publication& now);
  // Writes what proxies that have gone leave behind, within two seconds. No client comes any more.
  void Stop();

  bool OnConnected(uint64_t stream, const model::ProxyPtr& proxy, std::chrono::system_clock::time_point since,
                   Ready ready) override;
  void OnHealth(uint64_t stream, bool healthy, std::string_view message) override;
  void OnDisconnected(uint64_t stream) override;

 private:
  const DiscoveryOptions& options_;
  std::unique_ptr<registration::EntryStore> store_;
  registration::MemoryStore* memory_ = nullptr;         // store_, where it is one
  std::unique_ptr<registration::Registrar> registrar_;  // null: nothing is registered
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_REGISTRATION_H_
