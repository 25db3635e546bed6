#include "config/read/proto_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/yaml.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/core/v3/base.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "proto/descriptors.h"

namespace fairlead::config {
namespace {

using google::protobuf::Message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using DestinationRule = istio::networking::v1alpha3::DestinationRule;
using VirtualService = istio::networking::v1alpha3::VirtualService;

std::vector<std::string> Read(std::string_view text, Message* message,
                              UnknownFields unknown = UnknownFields::kError) {
  const YamlDocument document = ParseYamlDocument(text);
  Report report("");
  const bool good = ReadProto(document.tree.root(), FieldPath(), report, message, unknown);
  EXPECT_EQ(good, report.errors() == 0) << text;
  std::vector<std::string> texts;
  for (const Diagnostic& diagnostic : report.Take()) texts.push_back(ToText(diagnostic));
  return texts;
}

// What was read, in protobuf's one-line text form; or the first mistake.
template <typename T>
std::string Show(std::string_view text) {
  T message;
  const std::vector<std::string> mistakes = Read(text, &message);
  return mistakes.empty() ? message.ShortDebugString() : mistakes[0];
}

TEST(ProtoReaderTest, TakesJsonAndOriginalNames) {
  EXPECT_EQ(Show<DestinationRule>("{exportTo: [a]}"), "export_to: \"a\"");
  EXPECT_EQ(Show<DestinationRule>("{export_to: [a]}"), "export_to: \"a\"");
  EXPECT_THAT(Show<DestinationRule>("{exportTo: [a], export_to: [b]}"),
              HasSubstr("export_to: cannot be set together with exportTo"));
  EXPECT_THAT(Show<DestinationRule>("{ExportTo: [a]}"),
              HasSubstr("unknown field; did you mean \"exportTo\"?"));
}

TEST(ProtoReaderTest, ReadsNumbers) {
  const auto port = [](std::string_view value) {
    return Show<DestinationRule>(
        StrCat("{trafficPolicy: {portLevelSettings: [{port: {number: ", value, "}}]}}"));
  };
  const std::string good = "traffic_policy { port_level_settings { port { number: 80 } } }";
  for (std::string_view value : {"80", "'80'", "80.0", "8e1", "0x50", "8_0"})
    EXPECT_EQ(port(value), good) << value;
  EXPECT_THAT(port("-1"), HasSubstr("-1 is out of range: from 0 to 4294967295 (out-of-range)"));
  EXPECT_THAT(port("4294967296"), HasSubstr("out-of-range"));
  EXPECT_THAT(port("1e30"), HasSubstr("out-of-range"));
  EXPECT_THAT(port("80.5"), HasSubstr("expected an integer, got number 80.5 (wrong-type)"));
  EXPECT_THAT(port("http"), HasSubstr("expected an integer, got string \"http\" (wrong-type)"));
  EXPECT_THAT(port("true"), HasSubstr("expected an integer, got boolean true (wrong-type)"));
  EXPECT_THAT(port("[80]"), HasSubstr("expected an integer, got list (wrong-type)"));
}

TEST(ProtoReaderTest, Reads64BitNumbersAndWrappers) {
  const auto cookie = [](std::string_view field, std::string_view value) {
    return Show<DestinationRule>(StrCat("{trafficPolicy: {outlierDetection: {", field, ": ", value, "}}}"));
  };
  EXPECT_EQ(cookie("consecutive5xxErrors", "7"),
            "traffic_policy { outlier_detection { consecutive_5xx_errors { value: 7 } } }");
  EXPECT_EQ(cookie("consecutive5xxErrors", "0"),
            "traffic_policy { outlier_detection { consecutive_5xx_errors { } } }");
  EXPECT_EQ(cookie("consecutive5xxErrors", "null"), "traffic_policy { outlier_detection { } }");
  google::protobuf::Int64Value wide;
  EXPECT_THAT(Read("'9223372036854775807'", &wide), IsEmpty());
  EXPECT_EQ(wide.value(), INT64_MAX);
  EXPECT_THAT(Read("9223372036854775808", &wide), ElementsAre(HasSubstr("out-of-range")));
  google::protobuf::UInt64Value natural;
  EXPECT_THAT(Read("18446744073709551615", &natural), IsEmpty());
  EXPECT_EQ(natural.value(), UINT64_MAX);
}

TEST(ProtoReaderTest, ReadsFloatingPoint) {
  google::protobuf::DoubleValue value;
  EXPECT_THAT(Read("1.5", &value), IsEmpty());
  EXPECT_EQ(value.value(), 1.5);
  EXPECT_THAT(Read("'1e3'", &value), IsEmpty());
  EXPECT_EQ(value.value(), 1000);
  EXPECT_THAT(Read("'-Infinity'", &value), IsEmpty());
  EXPECT_EQ(value.value(), -std::numeric_limits<double>::infinity());
  EXPECT_THAT(Read("'NaN'", &value), IsEmpty());
  EXPECT_NE(value.value(), value.value());
  EXPECT_THAT(Read("many", &value), ElementsAre(HasSubstr("expected a number, got string \"many\"")));
  google::protobuf::FloatValue narrow;
  EXPECT_THAT(Read("1e39", &narrow), ElementsAre(HasSubstr("out-of-range")));
}

TEST(ProtoReaderTest, BooleansAndStringsAreNotTakenForEachOther) {
  EXPECT_EQ(Show<VirtualService>("{http: [{match: [{ignoreUriCase: on}]}]}"),
            "http { match { ignore_uri_case: true } }");
  EXPECT_THAT(Show<VirtualService>("{http: [{match: [{ignoreUriCase: 'true'}]}]}"),
              HasSubstr("expected a boolean, got string \"true\""));
  EXPECT_THAT(Show<VirtualService>("{hosts: [80]}"),
              HasSubstr("hosts[0]: expected a string, got integer 80"));
  EXPECT_THAT(Show<VirtualService>("{hosts: [no]}"),
              HasSubstr("hosts[0]: expected a string, got boolean false"));
}

TEST(ProtoReaderTest, ReadsEnumsByNameAndNumber) {
  const auto mode = [](std::string_view value) {
    return Show<istio::security::v1beta1::PeerAuthentication>(StrCat("{mtls: {mode: ", value, "}}"));
  };
  EXPECT_EQ(mode("STRICT"), "mtls { mode: STRICT }");
  EXPECT_EQ(mode("3"), "mtls { mode: STRICT }");
  EXPECT_THAT(mode("STRCT"), HasSubstr("mtls.mode: unknown value STRCT; did you mean \"STRICT\"? (known: "
                                       "UNSET, DISABLE, PERMISSIVE, STRICT)"));
  EXPECT_THAT(mode("strict"), HasSubstr("unknown-value"));
  EXPECT_THAT(mode("77"), HasSubstr("unknown-value"));
  EXPECT_THAT(mode("[STRICT]"), HasSubstr("wrong-type"));
}

TEST(ProtoReaderTest, ReadsMaps) {
  using PeerAuthentication = istio::security::v1beta1::PeerAuthentication;
  EXPECT_EQ(Show<PeerAuthentication>("{portLevelMtls: {8080: {mode: DISABLE}}}"),
            "port_level_mtls { key: 8080 value { mode: DISABLE } }");
  EXPECT_THAT(Show<PeerAuthentication>("{portLevelMtls: {http: {}}}"),
              HasSubstr("portLevelMtls.http: expected an integer, got string \"http\""));
  EXPECT_THAT(Show<PeerAuthentication>("{portLevelMtls: []}"),
              HasSubstr("portLevelMtls: expected a mapping, got list"));
  EXPECT_EQ(Show<PeerAuthentication>("{selector: {matchLabels: {a: b, c: null}}}"),
            "selector { match_labels { key: \"a\" value: \"b\" } }");
  EXPECT_THAT(Show<PeerAuthentication>("{selector: {matchLabels: {a.b/c: 1}}}"),
              HasSubstr("selector.matchLabels[a.b/c]: expected a string, got integer 1"));
}

TEST(ProtoReaderTest, NullsAreAbsentButNotInLists) {
  EXPECT_EQ(Show<VirtualService>("{hosts: null, http: null}"), "");
  EXPECT_THAT(Show<VirtualService>("{http: [null]}"), HasSubstr("http[0]: expected a value, got null"));
  EXPECT_THAT(Show<VirtualService>("{hosts: [a, null]}"), HasSubstr("hosts[1]: expected a value, got null"));
}

TEST(ProtoReaderTest, AOneofHasOneMember) {
  EXPECT_EQ(Show<VirtualService>("{http: [{match: [{uri: {prefix: /, exact: null}}]}]}"),
            "http { match { uri { prefix: \"/\" } } }");
  EXPECT_THAT(
      Show<VirtualService>("{http: [{match: [{uri: {prefix: /, exact: /a}}]}]}"),
      HasSubstr("http[0].match[0].uri.exact: cannot be set together with prefix (conflicting-fields)"));
}

TEST(ProtoReaderTest, WithWarningsTheMemberDeclaredLastCounts) {
  for (std::string_view text : {"{exact: /a, prefix: /}", "{prefix: /, exact: /a}"}) {
    istio::networking::v1alpha3::StringMatch match;
    EXPECT_THAT(Read(text, &match, UnknownFields::kWarning), ElementsAre(HasSubstr("warning: ")));
    EXPECT_EQ(match.ShortDebugString(), "prefix: \"/\"");
  }
}

TEST(ProtoReaderTest, ReadsDurations) {
  const auto timeout = [](std::string_view value) {
    return Show<VirtualService>(StrCat("{http: [{timeout: ", value, "}]}"));
  };
  EXPECT_EQ(timeout("1.5s"), "http { timeout { seconds: 1 nanos: 500000000 } }");
  EXPECT_EQ(timeout("1h30m"), "http { timeout { seconds: 5400 } }");
  EXPECT_EQ(timeout("250us"), "http { timeout { nanos: 250000 } }");
  EXPECT_EQ(timeout("-1ms"), "http { timeout { nanos: -1000000 } }");
  EXPECT_EQ(timeout("'0'"), "http { timeout { } }");
  EXPECT_THAT(timeout("5"), HasSubstr("wrong-type"));
  EXPECT_THAT(timeout("'5'"), HasSubstr("\"5\" is not a duration such as 1.5s or 1h30m (wrong-duration)"));
  EXPECT_THAT(timeout("{seconds: 5}"), HasSubstr("wrong-type"));
}

TEST(ProtoReaderTest, ReadsBytes) {
  google::protobuf::BytesValue value;
  for (std::string_view text : {"+/8A", "-_8A"}) {
    EXPECT_THAT(Read(text, &value), IsEmpty());
    EXPECT_EQ(value.value(), std::string("\xfb\xff\0", 3));
  }
  for (std::string_view text : {"YQ==", "YQ"}) {
    EXPECT_THAT(Read(text, &value), IsEmpty());
    EXPECT_EQ(value.value(), "a");
  }
  for (std::string_view text : {"Y", "Y===", "YQ=", "YQ==YQ==", "Y Q="}) {
    EXPECT_THAT(Read(StrCat("'", text, "'"), &value), ElementsAre(HasSubstr("wrong-base64"))) << text;
  }
}

TEST(ProtoReaderTest, ReadsStructs) {
  google::protobuf::Struct read, expected;
  EXPECT_THAT(Read("{a: null, b: 1, c: x, d: yes, e: {f: [1, []]}, g: 9007199254740993}", &read), IsEmpty());
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"pb(
                                                              fields {
                                                                key: "a"
                                                                value { null_value: NULL_VALUE }
                                                              }
                                                              fields {
                                                                key: "b"
                                                                value { number_value: 1 }
                                                              }
                                                              fields {
                                                                key: "c"
                                                                value { string_value: "x" }
                                                              }
                                                              fields {
                                                                key: "d"
                                                                value { bool_value: true }
                                                              }
                                                              fields {
                                                                key: "e"
                                                                value {
                                                                  struct_value {
                                                                    fields {
                                                                      key: "f"
                                                                      value {
                                                                        list_value {
                                                                          values { number_value: 1 }
                                                                          values { list_value {} }
                                                                        }
                                                                      }
                                                                    }
                                                                  }
                                                                }
                                                              }
                                                              fields {
                                                                key: "g"
                                                                value { number_value: 9007199254740992 }
                                                              })pb",
                                                            &expected));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read, expected)) << read.DebugString();
  EXPECT_THAT(Read("[a]", &read), ElementsAre(HasSubstr("expected a mapping, got list")));
}

