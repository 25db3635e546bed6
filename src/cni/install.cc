#include "cni/install.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "cni/conflist.h"
#include "kube/access.h"
#include "redirect/options.h"

namespace fairlead::cni {
namespace {

using nlohmann::ordered_json;

LogScope install_log("cni");

constexpr char kOwnConfiguration[] = "10-fairlead-cni.conf";

absl::Status Failed(std::string_view path) {
  return absl::UnavailableError(StrCat(path, ": ", ErrnoText(errno)));
}

// The text of a file; "" where there is none.
std::string TextOf(const std::string& path) {
  auto text = kube::ReadSmallFile(path);
  return text.ok() ? *std::move(text) : "";
}

mode_t ModeOf(const std::string& path, mode_t fallback) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : fallback;
}

absl::Status WriteWithMode(const std::string& path, const std::string& text, mode_t mode) {
  if (absl::Status status = WriteFileAtomically(path, text); !status.ok()) return status;
  return chmod(path.c_str(), mode) == 0 ? absl::OkStatus() : Failed(path);
}

absl::Status CopyAll(int from, int to, off_t size, const std::string& path) {
  for (off_t at = 0; at < size;) {
    const ssize_t count = sendfile(to, from, &at, static_cast<size_t>(size - at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(path);
    if (count == 0) return absl::UnavailableError(StrCat(path, ": the program became shorter meanwhile"));
  }
  return fsync(to) == 0 ? absl::OkStatus() : Failed(path);
}

absl::Status CopyProgram(const std::string& from, const std::string& to) {
  const std::string beside = to + ".tmp";
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return Failed(from);
  struct stat found {};
  fstat(source, &found);
  unlink(beside.c_str());
  const int target = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  absl::Status status = target < 0 ? Failed(beside) : CopyAll(source, target, found.st_size, beside);
  if (status.ok() && fchmod(target, 0755) != 0) status = Failed(beside);
  close(source);
  if (target >= 0) close(target);
  if (status.ok()) status = RenameFile(beside, to);
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

// A network configuration's name without the part that tells a list from one plugin.
std::string ListName(const std::string& path) { return path.ends_with(".conf") ? path + "list" : path; }

}  // namespace

std::string Installation::ProgramFile() const {
  return StrCat(options_.binary_folder, "/", options_.plugin_name);
}
std::string Installation::KubeconfigFile() const {
  return StrCat(options_.run_folder, "/istio-cni-kubeconfig");
}

absl::Status Installation::RenewProgram() {
  struct stat ours {
  }, there{};
  if (stat(program_.c_str(), &ours) != 0) return Failed(program_);
  const std::string path = ProgramFile();
  const bool same = stat(path.c_str(), &there) == 0 && there.st_size == ours.st_size &&
                    (there.st_mode & 0111) != 0 && there.st_mtime >= ours.st_mtime;
  if (same) return absl::OkStatus();
  if (absl::Status status = CreateFolders(options_.binary_folder); !status.ok()) return status;
  if (absl::Status status = CopyProgram(program_, path); !status.ok()) return status;
  install_log.Info("the program is {}", path);
  return absl::OkStatus();
}

absl::Status Installation::RenewKubeconfig() const {
  if (options_.api_host.empty() || options_.api_port.empty())
    return absl::FailedPreconditionError("KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  std::string roots;
  if (!IsOn(options_.unverified)) {
    auto read = kube::ReadSmallFile(options_.roots_file.empty() ? options_.account_folder + "/ca.crt"
                                                                : options_.roots_file);
    if (!read.ok()) return read.status();
    roots = *std::move(read);
  }
  const auto token = kube::ReadSmallFile(options_.account_folder + "/token");
  if (!token.ok()) return token.status();
  const bool v6 = options_.api_host.find(':') != std::string::npos;
  const std::string server =
      StrCat("https://", v6 ? "[" : "", options_.api_host, v6 ? "]" : "", ":", options_.api_port);
  const std::string text = KubeconfigText(server, roots, *token), path = KubeconfigFile();
  if (TextOf(path) == text && ModeOf(path, 0) == 0600) return absl::OkStatus();
  if (absl::Status status = CreateFolders(options_.run_folder); !status.ok()) return status;
  if (absl::Status status = WritePrivateFile(path, text); !status.ok()) return status;
  install_log.Info("the kubeconfig is {}", path);
  return absl::OkStatus();
}

// The file that runtimes read, or "": the first network configuration by name.
std::string Installation::ConfigurationFile() const {
  const std::string folder = options_.network_folder + "/";
  if (!IsOn(options_.chained))
    return folder + (options_.network_file.empty() ? kOwnConfiguration : options_.network_file);
  if (!options_.network_file.empty()) {
    const std::string path = folder + options_.network_file;
    return access(path.c_str(), F_OK) != 0 && access(ListName(path).c_str(), F_OK) == 0 ? ListName(path)
                                                                                        : path;
  }
  for (const std::string& name : ListFolder(options_.network_folder).value_or(std::vector<std::string>())) {
    const bool by_name = name.ends_with(".conf") || name.ends_with(".conflist");
    if (by_name && IsNetworkConfiguration(TextOf(folder + name))) return folder + name;
  }
  return "";
}

absl::Status Installation::RenewConfiguration() const {
  const std::string path = ConfigurationFile();
  ordered_json plugin{{"type", options_.plugin_name},
                      {"name", options_.plugin_name},
                      {"plugin_log_level", options_.plugin_log_level},
                      {"kubeconfig", KubeconfigFile()},
                      {"exclude_namespaces", redirect::Entries(options_.excluded_namespaces)},
                      {"pod_namespace", options_.own_namespace},
                      {"native_nftables", IsOn(options_.native_nftables)}};
  if (!IsOn(options_.chained)) {
    plugin["cniVersion"] = "0.3.1";
    const std::string text = JsonText(plugin, 2) + "\n";
    return TextOf(path) == text ? absl::OkStatus() : WriteWithMode(path, text, 0600);
  }
  const std::string before = path.empty() ? "" : TextOf(path);
  if (before.empty())
    return absl::NotFoundError(
        StrCat(path.empty() ? options_.network_folder : path, ": there is no network configuration yet"));
  const auto text = WithPlugin(before, plugin);
  if (!text.ok()) return absl::UnavailableError(StrCat(path, ": ", FromAbsl(text.status().message())));
  if (before == *text && path == ListName(path)) return absl::OkStatus();
  if (absl::Status status = WriteWithMode(ListName(path), *text, ModeOf(path, 0600)); !status.ok())
    return status;
  if (path != ListName(path)) unlink(path.c_str());
  install_log.Info("{} is in the network configuration {}", options_.plugin_name, ListName(path));
  return absl::OkStatus();
}

absl::Status Installation::Renew() {
  absl::Status status = RenewProgram();
  if (status.ok()) status = RenewKubeconfig();
  if (status.ok()) status = RenewConfiguration();
  return status;
}

absl::Status Installation::Remove() {
  absl::Status status;
  const std::string path = ConfigurationFile(), before = path.empty() ? "" : TextOf(path);
  if (!IsOn(options_.chained)) {
    status = RemoveFile(path);
  } else if (!before.empty()) {
    const auto text = WithoutPlugin(before, options_.plugin_name);
    if (text.ok() && *text != before) status = WriteWithMode(path, *text, ModeOf(path, 0600));
  }
  status.Update(RemoveFile(KubeconfigFile()));
  status.Update(RemoveFile(ProgramFile()));
  return status;
}

}  // namespace fairlead::cni
