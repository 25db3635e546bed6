#include "config/read/stored_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "config/check_fixture.h"
#include "config/read/json_reader.h"
#include "config/read/tree_object.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StoredObject Read(Kind kind, std::string_view json, std::string_view api_version = "v1",
                  const Interned& cluster = {}) {
  JsonReader reader;
  const auto tree = reader.Read(json, &StoredFieldsOf(InfoOf(kind)));
  EXPECT_TRUE(tree.ok()) << tree.status() << json;
  return ReadStored(InfoOf(kind), api_version, tree->root(), cluster);
}

// The same object of a manifest.
ConfigPtr OfManifest(const std::string& text) {
  ParseResult result = ParseManifests(text, "a.yaml", Admission::kPassed);
  EXPECT_EQ(result.objects.size(), 1u) << text;
  return result.objects.front();
}

TEST(StoredObject, MetadataIsThatOfTheServer) {
  const StoredObject read = Read(Kind::kVirtualService, R"({"metadata":{"name":"a","namespace":"n","uid":"u",
      "resourceVersion":"7","generation":3,"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"l":"1"},
      "annotations":{"x":"y","kubectl.kubernetes.io/last-applied-configuration":"{}"},
      "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"1","controller":true}],
      "managedFields":[{"manager":"m"}]},"spec":{"hosts":["h"]}})",
                                 "networking.istio.io/v1beta1", "west");
  ASSERT_NE(read.object, nullptr);
  EXPECT_THAT(read.diagnostics, IsEmpty());
  const ObjectMeta& meta = read.object->meta();
  EXPECT_EQ(meta.name, "a");
  EXPECT_EQ(meta.ns, "n");
  EXPECT_EQ(meta.cluster, "west");
  EXPECT_EQ(read.key->cluster, "west");
  EXPECT_EQ(meta.resource_version, "7");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(meta.creation_time, 1767323045);
  EXPECT_EQ(meta.labels.at("l"), "1");
  EXPECT_EQ(meta.annotations.size(), 1u) << "what kubectl wrote down is not kept";
  EXPECT_EQ(meta.owners.size(), 1u);
  EXPECT_EQ(read.object->origin().api_version, "networking.istio.io/v1beta1");
  EXPECT_EQ(read.object->Spec<istio::networking::v1alpha3::VirtualService>().hosts(0), "h");
}

TEST(StoredObject, UnknownFieldsAreNeverRefused) {
  EXPECT_NE(Read(Kind::kVirtualService, R"({"metadata":{"name":"a","namespace":"n","new":1},
                 "spec":{"hosts":["h"],"fromTheFuture":{"a":[1]}},"status":{"x":1},"more":true})",
                 "networking.istio.io/v1")
                .object,
            nullptr);
  EXPECT_NE(Read(Kind::kService, R"({"metadata":{"name":"a","namespace":"n"},"spec":{"ports":[{"port":80,
                 "fromTheFuture":1}],"fromTheFuture":{}},"status":{"fromTheFuture":[]}})")
                .object,
            nullptr);
  const StoredObject route = Read(Kind::kHttpRoute, R"({"metadata":{"name":"a","namespace":"n"},
      "spec":{"fromTheFuture":1,"rules":[{"matches":[]}]}})",
                                  "gateway.networking.k8s.io/v1");
  ASSERT_NE(route.object, nullptr);
  EXPECT_THAT(route.diagnostics, IsEmpty());
}

TEST(StoredObject, AWrongTypeIsToldWithItsField) {
  const StoredObject read =
      Read(Kind::kVirtualService, R"({"metadata":{"name":"a","namespace":"n"},"spec":{"hosts":"h"}})",
           "networking.istio.io/v1");
  EXPECT_EQ(read.object, nullptr);
  ASSERT_EQ(read.diagnostics.size(), 1u);
  EXPECT_EQ(ToText(read.diagnostics[0]),
            "error: VirtualService n/a: spec.hosts: expected a list, got string \"h\" (wrong-type)");
  EXPECT_THAT(ToFindings(Read(Kind::kPod, R"({"metadata":{"name":"a","namespace":"n"},
                              "spec":{"hostNetwork":"yes"}})")
                             .diagnostics),
              ElementsAre("error spec.hostNetwork (wrong-type)"));
}

