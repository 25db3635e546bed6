#include "app/platform_sources.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "app/cluster_access.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/config_source.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/mesh_config.h"
#include "source/consul/consul_follower.h"
#include "source/copilot/copilot_follower.h"
#include "source/etcd/etcd_follower.h"
#include "source/file/read_file.h"
#include "source/marathon/marathon_follower.h"
#include "source/mcp/mcp_follower.h"
#include "source/mesos/mesos_follower.h"
#include "source/platform/kept_view.h"
#include "source/platform/platform_source.h"
#include "source/srv/srv_follower.h"

namespace fairlead::app {
namespace {

using FollowerPtr = std::unique_ptr<source::PlatformFollower>;

struct Followed {
  std::string name;
  FollowerPtr follower;
};

absl::StatusOr<Followed> MakeConsul(const std::string& url) {
  absl::StatusOr<source::ConsulOptions> options = source::ParseConsulOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::ConsulFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeEtcd(const std::string& url, bool deny_lost) {
  absl::StatusOr<source::EtcdOptions> options = source::ParseEtcdOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  options->deny_lost = deny_lost;
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::EtcdFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeMcp(const std::string& url, bool deny_lost) {
  absl::StatusOr<source::McpOptions> options = source::ParseMcpOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  options->deny_lost = deny_lost;
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::McpFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeMarathon(const std::string& url) {
  absl::StatusOr<source::MarathonOptions> options = source::ParseMarathonOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::MarathonFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeMesos(const std::string& url) {
  absl::StatusOr<source::MesosOptions> options = source::ParseMesosOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::MesosFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeCopilot(const std::string& url) {
  absl::StatusOr<source::CopilotOptions> options = source::ParseCopilotOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  std::string name = options->url.Name();
  return Followed{std::move(name), std::make_unique<source::CopilotFollower>(*std::move(options))};
}

absl::StatusOr<Followed> MakeSrv(const std::string& url) {
  absl::StatusOr<source::SrvOptions> options = source::ParseSrvOptions(url);
  if (!options.ok()) return options.status();
  options->seed = std::random_device()();
  std::string name = options->Name();
  return Followed{std::move(name), std::make_unique<source::SrvFollower>(*std::move(options))};
}

// A row each; config/config_source.h has the schemes.
absl::StatusOr<Followed> Make(const std::string& url, bool deny_lost) {
  const std::string_view scheme = source::SchemeOf(url);
  if (scheme == "consul") return MakeConsul(url);
  if (scheme == "copilot") return MakeCopilot(url);
  if (scheme == "dns+srv") return MakeSrv(url);
  if (scheme == "etcd") return MakeEtcd(url, deny_lost);
  if (scheme == "marathon") return MakeMarathon(url);
  if (scheme == "mesos") return MakeMesos(url);
  if (scheme == "xds") return MakeMcp(url, deny_lost);
  return absl::InvalidArgumentError(
      ToAbsl(StrCat("\"", url, "\": a source is one of ", Join(config::PlatformSchemes(), ":// "),
                    ":// fs:///FOLDER k8s://")));
}

// A file that cannot be read is the settings' business.
std::vector<std::string> OfMeshConfig(const std::string& path) {
  std::vector<std::string> urls;
  if (path.empty()) return urls;
  const absl::StatusOr<std::string> text = source::ReadFile(path);
  if (!text.ok()) return urls;
  const model::MeshConfigResult result = model::ParseMeshConfig(*text, path);
  if (result.mesh == nullptr) return urls;
  for (const auto& source : result.mesh->config_sources()) {
    if (config::IsKnownSource(source.address())) urls.push_back(source.address());
  }
  return urls;
}

}  // namespace

std::string PlatformSourceProblem(const std::string& url) {
  for (const std::string& one : source::SplitSourceUrls(url)) {
    if (!config::FolderOfSource(one).empty() || config::IsClusterSource(one)) continue;
    if (const auto made = Make(one, false); !made.ok()) return std::string(FromAbsl(made.status().message()));
  }
  return "";
}

std::vector<std::string> PlatformUrlsOf(const DiscoveryOptions& options) {
  std::vector<std::string> urls;
  for (const std::string& text : options.config_sources) {
    for (std::string& url : source::SplitSourceUrls(text)) urls.push_back(std::move(url));
  }
  for (std::string& url : OfMeshConfig(options.mesh_config)) urls.push_back(std::move(url));
  return urls;
}

absl::StatusOr<OrderedSources> MakePlatformSources(const DiscoveryOptions& options,
                                                   const FolderSource& make_folder) {
  OrderedSources made;
  std::set<std::string> seen, names;
  for (const std::string& url : PlatformUrlsOf(options)) {
    if (!seen.insert(url).second) continue;
    if (config::IsClusterSource(url)) {
      if (!ReadsCluster(options))
        return absl::InvalidArgumentError(
            ToAbsl(StrCat(url, ": no API server is read; --kubeconfig says which")));
      made.before_cluster = made.sources.size();
      continue;
    }
    if (const std::string folder(config::FolderOfSource(url)); !folder.empty()) {
      made.sources.push_back(make_folder(folder));
      continue;
    }
    absl::StatusOr<Followed> followed = Make(url, options.on_invalid_policy == "deny");
    if (!followed.ok()) return followed.status();
    // Two of one platform with other options have a name each, and a state each.
    source::PlatformSource::Options source;
    source.name = followed->name;
    for (int number = 2; !names.insert(source.name).second; ++number)
      source.name = StrCat(followed->name, " (", number, ")");
    if (!options.state_dir.empty())
      source.kept_file =
          StrCat(AbsolutePath(options.state_dir), "/sources/", source::KeptViewName(source.name));
    made.sources.push_back(
        std::make_unique<source::PlatformSource>(std::move(source), std::move(followed->follower)));
  }
  return made;
}

absl::Status TakeRegistries(DiscoveryOptions* options) {
  std::string urls;
  for (const std::string& text : options->registries) {
    const bool is_url = !source::SchemeOf(text).empty();
    if (text == "Kubernetes" || text == "Mock" || text.empty()) continue;
    if (!is_url && urls.empty())
      return absl::InvalidArgumentError(
          ToAbsl(StrCat("--registries: \"", text,
                        "\" is neither Kubernetes nor the URL of a platform, as in consul://HOST:8500")));
    StrAppend(&urls, urls.empty() ? "" : ",", text);  // a comma may be one of the URL before
  }
  if (urls.empty()) return absl::OkStatus();
  if (const std::string why = PlatformSourceProblem(urls); !why.empty())
    return absl::InvalidArgumentError(ToAbsl(StrCat("--registries: ", why)));
  options->config_sources.push_back(std::move(urls));
  return absl::OkStatus();
}

}  // namespace fairlead::app
