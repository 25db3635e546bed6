#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/patch/patch_fixture.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::cluster::v3::Cluster;

struct Result {
  bool kept = false;
  Cluster cluster;
  PatchOutcome outcome;
};

Result Apply(const std::string& cluster, const std::string& patches, Side side = Side::kOutbound,
             const std::vector<std::string_view>& hosts = {}) {
  Result result;
  result.cluster = FromJson<Cluster>(cluster);
  result.kept = PatchCluster(MakeSet(side, patches), hosts, &result.cluster, &result.outcome);
  return result;
}

std::string Merging(std::string_view match) {
  return StrCat(R"({"applyTo": "CLUSTER", "match": )", match,
                R"(, "patch": {"operation": "MERGE", "value": {"lbPolicy": "RING_HASH"}}})");
}

bool Matches(const std::string& name, std::string_view match, Side side = Side::kOutbound,
             const std::vector<std::string_view>& hosts = {}) {
  return Apply(StrCat(R"({"name": ")", name, "\"}"), Merging(match), side, hosts).cluster.lb_policy() ==
         Cluster::RING_HASH;
}

TEST(PatchClusterTest, Match) {
  const std::string name = "outbound|80|v1|web.default.svc.cluster.local";
  EXPECT_TRUE(Matches(name, "{}"));
  EXPECT_TRUE(Matches(name, R"({"context": "SIDECAR_OUTBOUND"})"));
  EXPECT_FALSE(Matches(name, R"({"context": "SIDECAR_INBOUND"})"));
  EXPECT_TRUE(Matches(name, R"({"cluster": {"name": "outbound|80|v1|web.default.svc.cluster.local"}})"));
  EXPECT_FALSE(Matches(name, R"({"cluster": {"name": "outbound|80||web.default.svc.cluster.local"}})"));
  EXPECT_TRUE(Matches(name, R"({"cluster": {"subset": "v1", "portNumber": 80}})"));
  EXPECT_FALSE(Matches(name, R"({"cluster": {"subset": "v2"}})"));
  EXPECT_FALSE(Matches(name, R"({"cluster": {"portNumber": 81}})"));
  EXPECT_FALSE(Matches(name, R"({"cluster": {"service": "web"}})"));
}

TEST(PatchClusterTest, InboundClustersGoByTheServicesBehindThem) {
  const std::string match = R"({"cluster": {"service": "b.svc"}})";
  EXPECT_TRUE(Matches("inbound|8080||", match, Side::kInbound, {"a.svc", "b.svc"}));
  EXPECT_FALSE(Matches("inbound|8080||", match, Side::kInbound, {"a.svc"}));
}

TEST(PatchClusterTest, Remove) {
  const Result result =
      Apply(R"({"name": "a"})", R"({"applyTo": "CLUSTER", "patch": {"operation": "REMOVE"}})");
  EXPECT_FALSE(result.kept);
}

constexpr char kTls[] = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

std::string Socket(std::string_view name, std::string_view sni) {
  return StrCat(R"({"name": ")", name, R"(", "typedConfig": {"@type": ")", kTls, R"(", "sni": ")", sni,
                "\"}}");
}

std::string MergingSocket(std::string_view name) {
  return StrCat(R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"lbPolicy": "RING_HASH",
                "transportSocket": )",
                Socket(name, "patched"), "}}}");
}

TEST(PatchClusterTest, TransportSocketOfTheSameName) {
  const Result result =
      Apply(StrCat(R"({"name": "a", "transportSocket": )", Socket("tls", "own"), "}"), MergingSocket("tls"));
  EXPECT_NE(ToJson(result.cluster).find("patched"), std::string::npos);
  // Nothing else of such a patch counts.
  EXPECT_EQ(result.cluster.lb_policy(), Cluster::ROUND_ROBIN);
}

TEST(PatchClusterTest, TransportSocketOfAnotherNameReplaces) {
  const Result result = Apply(StrCat(R"({"name": "a", "transportSocket": )", Socket("tls", "own"), "}"),
                              MergingSocket("other"));
  EXPECT_EQ(result.cluster.transport_socket().name(), "other");
}

TEST(PatchClusterTest, TransportSocketMatches) {
  const std::string cluster =
      StrCat(R"({"name": "a", "transportSocketMatches": [{"name": "m", "transportSocket": )",
             Socket("tls", "own"), "}]}");
  EXPECT_NE(ToJson(Apply(cluster, MergingSocket("tls")).cluster).find("patched"), std::string::npos);
  // A cluster may not have both.
  EXPECT_FALSE(Apply(cluster, MergingSocket("other")).cluster.has_transport_socket());
}

TEST(PatchClusterTest, PatchThatDoesNotFitIsLeftOutWithTheRestOfItsObject) {
  const std::string raw =
      R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"transportSocket":
      {"name": "tls", "typedConfig":
       {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"}}}}})";
  const std::string cluster = StrCat(R"({"name": "a", "transportSocket": )", Socket("tls", "own"), "}");
  const Result result = Apply(cluster, StrCat(raw, ",", Merging("{}")));
  EXPECT_TRUE(result.kept);
  EXPECT_EQ(result.outcome.failed().size(), 1u);
  EXPECT_EQ(ToJson(result.cluster), ToJson(FromJson<Cluster>(cluster)));
}

TEST(PatchClusterTest, Added) {
  const std::string any =
      R"({"applyTo": "CLUSTER", "patch": {"operation": "ADD", "value": {"name": "added"}}})";
  PatchOutcome outcome;
  EXPECT_EQ(AddedClusters(MakeSet(Side::kOutbound, any), &outcome).size(), 1u);
  EXPECT_EQ(AddedClusters(MakeSet(Side::kGateway, any), &outcome).size(), 1u);
  EXPECT_EQ(AddedClusters(MakeSet(Side::kInbound, any), &outcome).size(), 0u);
}

TEST(ReadPatchesTest, UnreadableValuesAreLeftOut) {
  const auto patches = ReadPatches(MakeEnvoyFilter(
      "f",
      StrCat(
          R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connectTimeout": "soon"}}},)",
          R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE"}},)",
          R"({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"name": "a", "noSuchField": 1}}},)",
          R"({"applyTo": "CLUSTER", "patch": {"operation": "INSERT_FIRST", "value": {"name": "b"}}})")));
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0]->Value<Cluster>().name(), "a");
  EXPECT_TRUE(patches[1]->Adds());
}

}  // namespace
}  // namespace fairlead::gen::patch
