#include "app/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

LogScope pki_log("pkica");

constexpr char kEarlierFolder[] = "./var/lib/fairlead/ca";

bool HasRoot(const std::string& folder) {
  struct stat found {};
  return stat(StrCat(folder, "/ca-key.pem").c_str(), &found) == 0;
}

}  // namespace

std::string DefaultStateFolder(const std::function<const char*(const char*)>& get) {
  const auto variable = [&get](const char* name) {
    const char* const value = get(name);
    return std::string(value == nullptr ? "" : value);
  };
  // Of several that systemd was told the first.
  const std::string of_unit(Split(variable("STATE_DIRECTORY"), ':').front());
  if (of_unit.starts_with('/')) return of_unit;
  if (geteuid() == 0) return "/var/lib/fairlead";
  const std::string state = variable("XDG_STATE_HOME"), home = variable("HOME");
  if (state.starts_with('/')) return state + "/fairlead";
  if (home.starts_with('/')) return home + "/.local/state/fairlead";
  return AbsolutePath("./var/lib/fairlead");
}

std::string AuthorityFolder(const DiscoveryOptions& options) {
  if (!options.environment.ca_dir.empty()) return AbsolutePath(options.environment.ca_dir);
  const std::string& state =
      options.state_dir.empty() ? options.environment.default_state_dir : options.state_dir;
  std::string folder = StrCat(AbsolutePath(state), "/ca");
  if (HasRoot(folder) || !HasRoot(kEarlierFolder)) return folder;
  pki_log.Warn("the root in {} is used, where earlier versions kept it; move it to {}",
               AbsolutePath(kEarlierFolder), folder);
  return AbsolutePath(kEarlierFolder);
}

std::string TokenFolder(const std::string& state_folder) {
  return state_folder.empty() ? "" : StrCat(AbsolutePath(state_folder), "/tokens");
}

std::string RootFile(const DiscoveryOptions& options) {
  return options.state_dir.empty() ? "" : StrCat(AbsolutePath(options.state_dir), "/root-cert.pem");
}

}  // namespace fairlead::app
