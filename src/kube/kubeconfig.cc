#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/base64.h"
#include "base/errno_text.h"
#include "base/strings.h"
#include "config/read/yaml.h"
#include "kube/access.h"

namespace fairlead::kube {
namespace {

using config::Node;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Reads one kubeconfig; the first mistake counts.
class KubeconfigReader {
 public:
  // `folder`: what paths in it are relative to, with a slash at its end; "": the working folder.
  KubeconfigReader(const std::string& path, std::string folder, Node root)
      : path_(path), folder_(std::move(folder)), root_(root) {}

  // What ParseUntrustedKubeconfig does not accept; the first of it.
  absl::Status CheckUsers(const std::set<std::string, std::less<>>& accepted) {
    size_t index = 0;
    for (Node entry : root_.Find("users").elements()) {
      const Node user = entry.Find("user");
      const std::string path = StrCat("users[", index++, "].user");
      for (const auto& [key, option] : kUnsafe) {
        const Node field = user.Find(key);
        const bool set = field && !field.IsNull() && !(field.IsScalar() && field.text().empty());
        if (set && !accepted.contains(option))
          Mistake(field, Below(path, key),
                  "this is not accepted of another cluster (PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS)");
      }
    }
    return status_;
  }

  absl::StatusOr<ServerAccess> Read(std::string_view wanted) {
    if (!root_.IsMapping()) {
      Mistake(root_, "", "this is no kubeconfig");
      return status_;
    }
    const std::string name(wanted.empty() ? Text(root_, "", "current-context") : wanted);
    if (name.empty()) Mistake(root_, "current-context", "no context is chosen");
    ServerAccess access;
    access.described = StrCat("context ", name, " of ", path_);
    const Named context = Find("contexts", "context", name, root_.Find("current-context"), "current-context");
    const Node cluster_name = context.node.Find("cluster"), user_name = context.node.Find("user");
    const Named cluster = Find("clusters", "cluster", Text(context.node, context.path, "cluster"),
                               cluster_name, context.path + ".cluster");
    TakeCluster(cluster, access);
    if (!cluster_name) Mistake(context.node, context.path + ".cluster", "the context names no cluster");
    if (user_name) {
      const std::string user = Text(context.node, context.path, "user");
      if (!user.empty()) TakeUser(Find("users", "user", user, user_name, context.path + ".user"), access);
    }
    if (!status_.ok()) return status_;
    return access;
  }

 private:
  // Fields of users, and what the options call them.
  static constexpr std::pair<std::string_view, std::string_view> kUnsafe[] = {
      {"client-certificate", "clientCertificate"},
      {"client-key", "clientKey"},
      {"tokenFile", "tokenFile"},
      {"exec", "exec"}};
  struct Named {
    Node node;
    std::string path;
  };

  void Mistake(Node at, std::string_view field, std::string_view message) {
    if (!status_.ok()) return;
    const int line = at.line() > 0 ? at.line() : 1;
    status_ =
        absl::InvalidArgumentError(StrCat(path_, ":", line, ": ", field, field.empty() ? "" : ": ", message));
  }

  std::string Text(Node parent, const std::string& path, std::string_view key) {
    const Node node = parent.Find(key);
    if (node.IsNull()) return "";
    if (!node.IsScalar())
      Mistake(node, Below(path, key), StrCat("expected a string, got ", config::NameOf(node.type())));
    return std::string(node.text());
  }

  bool Flag(const Named& of, std::string_view key) {
    const Node node = of.node.Find(key);
    if (!node.IsNull() && node.type() != config::NodeType::kBool)
      Mistake(node, Below(of.path, key), StrCat("expected a boolean, got ", config::NameOf(node.type())));
    return node.Bool();
  }

  static std::string Below(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : StrCat(path, ".", key);
  }

  // The entry of a list with that name: contexts[2].context.
  Named Find(std::string_view list, std::string_view key, const std::string& name, Node asked,
             const std::string& asked_path) {
    if (!status_.ok()) return {};
    const Node entries = root_.Find(list);
    if (!entries.IsNull() && !entries.IsSequence())
      Mistake(entries, list, StrCat("expected a list, got ", config::NameOf(entries.type())));
    size_t index = 0;
    for (Node entry : entries.elements()) {
      const std::string path = StrCat(list, "[", index++, "]");
      if (entry.Find("name").text() != name) continue;
      const Node node = entry.Find(key);
      if (!node.IsMapping())
        Mistake(node ? node : entry, StrCat(path, ".", key),
                StrCat("expected a mapping, got ", config::NameOf(node.type())));
      return {node, StrCat(path, ".", key)};
    }
    Mistake(asked ? asked : root_, asked_path, StrCat("there is no ", key, " \"", name, "\""));
    return {};
  }