TEST(ProtoReaderTest, ReadsAnyOfEveryKnownType) {
  google::protobuf::Any any;
  EXPECT_THAT(
      Read("{'@type': type.googleapis.com/envoy.config.core.v3.Locality, region: r, sub_zone: s}", &any),
      IsEmpty());
  envoy::config::core::v3::Locality locality;
  ASSERT_TRUE(any.UnpackTo(&locality));
  EXPECT_EQ(locality.ShortDebugString(), "region: \"r\" sub_zone: \"s\"");
  EXPECT_THAT(Read("{'@type': type.googleapis.com/google.protobuf.Duration, value: 3s}", &any), IsEmpty());
  google::protobuf::Duration duration;
  ASSERT_TRUE(any.UnpackTo(&duration));
  EXPECT_EQ(duration.seconds(), 3);
}

TEST(ProtoReaderTest, AnyInsideAnyOfDynamicMessages) {
  google::protobuf::Any any;
  EXPECT_THAT(Read(R"(
'@type': type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig
name: outer
typedConfig:
  '@type': type.googleapis.com/google.protobuf.Struct
  value: {a: {b: [1]}}
)",
                   &any),
              IsEmpty());
  envoy::config::core::v3::TypedExtensionConfig extension;
  ASSERT_TRUE(any.UnpackTo(&extension));
  google::protobuf::Struct content;
  ASSERT_TRUE(extension.typed_config().UnpackTo(&content));
  EXPECT_EQ(content.fields().at("a").struct_value().fields().at("b").list_value().values(0).number_value(),
            1);
}