TEST(StoredObject, NothingOfASecretIsQuoted) {
  const StoredObject read =
      Read(Kind::kSecret, R"({"metadata":{"name":"a","namespace":"n"},"data":{"tls.key":"***PRIVATE***"}})");
  EXPECT_EQ(read.object, nullptr);
  ASSERT_EQ(read.diagnostics.size(), 1u);
  EXPECT_EQ(ToText(read.diagnostics[0]).find("PRIVATE"), std::string::npos) << ToText(read.diagnostics[0]);
}

TEST(StoredObject, WithoutANameThereIsNoObject) {
  EXPECT_FALSE(Read(Kind::kPod, R"({"metadata":{},"spec":{}})").key);
  EXPECT_FALSE(Read(Kind::kPod, R"([])").key);
}

TEST(StoredObject, APolicyThatCannotBeReadIsLost) {
  const StoredObject read =
      Read(Kind::kAuthorizationPolicy, R"({"metadata":{"name":"a","namespace":"n"},"spec":{"rules":1}})",
           "security.istio.io/v1");
  EXPECT_EQ(read.object, nullptr);
  ASSERT_TRUE(read.lost_policy);
  EXPECT_EQ(read.lost_policy->ns, "n");
}

// What is skipped of a Pod is not read of one in a file either: both are the same object.
TEST(StoredObject, APodIsThatOfAManifest) {
  constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n",
    "labels":{"app":"a"}},"spec":{"serviceAccountName":"s","nodeName":"node","hostname":"h","subdomain":"sub",
    "hostNetwork":true,"volumes":[{"name":"v","emptyDir":{}}],
    "initContainers":[{"name":"i","image":"i","restartPolicy":"Always","ports":[{"name":"q","containerPort":1}]}],
    "containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b"}],
                   "ports":[{"name":"p","containerPort":80,"protocol":"TCP"}]}]},
    "status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"hostIP":"10.0.0.9",
              "conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}]}})";
  const ConfigPtr stored = Read(Kind::kPod, kPod).object;
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->content_hash(), OfManifest(kPod)->content_hash());
}

TEST(StoredObject, KindsAreThoseOfManifests) {
  struct Row {
    Kind kind;
    const char* api_version;
    const char* text;
  };
  const Row rows[] = {
      {Kind::kNode, "v1", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"z":"1"}},
        "spec":{"podCIDR":"10.0.0.0/24"},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
        "images":[{"names":["x"]}]}})"},
      {Kind::kNamespace, "v1", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},
        "spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})"},
      {Kind::kService, "v1", R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"n"},
        "spec":{"clusterIP":"10.9.0.1","ports":[{"name":"http","port":80,"targetPort":"web"}],
        "selector":{"app":"a"}}})"},
      {Kind::kEndpointSlice, "discovery.k8s.io/v1",
       R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",
        "metadata":{"name":"a","namespace":"n"},"addressType":"IPv4","ports":[{"name":"http","port":80}],
        "endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true},"zone":"z"}]})"},
      {Kind::kServiceEntry, "networking.istio.io/v1", R"({"apiVersion":"networking.istio.io/v1",
        "kind":"ServiceEntry","metadata":{"name":"a","namespace":"n"},
        "spec":{"hosts":["h.com"],"ports":[{"number":80,"name":"http","protocol":"HTTP"}],"resolution":"DNS"},
        "status":{"addresses":[{"host":"h.com","value":"240.240.0.1"}]}})"},
      {Kind::kSecret, "v1", R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"n"},
        "type":"Opaque","data":{"a":"Yg=="}})"},
  };
  for (const Row& row : rows) {
    const ConfigPtr stored = Read(row.kind, row.text, row.api_version).object;
    ASSERT_NE(stored, nullptr) << row.text;
    EXPECT_EQ(stored->content_hash(), OfManifest(row.text)->content_hash()) << row.text;
  }
}

}  // namespace
}  // namespace fairlead::config
