#ifndef FAIRLEAD_APP_PLATFORM_SOURCES_H_
#define FAIRLEAD_APP_PLATFORM_SOURCES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "source/source.h"

namespace fairlead::app {

// The sources of --configSource and of MeshConfig's configSources, in this order, each once. Of the
// MeshConfig the file counts as it is at the start; addresses of platforms that are not known are left to its
// diagnostics. InvalidArgument names the URL and what is wrong with it.
struct OrderedSources {
  std::vector<std::unique_ptr<source::Source>> sources;
  // So many of them come before the API server (k8s://); nothing: all do.
  std::optional<size_t> before_cluster = {};
};
using FolderSource = std::function<std::unique_ptr<source::Source>(const std::string& folder)>;
absl::StatusOr<OrderedSources> MakePlatformSources(const DiscoveryOptions& options,
                                                   const FolderSource& make_folder);

// URLs among --registries become sources; the other names are Kubernetes and Istio's Mock. InvalidArgument
// names what is neither.
absl::Status TakeRegistries(DiscoveryOptions* options);

// The URLs of all of them.
std::vector<std::string> PlatformUrlsOf(const DiscoveryOptions& options);

// "" where a URL of a source can be used, else why not. For --configSource.
std::string PlatformSourceProblem(const std::string& url);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_PLATFORM_SOURCES_H_
