#ifndef FAIRLEAD_AGENT_PROXY_SUBSCRIPTIONS_H_
#define FAIRLEAD_AGENT_PROXY_SUBSCRIPTIONS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::agent {

// The subscriptions of a proxy on one ADS stream, and the versions that it has accepted, so that another
// control plane can go on with the stream. Nothing of resources is kept but names and versions. For one
// thread at a time. Source: envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol
class ProxySubscriptions {
 public:
  explicit ProxySubscriptions(bool delta) : delta_(delta) {}

  // A request of the proxy. The result is for the present control plane: the request itself, or its news
  // where it answers an earlier control plane; "" for no news. ResourceExhausted: more types than a proxy
  // needs.
  absl::StatusOr<std::string> OnRequest(std::string_view request);
  // A response on its way to the proxy.
  void OnResponse(std::string_view response);
  // Another control plane begins. The result is what it must hear: a request for each type, in the order of
  // the proxy's first requests.
  std::vector<std::string> Restore();
  bool AsksFor(std::string_view type) const;
  // State of the world: the last request for the type, without node, nonce and error; "" if there was none.
  std::string LastRequest(std::string_view type) const;

 private:
  // A response that the proxy has been given, with its news.
  struct Given {
    std::string nonce;
    size_t control_plane = 0;
    bool answered = false;
    std::vector<std::pair<std::string, std::string>> added;  // names and versions
    std::vector<std::string> removed;
  };
  struct OfType {
    std::string type;
    std::string request;  // state of the world: the last one; delta: the first one without names
    std::set<std::string> names;
    bool everything = false;                  // delta: subscribed to all resources
    std::map<std::string, std::string> held;  // delta: versions of accepted resources
    std::deque<Given> given;
  };
  OfType* Find(std::string_view type);
  absl::StatusOr<OfType*> FindOrAdd(const std::string& type);
  // The response that the request answers; null if none does. Earlier ones are forgotten.
  static Given* Answered(const std::string& nonce, OfType* of);
  static void Accept(Given* given, OfType* of);
  bool IsStale(const std::string& nonce, const Given* given) const;
  absl::StatusOr<std::string> OnWhole(std::string_view bytes);
  absl::StatusOr<std::string> OnDelta(std::string_view bytes);
  std::string RestoreDelta(const OfType& of) const;

  const bool delta_;
  size_t control_plane_ = 0;  // counts Restore
  std::string node_;          // encoded, of the first request that has it
  std::vector<OfType> types_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_PROXY_SUBSCRIPTIONS_H_
