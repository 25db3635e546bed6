#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <map>

#include "config/read/manifests.h"
#include "config/store.h"
#include "gen/object/generators.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/view/proxy_scope.h"

namespace fairlead::gen {
namespace {

using config::Kind;
using istio::mcp::v1alpha1::Resource;
using istio::networking::v1alpha3::ServiceEntry;
using testing::ElementsAre;

constexpr char kObjects[] = R"(
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: reviews
  namespace: shop
  labels: {team: books}
  annotations: {note: hello}
  creationTimestamp: "2026-01-02T03:04:05Z"
  resourceVersion: "17"
spec:
  hosts: [reviews]
  http: [{route: [{destination: {host: reviews}}], timeout: 5s}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: synthetic-taken, namespace: shop}
spec: {hosts: [taken.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: front}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
)";

model::ServicePtr TestService(const std::string& name,
                              model::Registry registry = model::Registry::kKubernetes) {
  auto service = std::make_shared<model::Service>();
  service->registry = registry;
  service->name = name;
  service->hostname = name + ".shop.svc.cluster.local";
  service->ns = "shop";
  service->cluster_vips = {"10.0.0.1", "fd00::1"};
  service->address = "10.0.0.1";
  service->ports.push_back({"http", 80, model::Protocol::kHttp, 8080, "", 0});
  service->selector = {{"app", name}};
  service->visibility.everywhere = true;
  service->creation_time = 1000;
  return service;
}

class ObjectTest : public testing::Test {
 protected:
  ObjectTest() {
    auto settings = std::make_shared<model::Settings>();
    settings->mesh = model::DefaultMeshConfig();
    snapshot_.settings = settings;
    Apply(kObjects);
    SetProxy(model::Proxy());
    scope_.sidecar = std::make_shared<mesh::SidecarScope>(mesh::SidecarScope{imports_, {}});
  }
  void Apply(std::string_view manifests) {
    std::vector<config::ObjectChange> changes;
    for (const auto& object : config::ParseManifests(manifests, "test.yaml").objects)
      changes.push_back({config::KeyOf(*object), object});
    const mesh::WrittenObjects* before = snapshot_.written.get();
    changes = store_.Apply(changes);
    snapshot_.written = std::make_shared<const mesh::WrittenObjects>(before, store_, changes);
    snapshot_.id = NextUniqueId();
  }
  void SetProxy(model::Proxy proxy) {
    proxy.proxy_class = model::ClassOf(proxy);
    scope_.proxy = std::make_shared<const model::Proxy>(std::move(proxy));
  }
  std::map<std::string, Resource> Make(Generator* generator,
                                       const std::vector<std::string>* names = nullptr) {
    std::map<std::string, Resource> made;
    for (const auto& resource : GenerateFor(*generator, snapshot_, scope_, names)) {
      google::protobuf::Any any;
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
      EXPECT_TRUE(any.UnpackTo(&made[resource->name.str()])) << any.type_url();
    }
    return made;
  }

