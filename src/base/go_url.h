#ifndef FAIRLEAD_BASE_GO_URL_H_
#define FAIRLEAD_BASE_GO_URL_H_

#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

// A URL as Go's net/url reads it, which is what Istio and Kubernetes check URLs with.
struct GoUrl {
  std::string scheme;  // in lower case; "" where there is none
  std::string host;    // with the port
  std::string path;
};

// Go's url.Parse: absolute or relative, a fragment allowed. Nothing where that refuses it.
std::optional<GoUrl> ParseUrl(std::string_view text);
// Go's url.ParseRequestURI: an absolute URI or an absolute path, "#" has no meaning.
std::optional<GoUrl> ParseRequestUri(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_GO_URL_H_
