#ifndef FAIRLEAD_MESH_INDEX_MESH_TEXTS_H_
#define FAIRLEAD_MESH_INDEX_MESH_TEXTS_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"

// For tests: specs from text, and texts of what indexes hold.
namespace fairlead::mesh {

template <typename Spec>
Spec Parse(const std::string& text) {
  Spec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec)) << text;
  return spec;
}

// "host:port,port" of each service, for comparison.
inline std::vector<std::string> Names(const std::vector<model::ServicePtr>& services) {
  std::vector<std::string> names;
  for (const model::ServicePtr& service : services) {
    std::string& name = names.emplace_back(StrCat(service->hostname.str(), "/", service->ns.str()));
    for (const model::ServicePort& port : service->ports) StrAppend(&name, ":", port.port);
  }
  return names;
}

inline std::vector<std::string> Names(const std::vector<VirtualServicePtr>& virtual_services) {
  std::vector<std::string> names;
  names.reserve(virtual_services.size());
  for (const VirtualServicePtr& v : virtual_services) {
    names.push_back(StrCat(v->object->ns().str(), "/", v->object->name().str()));
  }
  return names;
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_MESH_TEXTS_H_
