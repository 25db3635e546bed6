#ifndef FAIRLEAD_GEN_ROUTE_HEADERS_H_
#define FAIRLEAD_GEN_ROUTE_HEADERS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "envoy/config/core/v3/base.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {

// Pseudo-headers and Host cannot be changed as headers are; a change of Host becomes a host rewrite.
bool IsInternalHeader(std::string_view name);
bool IsAuthorityHeader(std::string_view name);

// A map's entries in the order of their keys.
std::vector<std::pair<std::string, std::string>> SortedEntries(
    const google::protobuf::Map<std::string, std::string>& map);

void SetHeaderOption(const std::string& name, const std::string& value, bool append,
                     envoy::config::core::v3::HeaderValueOption* out);

// Appends what `headers` asks for to a Route or to one of its weighted clusters, which have the same fields.
// Set headers come before added headers. Returns the host that requests are to be rewritten to, "" for none.
template <typename Target>
std::string AppendHeaderOperations(const istio::networking::v1alpha3::Headers& headers, Target* out) {
  std::string authority;
  // The authority in `set` wins over `add`.
  for (const bool append : {false, true}) {
    std::string said;
    for (const auto& [name, value] :
         SortedEntries(append ? headers.request().add() : headers.request().set())) {
      if (IsAuthorityHeader(name)) said = value;
      if (!IsInternalHeader(name)) SetHeaderOption(name, value, append, out->add_request_headers_to_add());
    }
    if (authority.empty()) authority = said;
    for (const auto& [name, value] :
         SortedEntries(append ? headers.response().add() : headers.response().set())) {
      if (!IsInternalHeader(name)) SetHeaderOption(name, value, append, out->add_response_headers_to_add());
    }
  }
  for (const std::string& name : headers.request().remove()) {
    if (!IsInternalHeader(name)) out->add_request_headers_to_remove(name);
  }
  for (const std::string& name : headers.response().remove()) {
    if (!IsInternalHeader(name)) out->add_response_headers_to_remove(name);
  }
  return authority;
}

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HEADERS_H_