  std::string PathOf(const Named& of, std::string_view key) {
    std::string path = Text(of.node, of.path, key);
    if (!path.empty() && !path.starts_with('/')) path = folder_ + path;
    return path;
  }

  std::string Data(const Named& of, std::string_view key) {
    const std::string text = Text(of.node, of.path, key);
    if (text.empty()) return "";
    std::optional<std::string> bytes = DecodeBase64(text);
    if (!bytes) Mistake(of.node.Find(key), Below(of.path, key), "this is no base64");
    return bytes.value_or("");
  }

  void TakeCluster(const Named& cluster, ServerAccess& access) {
    if (!status_.ok()) return;
    std::string server = Text(cluster.node, cluster.path, "server");
    while (server.ends_with('/')) server.pop_back();
    const std::string lower = AsciiLower(server);
    if (!server.empty() && !lower.starts_with("http://") && !lower.starts_with("https://"))
      server = StrCat("https://", server);
    if (server.empty())
      Mistake(cluster.node.Find("server") ? cluster.node.Find("server") : cluster.node,
              cluster.path + ".server", "the cluster has no server");
    access.server = std::move(server);
    access.tls.unverified = Flag(cluster, "insecure-skip-tls-verify");
    access.tls.server_name = Text(cluster.node, cluster.path, "tls-server-name");
    access.tls.roots = Data(cluster, "certificate-authority-data");
    if (access.tls.roots.empty()) access.tls.roots_file = PathOf(cluster, "certificate-authority");
    const bool roots = !access.tls.roots.empty() || !access.tls.roots_file.empty();
    if (access.tls.unverified && roots)
      Mistake(cluster.node.Find("insecure-skip-tls-verify"), cluster.path + ".insecure-skip-tls-verify",
              "a certificate authority is given, too");
    if (const std::string proxy = Text(cluster.node, cluster.path, "proxy-url"); !proxy.empty())
      access.proxy = proxy;
  }

  void TakeUser(const Named& user, ServerAccess& access) {
    if (!status_.ok()) return;
    access.tls.certificate = Data(user, "client-certificate-data");
    access.tls.key = Data(user, "client-key-data");
    if (access.tls.certificate.empty()) access.certificate_file = PathOf(user, "client-certificate");
    if (access.tls.key.empty()) access.key_file = PathOf(user, "client-key");
    const bool certificate = !access.tls.certificate.empty() || !access.certificate_file.empty();
    const bool key = !access.tls.key.empty() || !access.key_file.empty();
    if (certificate != key)
      Mistake(user.node, user.path,
              certificate ? "a client certificate has no key" : "a client key has no certificate");
    access.token_file = PathOf(user, "tokenFile");
    if (access.token_file.empty()) access.token = Text(user.node, user.path, "token");
    TakeHeaders(user, access);
    if (user.node.Find("auth-provider"))
      Mistake(user.node.Find("auth-provider"), user.path + ".auth-provider",
              "this is no longer read by clients of Kubernetes; use exec");
    if (const Node exec = user.node.Find("exec"); !exec.IsNull())
      TakeExec({exec, user.path + ".exec"}, access);
  }

  void AddHeader(std::string_view name, const std::string& value, Node at, const std::string& path,
                 ServerAccess& access) {
    if (value.empty()) return;
    if (value.find_first_of("\r\n") != std::string::npos) return Mistake(at, path, "this has a line end");
    access.headers.push_back(StrCat(name, ": ", value));
  }

  void TakeHeaders(const Named& user, ServerAccess& access) {
    if (user.node.Find("username"))
      Mistake(user.node.Find("username"), user.path + ".username", "API servers take no passwords any more");
    AddHeader("Impersonate-User", Text(user.node, user.path, "as"), user.node.Find("as"), user.path + ".as",
              access);
    AddHeader("Impersonate-Uid", Text(user.node, user.path, "as-uid"), user.node.Find("as-uid"),
              user.path + ".as-uid", access);
    for (Node group : user.node.Find("as-groups").elements())
      AddHeader("Impersonate-Group", std::string(group.text()), group, user.path + ".as-groups", access);
  }

