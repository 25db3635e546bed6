#ifndef FAIRLEAD_SERVING_NODE_LIST_H_
#define FAIRLEAD_SERVING_NODE_LIST_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/proxy.h"

namespace fairlead::serving {

// The nodes of a file or of a folder of files (*.json, *.yaml, *.yml). Each is a Node as in Envoy's
// bootstrap, alone or in a list; a file may have several YAML documents.
class NodeList {
 public:
  explicit NodeList(std::string path) : path_(std::move(path)) {}

  // Reads the files again if they changed since the last call; true where they did. Nodes that cannot be read
  // are logged and left out.
  bool Refresh();
  // All that Refresh reads, and a name that a new file may have: to be watched.
  std::vector<std::string> Files() const;
  const std::map<std::string, model::ProxyPtr>& nodes() const { return nodes_; }  // by node id

 private:
  const std::string path_;
  std::string seen_;  // the files' texts as they were read last
  std::map<std::string, model::ProxyPtr> nodes_;
};

// The nodes of one file's text; InvalidArgument says what is wrong.
absl::StatusOr<std::map<std::string, model::ProxyPtr>> ParseNodes(const std::string& text);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_NODE_LIST_H_
