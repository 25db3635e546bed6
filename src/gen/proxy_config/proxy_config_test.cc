#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "gen/generator.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ProxyConfigTest : public mesh::MeshFixture {
 protected:
  Resources Ask() {
    const mesh::SnapshotPtr snapshot = Build();
    const auto scope = mesh::ComputeProxyScope(*snapshot, MakeProxy("shop", "web", "10.0.0.1"));
    return GenerateFor(*generator_, *snapshot, *scope, nullptr);
  }
  void Trust(model::TrustBundle bundle) {
    builder_.SetTrustBundle(std::make_shared<const model::TrustBundle>(std::move(bundle)));
  }
  const std::unique_ptr<Generator> generator_ = NewProxyConfigGenerator();
};

TEST_F(ProxyConfigTest, ThereIsNoneWithoutATrustBundle) { EXPECT_THAT(Ask(), IsEmpty()); }

TEST_F(ProxyConfigTest, ItIsOneResourceWithoutANameAndWhatIsToBeTrusted) {
  Trust({"one", "two"});
  const Resources resources = Ask();
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources.front()->name.str(), "");
  google::protobuf::Any any;
  ASSERT_TRUE(any.ParseFromString(resources.front()->any.Unpacked()));
  EXPECT_EQ(any.type_url(), "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig");
  istio::mesh::v1alpha1::ProxyConfig config;
  ASSERT_TRUE(any.UnpackTo(&config));
  EXPECT_THAT(config.ca_certificates_pem(), ElementsAre("one", "two"));
  config.clear_ca_certificates_pem();
  EXPECT_EQ(config.ByteSizeLong(), 0u) << "nothing else";
  Trust({"one"});
  EXPECT_FALSE(SameResources(Ask(), resources));
}

}  // namespace
}  // namespace fairlead::gen
