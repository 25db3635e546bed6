#include "push/stream/proxy_warning.h"

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "mesh/index/peer_authentication.h"

namespace fairlead::push {
namespace {

using mesh::MutualTlsMode;

std::string Warning(model::ProxyType type, const char* certificates, MutualTlsMode mode) {
  google::protobuf::Struct raw;
  if (*certificates != '\0') (*raw.mutable_fields())[kCertificatesKey].set_string_value(certificates);
  auto proxy = std::make_shared<model::Proxy>();
  proxy->type = type;
  proxy->metadata.raw = std::make_shared<const model::RawMetadata>(raw);
  auto policy = std::make_shared<mesh::PeerAuthentication>();
  policy->mode = mode;
  mesh::ProxyScope scope;
  scope.proxy = proxy;
  scope.peer_authentication = policy;
  return WarningFor(scope);
}

TEST(WarningFor, ASidecarWithoutCertificatesThatIsOfferedMutualTls) {
  const auto sidecar = model::ProxyType::kSidecar;
  EXPECT_NE(Warning(sidecar, "none", MutualTlsMode::kPermissive), "");
  EXPECT_NE(Warning(sidecar, "none", MutualTlsMode::kStrict), "");
  EXPECT_EQ(Warning(sidecar, "none", MutualTlsMode::kDisable), "");
  EXPECT_EQ(Warning(sidecar, "", MutualTlsMode::kStrict), "") << "it does not say";
  EXPECT_EQ(Warning(model::ProxyType::kRouter, "none", MutualTlsMode::kStrict), "");
}

}  // namespace
}  // namespace fairlead::push
