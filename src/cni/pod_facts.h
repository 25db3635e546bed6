#ifndef FAIRLEAD_CNI_POD_FACTS_H_
#define FAIRLEAD_CNI_POD_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/tree.h"
#include "redirect/options.h"

namespace fairlead::cni {

// What of a Pod decides about its redirection and its repair. A plain value.
struct PodFacts {
  using Texts = std::map<std::string, std::string, std::less<>>;

  struct InitContainer {
    std::string name;
    // How it ended now, and before its last start; none: it runs or has never ended.
    struct End {
      int64_t exit_code = 0;
      std::string reason, message;
    };
    std::optional<End> end, last_end;
  };

  std::string name, ns, uid, version, address;
  Texts labels, annotations;
  std::set<std::string, std::less<>> containers;  // init containers, too
  Texts proxy_environment;                        // of the container istio-proxy
  std::string proxy_type;                         // "sidecar" of its arguments "proxy sidecar"; "": not given
  int64_t proxy_user = 0, proxy_group = 0;        // 0: not given
  std::vector<InitContainer> init_containers;     // by status
};

// Of a Pod as JSON; what is missing or of another type counts as not given.
PodFacts ReadPodFacts(config::Node pod);

// Whether a pod's traffic is to be redirected by its node. `why_not` is for people; "": it is.
struct PodVerdict {
  std::string why_not;
  redirect::RedirectOptions options;
};

// As istio-cni judges: pods with the container istio-proxy and the annotation sidecar.istio.io/status, unless
// they have an init container for it or say no. InvalidArgument names an annotation with a wrong value. A
// pure function; the options lack what redirect::FillIn adds. Source:
// istio.io/latest/docs/reference/config/annotations, Istio's cni/pkg/plugin
absl::StatusOr<PodVerdict> JudgePod(const PodFacts& pod);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_POD_FACTS_H_
