#include "model/node_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "google/protobuf/struct.pb.h"
#include "model/proxy.h"
#include "model/proxy_class.h"

namespace fairlead::model {
namespace {

using envoy::config::core::v3::Node;
using google::protobuf::Value;
using testing::HasSubstr;

constexpr char kId[] = "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local";

Node NodeOf(const char* id = kId) {
  Node node;
  node.set_id(id);
  return node;
}

Value& At(Node& node, const char* key) { return (*node.mutable_metadata()->mutable_fields())[key]; }

Node WithText(const char* key, size_t size) {
  Node node = NodeOf();
  At(node, key).set_string_value(std::string(size, 'x'));
  return node;
}

std::string Refused(const Node& node, const NodeLimits& limits = {}) {
  const auto proxy = ReadProxy(node.SerializeAsString(), limits);
  EXPECT_TRUE(proxy.ok() || absl::IsInvalidArgument(proxy.status())) << proxy.status();
  return std::string(FromAbsl(proxy.status().message()));
}

// Of the wire format, as attackers write it.
std::string Field(int number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size();; size >>= 7) {
    out.push_back(static_cast<char>((size & 127) | (size > 127 ? 128 : 0)));
    if (size <= 127) break;
  }
  return out.append(bytes);
}

TEST(NodeLimits, ANodeHasSoManyBytes) {
  EXPECT_EQ(Refused(WithText("ANYTHING", 500 << 10)), "");
  EXPECT_THAT(Refused(WithText("ANYTHING", 600 << 10)), HasSubstr("bytes, of at most 524288"));
}

TEST(NodeLimits, AListOfEmptyValuesIsNotParsed) {
  std::string list;
  for (int i = 0; i < 20'001; ++i) list.append("\x0a\x00", 2);
  const std::string value = Field(6, list);  // Value.list_value
  const std::string metadata = Field(1, Field(1, "X") + Field(2, value));
  EXPECT_THAT(std::string(CheckNode(Field(1, kId) + Field(3, metadata), {}).message()),
              HasSubstr("more than 20000 values"));
  EXPECT_TRUE(CheckNode(Field(1, kId) + Field(3, metadata), {.values = 30'000}).ok());
}

TEST(NodeLimits, UnknownFieldsAndRepeatedOnesCountToo) {
  std::string unknown, twice;
  for (int i = 0; i < 20'002; ++i) {
    unknown.append(Field(15, ""));
    twice.append(Field(2, ""));
  }
  EXPECT_FALSE(CheckNode(unknown, {}).ok());
  EXPECT_FALSE(CheckNode(twice, {}).ok());
}

TEST(NodeLimits, DeepNodesAreRefused) {
  std::string value;
  for (int i = 0; i < 5000; ++i) value = Field(6, Field(1, value));
  EXPECT_FALSE(CheckNode(Field(3, Field(1, Field(2, value))), {}).ok());
}

TEST(NodeLimits, TextsThatReachResourcesAreShort) {
  for (const char* key :
       {"FAIRLEAD_XDS_CLUSTER", "TLS_CLIENT_CERT_CHAIN", "TLS_CLIENT_KEY", "TLS_CLIENT_ROOT_CERT",
        "TLS_SERVER_CERT_CHAIN", "CLUSTER_ID", "NETWORK", "REQUESTED_NETWORK_VIEW", "DNS_PROXY_ADDR"}) {
    EXPECT_EQ(Refused(WithText(key, 4096)), "") << key;
    EXPECT_EQ(Refused(WithText(key, 4097)), StrCat("node metadata ", key, ": 4097 bytes, of at most 4096"));
  }
  EXPECT_EQ(Refused(WithText("CLUSTER_ID", 61), {.text = 60}),
            "node metadata CLUSTER_ID: 61 bytes, of at most 60");
}

TEST(NodeLimits, TextsOfTheNodeItselfAreShort) {
  Node node = NodeOf();
  node.set_cluster(std::string(4097, 'x'));
  EXPECT_EQ(Refused(node), "the node's cluster has 4097 bytes, of at most 4096");
  node = NodeOf(StrCat("sidecar~10.0.0.1~", std::string(5000, 'x'), ".a~a").c_str());
  EXPECT_THAT(Refused(node), HasSubstr("the node's id has"));
  node = NodeOf();
  node.add_extensions()->set_name(std::string(4097, 'x'));
  EXPECT_THAT(Refused(node), HasSubstr("the node's extension has 4097 bytes"));
}

TEST(NodeLimits, CustomTagsAreShort) {
  Node node = NodeOf();
  auto& tags = *(*(*At(node, "PROXY_CONFIG").mutable_struct_value()->mutable_fields())["tracing"]
                      .mutable_struct_value()
                      ->mutable_fields())["customTags"]
                    .mutable_struct_value()
                    ->mutable_fields();
  auto& tag = *tags["t"].mutable_struct_value()->mutable_fields();
  auto& literal = *tag["literal"].mutable_struct_value()->mutable_fields();
  literal["value"].set_string_value(std::string(4097, 'x'));
  EXPECT_EQ(Refused(node), "node metadata PROXY_CONFIG: 4097 bytes, of at most 4096");
  literal["value"].set_string_value(std::string(1000, 'x'));
  EXPECT_EQ(Refused(node), "");
  for (int i = 0; i < 40; ++i) tags[StrCat("t", i)] = tags["t"];
  EXPECT_THAT(Refused(node), HasSubstr("of at most 32768")) << "all of it is in each listener";
}

TEST(NodeLimits, ListsHaveSoManyEntries) {
  Node node = WithText("REQUESTED_NETWORK_VIEW", 0);
  At(node, "REQUESTED_NETWORK_VIEW").set_string_value(std::string(1000, ','));
  EXPECT_EQ(Refused(node), "node metadata REQUESTED_NETWORK_VIEW: 1001 entries, of at most 1000");
  node = NodeOf();
  auto& labels = *At(node, "LABELS").mutable_struct_value()->mutable_fields();
  for (int i = 0; i < 1001; ++i) labels[StrCat("k", i)].set_string_value("");
  EXPECT_EQ(Refused(node), "node metadata LABELS: 1001 entries, of at most 1000");
  node = NodeOf();
  std::string ports = "[{}";
  for (int i = 0; i < 1000; ++i) ports += ",{}";
  At(node, "POD_PORTS").set_string_value(ports + "]");
  EXPECT_EQ(Refused(node), "node metadata POD_PORTS: 1001 entries, of at most 1000");
  At(node, "POD_PORTS").set_string_value(std::string(70'000, '['));
  EXPECT_EQ(Refused(node), "node metadata POD_PORTS: 70000 bytes, of at most 64000");
}

TEST(NodeLimits, LargeAnnotationsPassAndAreKeptAsBytes) {
  Node node = NodeOf();
  auto& annotations = *At(node, "ANNOTATIONS").mutable_struct_value()->mutable_fields();
  annotations["last-applied"].set_string_value(std::string(250 << 10, 'x'));
  annotations["resource.opentelemetry.io/service.name"].set_string_value("web");
  const auto proxy = ReadProxy(node.SerializeAsString());
  ASSERT_TRUE(proxy.ok()) << proxy.status();
  EXPECT_EQ(RawEntry((*proxy)->metadata, "ANNOTATIONS", "resource.opentelemetry.io/service.name"), "web");
  EXPECT_EQ(RawEntry((*proxy)->metadata, "ANNOTATIONS", "other"), std::nullopt);
  EXPECT_EQ(RawText((*proxy)->metadata, "ANNOTATIONS"), std::nullopt) << "an object is no text";
  EXPECT_LT(MemoryOf(**proxy), 300u << 10);
  annotations["resource.opentelemetry.io/service.name"].set_string_value(std::string(5000, 'x'));
  EXPECT_THAT(Refused(node), HasSubstr("resource.opentelemetry.io/service.name"));
}

TEST(NodeLimits, AStockEnvoysExtensionsPass) {
  Node node = NodeOf();
  for (int i = 0; i < 800; ++i) {
    auto* extension = node.add_extensions();
    extension->set_name(StrCat("envoy.filters.http.extension_", i));
    extension->set_category("envoy.filters.http");
    for (const char* url : {"envoy.extensions.filters.http.A", "envoy.config.filter.http.B"})
      extension->add_type_urls(url);
  }
  EXPECT_EQ(Refused(node), "");
}

TEST(NodeLimits, BytesThatAreNoNodeAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadProxy("\xff\xff").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadProxy("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadProxy(Field(1, "sidecar~10.0.0.1~\xff.a~a")).status()));
}

TEST(ParseProxy, TypesThatAreNotServedAreUnimplemented) {
  for (const char* type : {"waypoint", "ztunnel"}) {
    const auto proxy = ParseProxy(NodeOf(StrCat(type, "~10.1.0.9~x.a~a.svc.cluster.local").c_str()));
    EXPECT_TRUE(absl::IsUnimplemented(proxy.status())) << proxy.status();
    EXPECT_THAT(std::string(proxy.status().message()), HasSubstr(StrCat("type ", type, " are not served")));
  }
}

}  // namespace
}  // namespace fairlead::model