  void TakeExec(const Named& exec, ServerAccess& access) {
    if (!exec.node.IsMapping())
      return Mistake(exec.node, exec.path,
                     StrCat("expected a mapping, got ", config::NameOf(exec.node.type())));
    ExecPlugin plugin;
    plugin.command = Text(exec.node, exec.path, "command");
    if (plugin.command.empty()) Mistake(exec.node, exec.path + ".command", "the plug-in has no command");
    if (plugin.command.find('/') != std::string::npos && !plugin.command.starts_with('/'))
      plugin.command = folder_ + plugin.command;
    plugin.api_version = Text(exec.node, exec.path, "apiVersion");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
      Mistake(exec.node.Find("apiVersion") ? exec.node.Find("apiVersion") : exec.node,
              exec.path + ".apiVersion",
              "expected client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
    for (Node argument : exec.node.Find("args").elements()) plugin.arguments.emplace_back(argument.text());
    for (Node variable : exec.node.Find("env").elements())
      plugin.environment[std::string(variable.Find("name").text())] = variable.Find("value").text();
    plugin.install_hint = Text(exec.node, exec.path, "installHint");
    plugin.tell_cluster = Flag(exec, "provideClusterInfo");
    if (Text(exec.node, exec.path, "interactiveMode") == "Always")
      Mistake(exec.node.Find("interactiveMode"), exec.path + ".interactiveMode",
              "a control plane has no terminal to ask at");
    access.exec = std::move(plugin);
  }

  const std::string& path_;
  const std::string folder_;
  const Node root_;
  absl::Status status_;
};

absl::Status Readable(const config::YamlDocument& document, const std::string& path) {
  if (document.problems.empty()) return absl::OkStatus();
  const config::YamlProblem& problem = document.problems.front();
  return absl::InvalidArgumentError(
      StrCat(path, ":", problem.line, ": ", problem.path, problem.path.empty() ? "" : ": ", problem.message));
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  constexpr size_t kMost = 1 << 20;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  const auto failed = [&path] {
    const std::string text = StrCat(path, ": ", ErrnoText(errno));
    return errno == ENOENT   ? absl::NotFoundError(text)
           : errno == EACCES ? absl::PermissionDeniedError(text)
                             : absl::UnavailableError(text);
  };
  if (file == nullptr) return failed();
  std::string text(kMost + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return failed();
  if (text.size() > kMost) return absl::InvalidArgumentError(StrCat(path, ": larger than 1 MiB"));
  return text;
}

absl::StatusOr<ServerAccess> ParseKubeconfig(std::string_view text, const std::string& path,
                                             std::string_view context) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  if (absl::Status status = Readable(document, path); !status.ok()) return status;
  const size_t slash = path.rfind('/');
  return KubeconfigReader(path, slash == std::string::npos ? "" : path.substr(0, slash + 1),
                          document.tree.root())
      .Read(context);
}

absl::StatusOr<ServerAccess> ParseUntrustedKubeconfig(std::string_view text, const std::string& where,
                                                      const std::set<std::string, std::less<>>& accepted) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  if (absl::Status status = Readable(document, where); !status.ok()) return status;
  KubeconfigReader reader(where, "", document.tree.root());
  if (absl::Status status = reader.CheckUsers(accepted); !status.ok()) return status;
  return reader.Read("");
}

absl::StatusOr<ServerAccess> ReadKubeconfig(const std::string& path, std::string_view context) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  return ParseKubeconfig(*text, path, context);
}

absl::StatusOr<ServerAccess> InClusterAccess(std::string_view host, std::string_view port,
                                             const std::string& folder) {
  if (host.empty() || port.empty())
    return absl::InvalidArgumentError(
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no API server");
  ServerAccess access;
  const bool v6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  access.server = StrCat("https://", v6 ? "[" : "", host, v6 ? "]" : "", ":", port);
  access.token_file = folder + "/token";
  access.tls.roots_file = folder + "/ca.crt";
  access.described = StrCat("the cluster of ", host);
  for (const std::string& file : {access.token_file, access.tls.roots_file}) {
    if (absl::StatusOr<std::string> text = ReadSmallFile(file); !text.ok()) return text.status();
  }
  return access;
}

}  // namespace fairlead::kube
