#ifndef FAIRLEAD_MODEL_PROTOCOL_H_
#define FAIRLEAD_MODEL_PROTOCOL_H_

#include "config/protocol.h"

// Protocols are the same to services as to the objects that name them.
namespace fairlead::model {

using config::IsHttp;
using config::IsHttp2;
using config::IsTcp;
using config::IsTls;
using config::KubernetesPortProtocol;
using config::ParseProtocol;
using config::Protocol;
using config::ToString;

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_PROTOCOL_H_