TEST(ProtoReaderTest, SaysWhatIsWrongWithAny) {
  google::protobuf::Any any;
  EXPECT_THAT(Read("{region: r}", &any), ElementsAre(HasSubstr("\"@type\" is missing")));
  EXPECT_THAT(Read("{'@type': a/no.such.Type}", &any),
              ElementsAre("error: @type: no message type no.such.Type is known (unknown-type)"));
  EXPECT_THAT(Read("{'@type': a/envoy.config.core.v3.Locality, regoin: r}", &any),
              ElementsAre(HasSubstr("regoin: unknown field; did you mean \"region\"?")));
  EXPECT_THAT(Read("{}", &any), ElementsAre(HasSubstr("\"@type\" is missing"))) << "as Istio's reader says";
}

TEST(ProtoReaderTest, WorksOnDynamicMessages) {
  const auto* type = proto::WholeApiPool().FindMessageTypeByName("envoy.config.cluster.v3.Cluster");
  const std::unique_ptr<Message> message(proto::WholeApiMessages().GetPrototype(type)->New());
  EXPECT_THAT(Read("{name: a, connectTimeout: 5s, type: EDS, upstreamConnectionOptions: {tcpKeepalive: "
                   "{keepaliveTime: 3}},"
                   " metadata: {filterMetadata: {x: {key: z}}}}",
                   message.get()),
              IsEmpty());
  envoy::config::cluster::v3::Cluster cluster;
  ASSERT_TRUE(cluster.ParseFromString(message->SerializeAsString()));
  EXPECT_EQ(cluster.connect_timeout().seconds(), 5);
  EXPECT_EQ(cluster.upstream_connection_options().tcp_keepalive().keepalive_time().value(), 3u);
  EXPECT_EQ(cluster.metadata().filter_metadata().at("x").fields().at("key").string_value(), "z");
}

TEST(ProtoReaderTest, ReplacesWhatIsThere) {
  DestinationRule rule;
  rule.add_export_to("old");
  rule.set_host("old");
  rule.mutable_traffic_policy()->mutable_tls()->set_sni("old");
  EXPECT_THAT(Read("{exportTo: [new], trafficPolicy: {}}", &rule), IsEmpty());
  EXPECT_EQ(rule.ShortDebugString(), "host: \"old\" traffic_policy { } export_to: \"new\"");
}

TEST(NearestNameTest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string_view> names = {"weight", "destination", "headers"};
  EXPECT_EQ(NearestName("weigth", names), "weight");
  EXPECT_EQ(NearestName("Weight", names), "weight");
  EXPECT_EQ(NearestName("header", names), "headers");
  EXPECT_EQ(NearestName("route", names), "");
  EXPECT_EQ(NearestName("x", names), "");
  EXPECT_EQ(NearestName(std::string(10000, 'x'), names), "");
}

}  // namespace
}  // namespace fairlead::config
