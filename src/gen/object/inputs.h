#ifndef FAIRLEAD_GEN_OBJECT_INPUTS_H_
#define FAIRLEAD_GEN_OBJECT_INPUTS_H_

#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "model/service.h"

namespace fairlead::gen::object {

// All that one resource is made from: an object, or a service with the addresses that the client sees.
struct ObjectInputs {
  config::ConfigPtr object;
  model::ServicePtr service;
  std::vector<std::string> addresses;

  friend bool operator==(const ObjectInputs&, const ObjectInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ObjectInputs& inputs) {
    return H::combine(std::move(h), inputs.object, inputs.service, inputs.addresses);
  }
};

}  // namespace fairlead::gen::object

#endif  // FAIRLEAD_GEN_OBJECT_INPUTS_H_
