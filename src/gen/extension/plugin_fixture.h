#ifndef FAIRLEAD_GEN_EXTENSION_PLUGIN_FIXTURE_H_
#define FAIRLEAD_GEN_EXTENSION_PLUGIN_FIXTURE_H_

#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen::extension {

// For this folder's tests: plugins written as JSON, in a mesh made by hand.
class PluginFixture : public mesh::MeshFixture {
 protected:
  template <typename Spec>
  static Spec ParseSpec(std::string_view json) {
    Spec spec;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(std::string(json), &spec).ok()) << json;
    return spec;
  }
  // `more`: fields besides the URL.
  config::ConfigPtr PutWasm(std::string_view ns, std::string_view name, std::string_view more = "",
                            int age = 0, std::string_view url = "oci://r.example.com/m") {
    using istio::extensions::v1alpha1::WasmPlugin;
    return Put(config::Kind::kWasmPlugin, ns, name,
               ParseSpec<WasmPlugin>(StrCat(R"({"url": ")", url, "\"", more.empty() ? "" : ", ", more, "}")),
               age);
  }
  config::ConfigPtr PutExtension(std::string_view ns, std::string_view name, std::string_view json,
                                 int age = 0) {
    using istio::extensions::v1alpha1::TrafficExtension;
    return Put(config::Kind::kTrafficExtension, ns, name, ParseSpec<TrafficExtension>(json), age);
  }

  mesh::ProxyScopePtr Scope(const mesh::SnapshotPtr& snapshot) {
    return mesh::ComputeProxyScope(*snapshot, MakeProxy("default", "client", "10.0.0.1"));
  }
};

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_PLUGIN_FIXTURE_H_
