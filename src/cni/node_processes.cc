#include "cni/node_processes.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/ip_address.h"
#include "base/strings.h"
#include "cni/pod_namespace.h"
#include "redirect/options.h"

namespace fairlead::cni {
namespace {

bool IsProcess(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Whether the namespace of a file has the address.
bool HasAddress(const std::string& file, const std::string& address) {
  const auto entered = PodNamespace::Enter(file);
  if (!entered.ok()) return false;
  const std::vector<std::string> addresses = redirect::CurrentAddresses().addresses;
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

absl::StatusOr<std::string> FindPodNamespace(const std::string& folder, const std::string& address) {
  const auto wanted = IpAddress::Parse(address);
  if (!wanted) return absl::InvalidArgumentError(StrCat("\"", address, "\" is no address of a Pod"));
  const auto names = ListFolder(folder);
  if (!names.ok()) return names.status();
  // The node's own namespace has addresses of no pod but those that share it.
  struct stat of_node {};
  std::set<ino_t> seen;
  if (stat(StrCat(folder, "/1/ns/net").c_str(), &of_node) == 0) seen.insert(of_node.st_ino);
  for (const std::string& name : *names) {
    if (!IsProcess(name)) continue;
    std::string file = StrCat(folder, "/", name, "/ns/net");
    struct stat found {};
    if (stat(file.c_str(), &found) != 0 || !seen.insert(found.st_ino).second) continue;
    if (HasAddress(file, wanted->ToString())) return file;
  }
  return absl::NotFoundError(StrCat("no process of the node has the address ", address));
}

}  // namespace fairlead::cni