  config::ObjectStore store_;
  mesh::MeshSnapshot snapshot_;
  std::shared_ptr<mesh::ScopeImports> imports_ = std::make_shared<mesh::ScopeImports>();
  mesh::ProxyScope scope_;
};

TEST_F(ObjectTest, AnObjectHasItsMetadataAndItsSpecAsBody) {
  const auto made = Make(NewObjectGenerator(Kind::kVirtualService).get());
  ASSERT_EQ(made.size(), 1u);
  const Resource& resource = made.at("shop/reviews");
  EXPECT_EQ(resource.metadata().name(), "shop/reviews");
  EXPECT_EQ(resource.metadata().version(), "17");
  EXPECT_EQ(resource.metadata().create_time().seconds(), 1767323045);
  EXPECT_EQ(resource.metadata().labels().at("team"), "books");
  EXPECT_EQ(resource.metadata().annotations().at("note"), "hello");
  istio::networking::v1alpha3::VirtualService spec;
  ASSERT_TRUE(resource.body().UnpackTo(&spec));
  EXPECT_EQ(spec.http(0).timeout().seconds(), 5);
}

TEST_F(ObjectTest, AnObjectOfTheGatewayApiIsAStruct) {
  const auto made = Make(NewObjectGenerator(Kind::kHttpRoute).get());
  google::protobuf::Struct spec;
  ASSERT_TRUE(made.at("shop/web").body().UnpackTo(&spec));
  EXPECT_EQ(
      spec.fields().at("parentRefs").list_value().values(0).struct_value().fields().at("name").string_value(),
      "front");
  const auto& backend =
      spec.fields().at("rules").list_value().values(0).struct_value().fields().at("backendRefs");
  EXPECT_EQ(backend.list_value().values(0).struct_value().fields().at("port").number_value(), 80);
}

TEST_F(ObjectTest, WithoutAResourceVersionTheVersionIsOfTheContent) {
  const auto generator = NewObjectGenerator(Kind::kServiceEntry);
  const std::string before = Make(generator.get()).at("shop/synthetic-taken").metadata().version();
  EXPECT_FALSE(before.empty());
  EXPECT_FALSE(Make(generator.get()).at("shop/synthetic-taken").metadata().has_create_time());
  Apply(
      "{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: synthetic-taken, namespace: "
      "shop},"
      " spec: {hosts: [b.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}}");
  EXPECT_NE(Make(generator.get()).at("shop/synthetic-taken").metadata().version(), before);
}

TEST_F(ObjectTest, ServicesOfOtherRegistriesAreServiceEntriesWithoutEndpoints) {
  imports_->services = {TestService("web"), TestService("taken"),
                        TestService("ext", model::Registry::kExternal)};
  const auto made = Make(NewObjectGenerator(Kind::kServiceEntry).get());
  ASSERT_EQ(made.size(), 2u) << "one has its own entry, and an object's name is the object's";
  ServiceEntry entry;
  ASSERT_TRUE(made.at("shop/synthetic-web").body().UnpackTo(&entry));
  EXPECT_THAT(entry.hosts(), ElementsAre("web.shop.svc.cluster.local"));
  EXPECT_THAT(entry.addresses(), ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_EQ(entry.ports(0).number(), 80u);
  EXPECT_EQ(entry.ports(0).protocol(), "HTTP");
  EXPECT_EQ(entry.location(), ServiceEntry::MESH_INTERNAL);
  EXPECT_EQ(entry.resolution(), ServiceEntry::STATIC);
  EXPECT_EQ(entry.workload_selector().labels().at("app"), "web");
  EXPECT_THAT(entry.export_to(), ElementsAre("*"));
  EXPECT_EQ(entry.endpoints_size(), 0);
  EXPECT_EQ(made.at("shop/synthetic-web").metadata().create_time().seconds(), 1000);
  ASSERT_TRUE(made.at("shop/synthetic-taken").body().UnpackTo(&entry));
  EXPECT_THAT(entry.hosts(), ElementsAre("taken.example.com"));
}

TEST_F(ObjectTest, AClientThatSaysWhereItIsSeesTheAddressesOfItsFamily) {
  model::Proxy proxy;
  proxy.metadata.cluster_id = snapshot_.settings->cluster_id;
  proxy.supports_ipv4 = true;
  SetProxy(std::move(proxy));
  imports_->services = {TestService("web")};
  ServiceEntry entry;
  ASSERT_TRUE(
      Make(NewObjectGenerator(Kind::kServiceEntry).get()).at("shop/synthetic-web").body().UnpackTo(&entry));
  EXPECT_THAT(entry.addresses(), ElementsAre("10.0.0.1"));
}

TEST_F(ObjectTest, OnlyWhatIsAskedForIsMade) {
  imports_->services = {TestService("web"), TestService("db")};
  const std::vector<std::string> names = {"shop/synthetic-db", "shop/unknown"};
  const auto made = Make(NewObjectGenerator(Kind::kServiceEntry).get(), &names);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(made.contains("shop/synthetic-db"));
}

TEST_F(ObjectTest, WhatWasMadeHoldsUntilAnObjectOfTheKindChanges) {
  const auto generator = NewObjectGenerator(Kind::kServiceEntry);
  for (size_t part = 0; part < generator->PartCount(); ++part) {
    mesh::View view({snapshot_, &scope_});
    generator->Generate(view, nullptr, part);
    const mesh::ReadsPtr reads = view.Take();
    Apply(StrCat("{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: s", part,
                 "}, spec: {}}"));
    EXPECT_TRUE(reads->Hold({snapshot_, &scope_})) << part;
    Apply(StrCat("{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: e", part,
                 "}, spec: {hosts: [e.example.com], resolution: NONE,"
                 " ports: [{number: 80, name: http, protocol: HTTP}]}}"));
    EXPECT_FALSE(reads->Hold({snapshot_, &scope_})) << part;
  }
}

TEST_F(ObjectTest, TheMeshConfigIsItself) {
  const auto made = GenerateFor(*NewMeshConfigGenerator(), snapshot_, scope_, nullptr);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0]->name.str(), "");
  google::protobuf::Any any;
  istio::mesh::v1alpha1::MeshConfig mesh;
  ASSERT_TRUE(any.ParseFromString(made[0]->any.Unpacked()) && any.UnpackTo(&mesh));
  EXPECT_EQ(mesh.root_namespace(), "istio-system");
}

}  // namespace
}  // namespace fairlead::gen
