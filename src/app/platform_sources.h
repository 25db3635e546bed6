#ifndef FAIRLEAD_APP_PLATFORM_SOURCES_H_
#define FAIRLEAD_APP_PLATFORM_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "source/source.h"

namespace fairlead::app {

// The sources of --configSource and of MeshConfig's configSources, in this order, each once. Of the
// MeshConfig the file counts as it is at the start; addresses of platforms that are not known are left to its
// diagnostics. InvalidArgument names the URL and what is wrong with it.
absl::StatusOr<std::vector<std::unique_ptr<source::Source>>> MakePlatformSources(
    const DiscoveryOptions& options);

// "" where a URL of a source can be used, else why not. For --configSource.
std::string WhyNoPlatformSource(const std::string& url);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_PLATFORM_SOURCES_H_
