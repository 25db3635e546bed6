#include "proto/descriptors.h"

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/extensions/filters/http/jwt_authn/v3/config.pb.h"
#include "istio/networking/nds/v1/nds.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::util::JsonStringToMessage;
using google::protobuf::util::MessageToJsonString;

std::string Json(const Message& message) {
  std::string out;
  EXPECT_TRUE(MessageToJsonString(message, &out).ok());
  return out;
}

TEST(WholeApiPool, HasTypesThatNoCodeIsGeneratedFor) {
  const char* const names[] = {
      "envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
      "envoy.extensions.filters.http.oauth2.v3.OAuth2",
      "envoy.extensions.clusters.redis.v3.RedisClusterConfig",
      "envoy.extensions.filters.http.golang.v3alpha.Config",  // a contrib extension
      "udpa.type.v1.TypedStruct",
      "xds.type.v3.TypedStruct",
      "stats.PluginConfig",
      "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
      "google.protobuf.Any",
  };
  for (const char* name : names) EXPECT_NE(WholeApiPool().FindMessageTypeByName(name), nullptr) << name;
}

TEST(WholeApiPool, DynamicMessageReadsWhatGeneratedOneWrites) {
  envoy::config::cluster::v3::Cluster cluster;
  cluster.set_name("outbound|80||a.example");
  cluster.mutable_connect_timeout()->set_seconds(10);

  const Descriptor* type = WholeApiPool().FindMessageTypeByName("envoy.config.cluster.v3.Cluster");
  ASSERT_NE(type, nullptr);
  std::unique_ptr<Message> dynamic(WholeApiMessages().GetPrototype(type)->New());
  ASSERT_TRUE(dynamic->ParseFromString(cluster.SerializeAsString()));
  EXPECT_EQ(Json(*dynamic), Json(cluster));
  EXPECT_EQ(dynamic->SerializeAsString(), cluster.SerializeAsString());
}

TEST(WholeApiPool, KeepsTheNamesOfTheApi) {
  const Descriptor* rule =
      WholeApiPool().FindMessageTypeByName("envoy.extensions.filters.http.jwt_authn.v3.RequirementRule");
  ASSERT_NE(rule, nullptr);
  EXPECT_NE(rule->FindFieldByName("requires"), nullptr);
}

// C++20 reserves `requires`: the generated field has another name, its JSON has not.
TEST(GeneratedApi, JsonKeepsNamesThatCppReserves) {
  envoy::extensions::filters::http::jwt_authn::v3::RequirementRule rule;
  ASSERT_TRUE(JsonStringToMessage(R"({"requires": {"providerName": "a"}})", &rule).ok());
  EXPECT_EQ(rule.requires_().provider_name(), "a");
  EXPECT_EQ(Json(rule), R"({"requires":{"providerName":"a"}})");
}

TEST(GeneratedApi, IstioTypesHaveTheirWireNames) {
  EXPECT_EQ(istio::networking::v1alpha3::VirtualService::descriptor()->full_name(),
            "istio.networking.v1alpha3.VirtualService");
  EXPECT_EQ(istio::networking::nds::v1::NameTable::descriptor()->full_name(),
            "istio.networking.nds.v1.NameTable");
}

TEST(KubernetesApiPool, HasTheGroupsThatAMeshReads) {
  const char* const names[] = {
      "k8s.io.api.core.v1.Service",
      "k8s.io.api.core.v1.Pod",
      "k8s.io.api.discovery.v1.EndpointSlice",
      "k8s.io.api.networking.v1.Ingress",
      "k8s.io.api.apps.v1.Deployment",
      "k8s.io.api.admissionregistration.v1.MutatingWebhookConfiguration",
      "k8s.io.api.coordination.v1.Lease",
      "k8s.io.api.certificates.v1.CertificateSigningRequest",
      "k8s.io.api.authentication.v1.TokenReview",
      "k8s.io.api.autoscaling.v2.HorizontalPodAutoscaler",
      "k8s.io.api.policy.v1.PodDisruptionBudget",
      "k8s.io.api.batch.v1.Job",
      "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta",
      "k8s.io.apimachinery.pkg.util.intstr.IntOrString",
      "k8s.io.apimachinery.pkg.api.resource.Quantity",
  };
  for (const char* name : names) EXPECT_NE(KubernetesApiPool().FindMessageTypeByName(name), nullptr) << name;
}

TEST(Crds, AreThereWithTheirKinds) {
  EXPECT_NE(GatewayApiCrds(GatewayApiChannel::kStandard).find("kind: HTTPRoute\n"), std::string_view::npos);
  EXPECT_EQ(GatewayApiCrds(GatewayApiChannel::kStandard).find("kind: XBackendTrafficPolicy\n"),
            std::string_view::npos);
  EXPECT_NE(GatewayApiCrds(GatewayApiChannel::kExperimental).find("kind: XBackendTrafficPolicy\n"),
            std::string_view::npos);
  EXPECT_NE(IstioCrds().find("kind: VirtualService\n"), std::string_view::npos);
}

}  // namespace
}  // namespace fairlead::proto
