#ifndef FAIRLEAD_AGENT_XDS_FIELDS_H_
#define FAIRLEAD_AGENT_XDS_FIELDS_H_

#include <string_view>

namespace fairlead::agent {

// A string or message field of an encoded message, without decoding the others. The last one of that number
// at the message's top level; "" if there is none, or the bytes are no message. Pure.
std::string_view FieldOf(std::string_view message, int number);

// Where each kind of message has its type_url.
// Source: envoy/service/discovery/v3/discovery.proto
inline constexpr int kTypeOfRequest = 4, kTypeOfDeltaRequest = 2, kTypeOfResponse = 4;

inline constexpr std::string_view kExtensionType =
    "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
inline constexpr std::string_view kListenerType = "type.googleapis.com/envoy.config.listener.v3.Listener";

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_XDS_FIELDS_H_
