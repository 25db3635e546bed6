#include "registration/test_world.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/strings.h"
#include "config/read/json_reader.h"
#include "config/read/stored_object.h"
#include "envoy/config/core/v3/base.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"

// What the tests of registration share.
namespace fairlead::registration {

model::ProxyPtr TestProxy(const std::string& metadata, const std::string& region, const std::string& ns,
                          const std::string& account) {
  envoy::config::core::v3::Node node;
  node.set_id("sidecar~10.0.0.7~vm-1.shop~shop.svc.cluster.local");
  node.mutable_locality()->set_region(region);
  std::string json = R"({"NAMESPACE": "shop", "AUTO_REGISTER_GROUP": "vms"})";
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, node.mutable_metadata()).ok());
  google::protobuf::Struct more;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(StrCat("{", metadata, "}"), &more).ok())
      << metadata;
  for (const auto& [key, value] : more.fields()) (*node.mutable_metadata()->mutable_fields())[key] = value;
  auto read = model::ParseProxy(node);
  EXPECT_TRUE(read.ok()) << read.status();
  auto proxy = std::make_shared<model::Proxy>(**read);
  if (!ns.empty()) proxy->identity = model::PeerIdentity{"cluster.local", ns, account};
  return proxy;
}

config::ConfigPtr TestObject(config::Kind kind, const std::string& json) {
  config::JsonReader reader;
  const auto tree = reader.Read(json);
  EXPECT_TRUE(tree.ok()) << json;
  return config::ReadStored(config::InfoOf(kind), "networking.istio.io/v1", tree->root()).object;
}

config::ConfigPtr TestGroup(const std::string& uid) {
  return TestObject(
      config::Kind::kWorkloadGroup,
      StrCat(R"({"metadata":{"name":"vms","namespace":"shop","uid":")", uid, "\"},", kTestGroupFields, "}"));
}

std::string SpecText(const NewEntry& entry) { return entry.spec->DebugString(); }

}  // namespace fairlead::registration
