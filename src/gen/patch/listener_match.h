#ifndef FAIRLEAD_GEN_PATCH_LISTENER_MATCH_H_
#define FAIRLEAD_GEN_PATCH_LISTENER_MATCH_H_

#include <string>

#include "gen/patch/patch.h"

namespace envoy::config::listener::v3 {
class FilterChain;
class Listener;
}  // namespace envoy::config::listener::v3

// Whether a patch is for a part of a listener. Each assumes that what is around the part was matched already.
// Pure. Source: Istio's listenerMatch, filterChainMatch, networkFilterMatch, httpFilterMatch.
namespace fairlead::gen::patch {

bool MatchesListener(const Patch& patch, const envoy::config::listener::v3::Listener& listener);
bool MatchesChain(const Patch& patch, const envoy::config::listener::v3::Listener& listener,
                  const envoy::config::listener::v3::FilterChain& chain);

// Whether the patch names a filter, and whether it is that one (any, where it names none).
bool NamesListenerFilter(const Patch& patch);
bool MatchesListenerFilter(const Patch& patch, const std::string& name);
bool NamesNetworkFilter(const Patch& patch);
bool MatchesNetworkFilter(const Patch& patch, const std::string& name);
bool NamesHttpFilter(const Patch& patch);
bool MatchesHttpFilter(const Patch& patch, const std::string& name);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_LISTENER_MATCH_H_
