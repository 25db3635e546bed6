#ifndef FAIRLEAD_GEN_RESOURCE_ORIGINS_H_
#define FAIRLEAD_GEN_RESOURCE_ORIGINS_H_

#include <utility>

#include "cache/resource.h"
#include "config/object.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"

namespace fairlead::gen {

// Collects the config objects that a resource is made from. Null pointers add nothing. A derived object
// stands for itself. Not thread-safe.
class OriginList {
 public:
  OriginList& Add(const config::ConfigPtr& object);
  OriginList& Add(const model::ServicePtr& service);
  OriginList& Add(const mesh::DestinationRulePtr& rule);
  OriginList& Add(const mesh::VirtualServicePtr& virtual_service);  // with its delegates
  // In any order, with repetitions: Encode sorts them.
  cache::Origins Take() { return std::move(origins_); }

 private:
  cache::Origins origins_;
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_RESOURCE_ORIGINS_H_
