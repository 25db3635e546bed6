#ifndef FAIRLEAD_TESTS_REFERENCES_READ_REFERENCES_H_
#define FAIRLEAD_TESTS_REFERENCES_READ_REFERENCES_H_

#include <google/protobuf/any.pb.h>

#include <vector>

#include "cache/resource.h"

namespace fairlead {

// What a resource makes a client ask for by name, found by walking everything in the message and what is
// packed into it, wherever it lies: a second account of Resource::references, as a client has it. Sorted,
// unique.
std::vector<cache::Reference> ReadReferences(const google::protobuf::Any& resource);

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REFERENCES_READ_REFERENCES_H_
