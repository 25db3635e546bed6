#include "injection/annotation_checks.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

std::string Why(std::string_view name, std::string_view value) {
  Json annotations;
  annotations[std::string(name)] = value;
  std::string why(CheckAnnotations(annotations).message());
  const size_t begin = why.find("': "), end = why.rfind("\n\n");
  return why.empty() ? "" : why.substr(begin + 3, end - begin - 3);
}

TEST(AnnotationChecksTest, SayWhatIsWrong) {
  EXPECT_EQ(Why("sidecar.istio.io/interceptionMode", "TPROXY"), "");
  EXPECT_EQ(Why("sidecar.istio.io/interceptionMode", "tproxy"),
            "interceptionMode invalid, use REDIRECT,TPROXY,NONE: tproxy");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/includeOutboundIPRanges", "*"), "");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.0.0.0/8,2001:db8::/32"), "");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.0.0.0/33"),
            "excludeIPRanges invalid: failed parsing cidr '10.0.0.0/33': netip.ParsePrefix(\"10.0.0.0/33\"): "
            "prefix length "
            "out of range");
  EXPECT_EQ(
      Why("traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.0.0.256/8"),
      "excludeIPRanges invalid: failed parsing cidr '10.0.0.256/8': netip.ParsePrefix(\"10.0.0.256/8\"): "
      "ParseAddr(\"10.0.0.256\"): IPv4 field has value >255");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/includeInboundPorts", "80, 443"), "");
  EXPECT_EQ(Why("readiness.status.sidecar.istio.io/periodSeconds", "4294967296"),
            "strconv.ParseUint: parsing \"4294967296\": value out of range");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/excludeInterfaces", "eth0,"), "empty interface name");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/kubevirtInterfaces", "0eth"),
            "interface name \"0eth\" contains invalid characters");
  EXPECT_EQ(Why("traffic.sidecar.istio.io/includeOutboundPorts", "nonsense"), "");
}

TEST(AnnotationChecksTest, TheProxyConfigIsCheckedAsAWhole) {
  EXPECT_EQ(Why("proxy.istio.io/config", "{concurrency: 2, wharf: 1}"), "");
  EXPECT_NE(Why("proxy.istio.io/config", "{discoveryAddress: nowhere}").find("missing port in address"),
            std::string::npos);
  const auto unreadable = [](std::string_view text) {
    return Why("proxy.istio.io/config", text)
        .substr(std::string_view("failed to convert to apply proxy config: ").size());
  };
  EXPECT_EQ(unreadable("statusPort: high"), "invalid character 'h' looking for beginning of value");
  EXPECT_EQ(unreadable("statusPort: 1.5"), "json: cannot unmarshal number 1.5 into Go value of type int32");
  EXPECT_EQ(unreadable("concurrency: [2]"), "json: cannot unmarshal array into Go value of type int32");
  EXPECT_EQ(unreadable("drainDuration: 5"), "json: cannot unmarshal number into Go value of type string");
  EXPECT_EQ(unreadable("drainDuration: '5'"), "bad Duration: time: missing unit in duration \"5\"");
  EXPECT_EQ(
      unreadable("interceptionMode: SOME"),
      "unknown value \"\\\"SOME\\\"\" for enum istio.mesh.v1alpha1.ProxyConfig.InboundInterceptionMode");
  EXPECT_EQ(unreadable("proxyMetadata: {A: 1}"),
            "json: cannot unmarshal number into Go value of type string");
  EXPECT_EQ(unreadable("tracing: [zipkin]"),
            "json: cannot unmarshal array into Go value of type map[string]json.RawMessage");
  EXPECT_EQ(Why("proxy.istio.io/config", "just text"),
            "failed to convert to apply proxy config: json: cannot unmarshal string into Go value of type "
            "map[string]json.RawMessage");
}

}  // namespace
}  // namespace fairlead::injection
