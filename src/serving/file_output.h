#ifndef FAIRLEAD_SERVING_FILE_OUTPUT_H_
#define FAIRLEAD_SERVING_FILE_OUTPUT_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "push/stream/pusher.h"
#include "serving/node_list.h"
#include "source/file/watched_files.h"

namespace fairlead::serving {

// Writes what proxies are to have as files that Envoy watches (path_config_source): for each node of a list a
// folder, named after the node's id, with
//
//   cds.json, lds.json       all clusters, all listeners
//   eds/NAME.json            the endpoints of a cluster, rds/NAME.json a route configuration
//   nds.json                 the name table, for agents
//
// each a DiscoveryResponse; references between them are paths below the folder. A file is written beside its
// place and renamed into it, only when it changes, what is referred to first; what nothing refers to any more
// is removed at the end of a round. What cannot be written is tried again every two seconds. All stay when
// the program ends.
class FileOutput {
 public:
  struct Options {
    std::string folder;  // --xdsOutDir
    std::string nodes;   // --xdsOutNodes, see NodeList
  };

  // The pusher must outlive this.
  FileOutput(Options options, const push::Pusher* pusher);
  ~FileOutput();  // as Stop()
  // Reads the nodes, and writes after the first publication. Fails where the folder cannot be made.
  absl::Status Start();
  // There is a new snapshot. Thread-safe.
  void OnPublished();
  void Stop();

 private:
  class NodeFolder;
  void Run();
  void ReadNodes();
  bool WriteAll();  // false: something could not be written

  const Options options_;
  const push::Pusher* const pusher_;
  std::mutex mutex_;
  source::WatchedFiles watch_{std::chrono::milliseconds(100)};  // of the nodes; of the thread
  bool published_ = false, stopping_ = false;                   // guarded by mutex_
  std::thread thread_;

  // The thread's own.
  NodeList nodes_;
  std::map<std::string, std::unique_ptr<NodeFolder>> folders_;  // by node id
};

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_FILE_OUTPUT_H_
