#ifndef FAIRLEAD_REGISTRATION_CLUSTER_STORE_H_
#define FAIRLEAD_REGISTRATION_CLUSTER_STORE_H_

#include <functional>
#include <string>

#include "config/store.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/api_writer.h"
#include "registration/entry_store.h"

namespace fairlead::registration {

// The WorkloadEntries of an API server. Each is read anew before it is written, and written only if it is as
// it was read then: replicas that write at once do not undo each other's.
class ClusterStore : public EntryStore {
 public:
  struct Options {
    kube::ApiWriter::Options writer;
    std::function<config::ObjectStore()> objects;  // as last read; on any thread
    // How the files begin whose entries can be written; "": those of an API server can, which have none.
    std::string origin = {};
  };
  // The client must outlive it.
  ClusterStore(Options options, kube::ServerAccess access, fetch::Client* client);
  // The same where something else answers as an API server does.
  ClusterStore(Options options, kube::ApiWriter::Transport transport);
  ~ClusterStore() override { Stop(); }

  void Run(Work work, Clock::time_point at) override { writer_.Run(std::move(work), at); }
  void Read(const EntryName& name, OnRead done) override;
  void Write(const EntryName& name, const Step& step, const Entry* read, OnWritten done) override;
  bool Keeps(const config::ConfigObject& entry) const override;
  void Stop() override { writer_.Stop(); }

 private:
  std::string Collection(const EntryName& name, const config::ConfigPtr& group) const;

  const std::function<config::ObjectStore()> objects_;
  const std::string origin_;
  kube::ApiWriter writer_;
};

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_CLUSTER_STORE_H_
