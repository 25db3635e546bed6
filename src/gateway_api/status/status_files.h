#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_FILES_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_FILES_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gateway_api/status/status_board.h"

namespace fairlead::gateway_api {

// Writes statuses as files, where there is no API server to write them to: KIND.NAMESPACE.NAME.json for each
// object (KIND.NAME.json where it has no namespace), as ToJson lists them, each condition with the time when
// its status changed. A file is written beside its place and renamed into it, only when it changes, at most
// once a second for all; what did not change costs nothing. The file of an object of which nothing is said
// any more is removed. Files that are there at the start are what was written before. On a thread of its own.
class StatusFiles {
 public:
  using Source = std::function<Statuses()>;

  // `statuses` is called on the thread.
  StatusFiles(std::string folder, Source statuses);
  ~StatusFiles();  // as Stop()
  // Fails where the folder cannot be made or written to.
  absl::Status Start();
  // Statuses may have changed. Thread-safe.
  void OnPublished();
  void Stop();

 private:
  using Json = nlohmann::ordered_json;
  void Run();
  void WriteChanges();
  void Write(const std::string& name, Json object);
  void ReadExisting(const std::string& name);
  void Remove(const std::string& name);
  void RemoveOthers(const Statuses& wanted);

  const std::string folder_;
  const Source statuses_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool published_ = false, stopping_ = false;  // guarded by mutex_
  std::thread thread_;
  // What follows is the thread's own.
  std::map<std::string, Json> written_;  // by file name
  Statuses seen_;                        // that were written last
  bool whole_ = true;  // all is to be looked at: at first, or something could not be written
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_FILES_H_
