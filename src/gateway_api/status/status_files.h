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
#include "gateway_api/status/statuses.h"

namespace fairlead::gateway_api {

// Writes statuses as files, where there is no API server to write them to: KIND.NAMESPACE.NAME.json for each
// object (KIND.NAME.json where it has no namespace), as ToJson lists them, each condition with the time when
// its status changed. A file is written beside its place and renamed into it, only when it changes, at most
// once a second for all; the file of an object of which nothing is said any more is removed. Files that are
// there at the start are what was written before. On a thread of its own.
class StatusFiles {
 public:
  using Source = std::function<std::vector<StatusOf>()>;

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
  void WriteAll();
  void Write(const std::string& name, Json object);
  void ReadExisting(const std::string& name);
  void RemoveOthers(const std::map<std::string, Json>& wanted);

  const std::string folder_;
  const Source statuses_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool published_ = false, stopping_ = false;  // guarded by mutex_
  std::thread thread_;
  std::map<std::string, Json> written_;  // by file name; the thread's own
  bool failed_ = false;                  // something could not be written; the thread's own
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_FILES_H_
