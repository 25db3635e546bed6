#ifndef FAIRLEAD_CONFIG_CHECK_KINDS_H_
#define FAIRLEAD_CONFIG_CHECK_KINDS_H_

#include "config/spot.h"

namespace google::protobuf {
class Message;
}

// The rules of Istio's webhook, a function for each kind; `spec` is where the message was read.
namespace fairlead::config::check {

using KindCheck = void (*)(const google::protobuf::Message& message, const Spot& spec);

void CheckVirtualService(const google::protobuf::Message& message, const Spot& spec);
void CheckDestinationRule(const google::protobuf::Message& message, const Spot& spec);
void CheckServiceEntry(const google::protobuf::Message& message, const Spot& spec);
void CheckWorkloadEntry(const google::protobuf::Message& message, const Spot& spec);
void CheckWorkloadGroup(const google::protobuf::Message& message, const Spot& spec);
void CheckGateway(const google::protobuf::Message& message, const Spot& spec);
void CheckSidecar(const google::protobuf::Message& message, const Spot& spec);
void CheckEnvoyFilter(const google::protobuf::Message& message, const Spot& spec);
void CheckProxyConfig(const google::protobuf::Message& message, const Spot& spec);
void CheckPeerAuthentication(const google::protobuf::Message& message, const Spot& spec);
void CheckRequestAuthentication(const google::protobuf::Message& message, const Spot& spec);
void CheckAuthorizationPolicy(const google::protobuf::Message& message, const Spot& spec);
void CheckTelemetry(const google::protobuf::Message& message, const Spot& spec);
void CheckWasmPlugin(const google::protobuf::Message& message, const Spot& spec);
void CheckTrafficExtension(const google::protobuf::Message& message, const Spot& spec);

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_KINDS_H_
