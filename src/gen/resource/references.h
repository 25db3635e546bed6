#ifndef FAIRLEAD_GEN_RESOURCE_REFERENCES_H_
#define FAIRLEAD_GEN_RESOURCE_REFERENCES_H_

#include <vector>

#include "cache/resource.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::gen {

// The names of resources that a built message makes a proxy request, sorted and unique. A cluster refers to
// endpoints, a listener to routes and discovered filters. Transport sockets of both refer to secrets over
// ADS. Messages of other types refer to nothing. Configurations that the message holds packed are read in
// place, as unpacking a connection manager costs about as much as building it. Pure.
std::vector<cache::Reference> ReferencesOf(const google::protobuf::Message& message);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_RESOURCE_REFERENCES_H_
