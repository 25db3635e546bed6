#include "gen/resource/origins.h"

#include "config/kind.h"
#include "gen/generator.h"

namespace fairlead::gen {

OriginList& OriginList::Add(const config::ConfigPtr& object) {
  if (object == nullptr) return *this;
  origins_.push_back(
      {OriginKey(config::InfoOf(object->kind()).name, object->ns(), object->name()), object->content_hash()});
  return *this;
}

OriginList& OriginList::Add(const model::ServicePtr& service) {
  return service == nullptr ? *this : Add(service->source);
}

OriginList& OriginList::Add(const mesh::DestinationRulePtr& rule) {
  if (rule == nullptr) return *this;
  for (const config::ConfigPtr& object : rule->objects) Add(object);
  return *this;
}

OriginList& OriginList::Add(const mesh::VirtualServicePtr& virtual_service) {
  if (virtual_service == nullptr) return *this;
  Add(virtual_service->object);
  for (const config::ConfigPtr& delegate : virtual_service->delegates) Add(delegate);
  return *this;
}

}  // namespace fairlead::gen
