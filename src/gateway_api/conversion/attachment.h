#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_ATTACHMENT_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_ATTACHMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/tree.h"
#include "gateway_api/lookups.h"
#include "gateway_api/parent.h"

namespace fairlead::gateway_api {

// Why a parent does not take a route. In the order in which one is chosen to be reported.
enum class Refusal : uint8_t { kNone, kNotAllowed, kNoHostname, kNoMatchingParent };
// As a status says it: "NotAllowedByListeners", …
std::string_view ReasonOf(Refusal refusal);

// One of a route's spec.parentRefs meets one of the listeners that it may mean, or the mesh.
struct Attachment {
  size_t reference = 0;          // place in spec.parentRefs
  std::string reference_text;    // see ReferenceText
  config::ObjectKey parent_key;  // the Gateway, ListenerSet, Service or ServiceEntry
  Parent parent;
  Refusal refusal = Refusal::kNone;
  std::string message;              // where it is refused
  std::vector<std::string> others;  // hosts of the other listeners of the port and protocol, sorted

  bool is_mesh() const;
  bool accepted() const { return refusal == Refusal::kNone; }
  // Whether a host of the route belongs to this listener, and not to one that fits better.
  bool OwnsHost(std::string_view host) const;
};

// In the order of their texts. References to what is not there, or not known, have none.
std::vector<Attachment> FindAttachments(const config::ConfigObject& route, Lookups& lookups);

// "group/kind/name/section/port.namespace" of a parentRef, with what it leaves out filled in.
std::string ReferenceText(config::Node reference, std::string_view own_ns);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_ATTACHMENT_H_
