#ifndef FAIRLEAD_REGISTRATION_MEMORY_STORE_H_
#define FAIRLEAD_REGISTRATION_MEMORY_STORE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "registration/amended_entries.h"
#include "registration/entry_store.h"
#include "source/platform/task_loop.h"
#include "source/source.h"

namespace fairlead::registration {

// WorkloadEntries where no API server keeps them: those that proxies register are here, and those of other
// sources are amended on their way. Nothing outlives the process.
class MemoryStore : public EntryStore {
 public:
  explicit MemoryStore(size_t most_entries = 100'000);
  ~MemoryStore() override { Stop(); }

  // What the mesh reads the registered entries from. The store must outlive it, or be stopped before it goes.
  std::unique_ptr<source::Source> MakeSource();
  // See AmendedEntries::Tap.
  std::unique_ptr<source::Sink> Tap(source::Sink* next) { return amended_.Tap(next); }

  void Run(Work work, Clock::time_point at) override;
  void Read(const EntryName& name, OnRead done) override;
  void Write(const EntryName& name, const Step& step, const Entry* read, OnWritten done) override;
  bool Keeps(const config::ConfigObject& /*entry*/) const override { return true; }
  void Stop() override;

 private:
  class RegisteredSource;
  struct Registered {
    NewEntry made;
    std::vector<Condition> conditions;
    int64_t creation_time;  // in Unix seconds
  };
  absl::Status Change(const EntryName& name, const Step& step);
  void Tell(const EntryName& name);
  void SetSink(source::Sink* sink);

  const size_t most_entries_;
  AmendedEntries amended_;
  source::TaskLoop loop_;
  std::mutex mutex_;
  source::Sink* sink_ = nullptr;                // guarded by mutex_
  std::map<EntryName, Registered> registered_;  // of the thread
  std::thread thread_;
};

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_MEMORY_STORE_H_
