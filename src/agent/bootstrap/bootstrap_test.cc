#include "agent/bootstrap/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agent/bootstrap/downward_api.h"
#include "agent/bootstrap/envoy_program.h"
#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/node.h"
#include "agent/bootstrap/platform.h"
#include "agent/bootstrap/workload_addresses.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// A pod's folder, with the files that Kubernetes mounts.
class PodFolder {
 public:
  PodFolder() : path_(StrCat("/tmp/pod-folder-", getpid())) { std::filesystem::create_directories(path_); }
  ~PodFolder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << text;
  }
  Options Read(const Environment& environment, const std::vector<std::string>& arguments = {}) const {
    Environment whole = {
        {"POD_NAME", "web-1"}, {"POD_NAMESPACE", "shop"}, {"INSTANCE_IP", "10.1.2.3,10.1.2.4"}};
    for (const auto& [name, value] : environment) whole[name] = value;
    auto options = ReadOptions(arguments, whole, path_);
    EXPECT_TRUE(options.ok()) << options.status();
    return options.ok() ? *options : Options();
  }

 private:
  const std::string path_;
};

json ClusterOf(const json& bootstrap, const std::string& name) {
  for (const json& one : bootstrap["static_resources"]["clusters"]) {
    if (one["name"] == name) return one;
  }
  return {};
}

TEST(ParseDownwardApi, ReadsWhatGoQuotes) {
  const auto values = ParseDownwardApi("a=\"b\"\nno value\nc=\"x\\n\\\"\\\\\\t\\u00e4\\x41\\101=\"\n");
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->at("a"), "b");
  EXPECT_EQ(values->at("c"),
            "x\n\"\\\t\xC3\xA4"
            "AA=");
  EXPECT_EQ(values->size(), 2u);
  EXPECT_EQ(ParseDownwardApi("a=`b\\\"\r`")->at("a"), "b\\\"");
  for (const char* bad :
       {"a=b", "a=\"", "a=\"b\"c\"", "a=\"\\q\"", "a=\"\\u12\"", "a=\"\\ud800\"", "a=`b`c`"})
    EXPECT_EQ(std::string(ParseDownwardApi(StrCat("x=\"y\"\n", bad)).status().message()),
              "line 2: the value of a is not a quoted text")
        << bad;
}

TEST(WorkloadAddresses, SeveralAreTakenAloneAndOneComesFirst) {
  EXPECT_THAT(WorkloadAddresses("10.0.0.1, fd00::1,nonsense", ""), ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_EQ(WorkloadAddresses("203.0.113.9", "").front(), "203.0.113.9");
  EXPECT_FALSE(WorkloadAddresses("", "").empty());
}

TEST(ReachOf, FollowsTheFamilies) {
  EXPECT_EQ(ReachOf({"10.0.0.1"}, true).lookup_family, "V4_ONLY");
  EXPECT_EQ(ReachOf({"fd00::1"}, false).localhost, "::1");
  EXPECT_EQ(ReachOf({"10.0.0.1", "fd00::1"}, false).other_wildcard, "");
  const Reach both = ReachOf({"fd00::1", "10.0.0.1"}, true);
  EXPECT_EQ(both.wildcard, "::");
  EXPECT_EQ(both.other_wildcard, "0.0.0.0");
  EXPECT_EQ(both.lookup_family, "ALL");
}

TEST(NodeMetadata, LabelsAndAnnotationsComeFromThePodsFiles) {
  const PodFolder pod;
  pod.Write("etc/istio/pod/labels", "app=\"web\"\npod-template-hash=\"7\"\nistio-locality=\"eu.eu-1.a\"\n");
  pod.Write("etc/istio/pod/annotations", "sidecar.istio.io/extraStatTags=\"x\"\n");
  const Options options = pod.Read({{"ISTIO_METAJSON_LABELS", R"({"app": "old", "team": "t"})"}});
  const json& metadata = options.metadata;
  EXPECT_EQ(metadata["LABELS"], (json{{"app", "web"}, {"istio-locality", "eu/eu-1/a"}, {"team", "t"}}));
  EXPECT_EQ(metadata["STATIC_LABELS"], (json{{"app", "old"}, {"team", "t"}}));
  EXPECT_EQ(metadata["ANNOTATIONS"], (json{{"sidecar.istio.io/extraStatTags", "x"}}));
  EXPECT_EQ(BuildNode(options)["locality"], (json{{"region", "eu"}, {"zone", "eu-1"}, {"sub_zone", "a"}}));
  EXPECT_EQ(ServiceCluster(options), "web.shop");
}

TEST(NodeMetadata, AFileThatCannotBeReadIsRemarkedOn) {
  const PodFolder pod;
  pod.Write("etc/istio/pod/labels", "app=web\n");
  const Options options = pod.Read({});
  ASSERT_EQ(options.remarks.size(), 1u);
  EXPECT_THAT(options.remarks[0],
              testing::HasSubstr("labels: line 1: the value of app is not a quoted text"));
}

TEST(NodeMetadata, KnownKeysAreReadInAnySpellingAndFormsAreIstios) {
  const PodFolder pod;
  const Options options = pod.Read({{"ISTIO_META_DNS_CAPTURE", "1"},
                                    {"ISTIO_META_DNS_AUTO_ALLOCATE", "0"},
                                    {"ISTIO_META_POD_PORTS", R"([ {"containerPort": 80, "hostIP": "x"} ])"},
                                    {"ISTIO_METAJSON_FROM_LABELS", R"({"network": "n1", "count": 7})"}});
  EXPECT_EQ(options.metadata["DNS_CAPTURE"], "true");
  EXPECT_EQ(options.metadata["DNS_AUTO_ALLOCATE"], "0");
  EXPECT_EQ(options.metadata["POD_PORTS"], R"([{"containerPort":80,"protocol":""}])");
  EXPECT_EQ(options.metadata["NETWORK"], "n1");
  EXPECT_EQ(options.metadata["network"], "n1");
  EXPECT_EQ(options.metadata["count"], 7);
}

TEST(EffectiveProxyConfig, TheAnnotationCountsMoreThanTheEnvironmentAndTheMeshLeast) {
  const PodFolder pod;
  pod.Write("etc/istio/config/mesh",
            "defaultConfig: {drainDuration: 3s, statusPort: 15030, proxyMetadata: {A: mesh, B: mesh}}\n");
  pod.Write("etc/istio/pod/annotations",
            "proxy.istio.io/config=\"concurrency: 5\\nproxyMetadata: {A: pod}\\n\"\n"
            "status.sidecar.istio.io/port=\"15031\"\n");
  const Options options = pod.Read({{"PROXY_CONFIG", "{concurrency: 4, drainDuration: 4s}"}});
  EXPECT_EQ(options.concurrency, 5);
  EXPECT_EQ(options.drain_duration, std::chrono::seconds(4));
  EXPECT_EQ(options.status_port, 15031);
  EXPECT_EQ(options.proxy_config["proxyMetadata"], (json{{"A", "pod"}, {"B", "mesh"}}));
}

TEST(EffectiveProxyConfig, AMistakeInTheMeshsFileNamesFileLineAndField) {
  const PodFolder pod;
  pod.Write("etc/istio/config/mesh", "trustDomain: x\ndefaultConfig:\n  drainDuration: soon\n");
  const auto options = ReadOptions({}, {}, StrCat("/tmp/pod-folder-", getpid()));
  EXPECT_THAT(std::string(options.status().message()),
              testing::StartsWith("./etc/istio/config/mesh line 3: defaultConfig.drainDuration: "));
}

TEST(BuildBootstrap, StatisticsFollowTheAnnotations) {
  const PodFolder pod;
  pod.Write("etc/istio/pod/annotations",
            "sidecar.istio.io/statsInclusionPrefixes=\"http.{pod_ip}_\"\n"
            "sidecar.istio.io/statsHistogramBuckets=\"{\\\"istio\\\":[1,5]}\"\n"
            "sidecar.istio.io/statsFlushInterval=\"90s\"\n"
            "sidecar.istio.io/statsEvictionInterval=\"100s\"\n");
  const Options options = pod.Read({});
  EXPECT_THAT(options.remarks,
              ElementsAre("annotation sidecar.istio.io/statsEvictionInterval: not a duration "
                          "that is a multiple of the flush interval"));
  const json bootstrap = BuildBootstrap(options);
  EXPECT_EQ(bootstrap["stats_flush_interval"], "90s");
  EXPECT_FALSE(bootstrap.contains("stats_eviction_interval"));
  EXPECT_EQ(bootstrap["stats_config"]["histogram_bucket_settings"],
            json::array({{{"match", {{"prefix", "istio"}}}, {"buckets", {1, 5}}}}));
  const json patterns = bootstrap["stats_config"]["stats_matcher"]["inclusion_list"]["patterns"];
  EXPECT_EQ(patterns[1]["prefix"], "http.10.1.2.3_");
  EXPECT_EQ(patterns[2]["prefix"], "http.10.1.2.4_");
}

TEST(BuildBootstrap, IntervalsAndNumbersHaveGosForms) {
  const PodFolder pod;
  pod.Write("etc/istio/pod/annotations", "sidecar.istio.io/statsFlushInterval=\"2500ms\"\n");
  const Options options = pod.Read({{"PROXY_CONFIG",
                                     "{proxyMetadata: {ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: '+7'}, "
                                     "fileFlushMinSizeKb: 4294967295}"},
                                    {"ISTIO_METAJSON_X", R"({"a": 1e3, "b": [-0.0, 1.5],
                                      "c": [9007199254740993, -9007199254740993, 1e19, 3e19]})"}});
  EXPECT_EQ(options.metadata["a"].dump(), "1000");
  EXPECT_EQ(options.metadata["c"].dump(), "[9007199254740992,-9007199254740992,10000000000000000000,3e+19]")
      << "as doubles";
  EXPECT_EQ(options.metadata["b"].dump(), "[0,1.5]");
  const json bootstrap = BuildBootstrap(options);
  EXPECT_EQ(bootstrap["stats_flush_interval"], "2.5s");
  EXPECT_EQ(bootstrap["overload_manager"]["resource_monitors"][0]["typed_config"]
                     ["max_active_downstream_connections"],
            7);
  EXPECT_THAT(EnvoyCommand(options, "/b.json", ""), testing::Contains("4294967295"));
}

TEST(NodeMetadata, LabelsAndAnnotationsMayBeMetadata) {
  const PodFolder pod;
  const Options options =
      pod.Read({{"ISTIO_METAJSON_X",
                 R"({"labels": {"app": "web"}, "ANNOTATIONS": {"sidecar.istio.io/extraStatTags": "x"}})"}});
  EXPECT_EQ(ServiceCluster(options), "web.shop");
  EXPECT_EQ(options.metadata["LABELS"], (json{{"app", "web"}}));
  EXPECT_FALSE(options.metadata.contains("STATIC_LABELS"));
  EXPECT_NE(JsonText(BuildBootstrap(options)["stats_config"]).find("(x=\\\\.="), std::string::npos);
}

TEST(NodeMetadata, LabelsThatAreNoTextsAreEmpty) {
  const PodFolder pod;
  const Options options = pod.Read({{"ISTIO_METAJSON_LABELS", R"({"app": "web", "n": 1})"}});
  EXPECT_EQ(options.metadata["LABELS"], (json{{"app", "web"}, {"n", ""}}));
}

TEST(BuildBootstrap, ATracerHasItsClusterAndItsTls) {
  const PodFolder pod;
  const Options options =
      pod.Read({{"HOST_IP", "10.0.0.7"},
                {"PROXY_CONFIG",
                 "tracing: {datadog: {address: '$(HOST_IP):8126'}, tlsSettings: {mode: SIMPLE, "
                 "caCertificates: /r.pem, subjectAltNames: [a]}}\n"}});
  const json bootstrap = BuildBootstrap(options);
  EXPECT_EQ(bootstrap["tracing"]["http"]["typed_config"]["service_name"], "istio-proxy.shop");
  const json cluster = ClusterOf(bootstrap, "datadog_agent");
  EXPECT_NE(JsonText(cluster).find(R"("address":"10.0.0.7","port_value":8126)"), std::string::npos);
  const json& context = MemberAt(
      cluster, {"transport_socket", "typed_config", "common_tls_context", "combined_validation_context"});
  EXPECT_EQ(MemberAt(context, {"validation_context_sds_secret_config", "name"}), "file-root:/r.pem");
}

TEST(BuildBootstrap, PortsOfZeroHaveNoListeners) {
  const PodFolder pod;
  const auto names = [&](const std::vector<std::string>& arguments, const Environment& environment) {
    std::vector<std::string> found;
    const json bootstrap = BuildBootstrap(pod.Read(environment, arguments));
    for (const json& one : bootstrap["static_resources"]["listeners"]) found.push_back(one["name"]);
    return found;
  };
  EXPECT_THAT(names({}, {}), ElementsAre("0.0.0.0_15090", "0.0.0.0_15021"));
  EXPECT_THAT(names({"--envoyPrometheusPort=0", "--statusPort=0"}, {}), ElementsAre());
  EXPECT_THAT(
      names({}, {{"ENVOY_SECURE_METRICS_PORT", "15091"}, {"ENVOY_SECURE_MERGED_METRICS_PORT", "15092"}}),
      ElementsAre("0.0.0.0_15090", "0.0.0.0_15091", "0.0.0.0_15092", "0.0.0.0_15021"));
}

// A stock Envoy refuses a bootstrap with an extension that it lacks.
TEST(BuildBootstrap, IstiosExtensionIsForProgramsThatMayHaveIt) {
  const PodFolder pod;
  Options options = pod.Read({{"ISTIO_META_ENABLE_HBONE", "true"}});
  EXPECT_EQ(BuildBootstrap(options)["bootstrap_extensions"].size(), 2u);
  options.istio_extensions = MayHaveIstioExtensions("/proc/self/exe");
  EXPECT_TRUE(options.istio_extensions) << "this program has its name";
  options.istio_extensions = MayHaveIstioExtensions("/bin/true");
  EXPECT_FALSE(options.istio_extensions);
  EXPECT_EQ(BuildBootstrap(options)["bootstrap_extensions"].size(), 1u);
  pod.Write("script", "#!/bin/sh\n");
  EXPECT_TRUE(MayHaveIstioExtensions(StrCat("/tmp/pod-folder-", getpid(), "/script")));
}

TEST(CheckBootstrap, StackdriverWantsAProject) {
  const PodFolder pod;
  const Environment environment = {{"PROXY_CONFIG", "tracing: {stackdriver: {}}"}};
  EXPECT_FALSE(CheckBootstrap(pod.Read(environment)).ok());
  Environment with_project = environment;
  with_project["GCP_METADATA"] = "p|1|c|us-central1-f";
  with_project["GCP_ZONE"] = "us-central1-f";
  const Options options = pod.Read(with_project);
  EXPECT_TRUE(CheckBootstrap(options).ok());
  EXPECT_EQ(options.metadata["PLATFORM_METADATA"]["gcp_gke_cluster_url"],
            "https://container.googleapis.com/v1/projects/p/locations/us-central1-f/clusters/c");
  EXPECT_EQ(options.locality, "us-central1/us-central1-f");
}

TEST(FindPlatform, AsksTheServerOfTheMachinesCloudAlone) {
  std::vector<std::string> asked;
  const AskMetadata ask = [&asked](const MetadataQuestion& question) -> std::optional<std::string> {
    asked.push_back(StrCat(question.method, " ", question.url));
    const auto ends = [&question](std::string_view end) { return question.url.ends_with(end); };
    if (ends("api/token")) return "t";
    if (ends("iam/info")) return "arn:aws:iam::1";
    if (ends("placement/region")) return "eu-west-1\n";
    if (ends("availability-zone")) return "eu-west-1a";
    return std::nullopt;
  };
  EXPECT_TRUE(FindPlatform({}, {}, false, ask).metadata.empty());
  EXPECT_TRUE(
      FindPlatform({{"CLOUD_PLATFORM", "none"}}, {"Amazon EC2", "", ""}, false, ask).metadata.empty());
  EXPECT_THAT(asked, ElementsAre()) << "no other machine is asked anything";
  const Platform aws = FindPlatform({}, {"Amazon EC2", "", ""}, false, ask);
  EXPECT_EQ(aws.locality, "eu-west-1/eu-west-1a");
  EXPECT_EQ(aws.metadata.at("aws_region"), "eu-west-1");
  EXPECT_EQ(asked[0], "PUT http://169.254.169.254/latest/api/token");
  const AskMetadata azure = [](const MetadataQuestion& question) -> std::optional<std::string> {
    if (question.url.find("api-version=2021-01-01") == std::string::npos)
      return R"({"newest-versions": ["2021-01-01", "2018-02-01"]})";
    return R"({"compute": {"name": "vm", "location": "westus", "zone": "2", "tags": "a:b;c"}})";
  };
  const Platform found = FindPlatform({{"CLOUD_PLATFORM", "azure"}}, {}, false, azure);
  EXPECT_EQ(found.metadata,
            (std::map<std::string, std::string>{
                {"azure_name", "vm"}, {"azure_location", "westus"}, {"azure_a", "b"}, {"azure_c", ""}}));
  EXPECT_EQ(found.locality, "westus/2");
}

TEST(OverrideJson, HasTheHostsAddress) {
  const auto text = OverrideJson("b: 1\na: {x: \"[$(HOST_IP)]:80\", z: \"$(HOST_IP):81\"}\n", "fd00::1");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, R"({"a":{"x":"[fd00::1]:80","z":"[fd00::1]:81"},"b":1})");
  EXPECT_THAT(std::string(OverrideJson("a: [\n", "").status().message()), testing::StartsWith("line "));
}

TEST(EnvoyCommand, LevelsOfComponentsMayBeAmongTheLevels) {
  Options options;
  options.log_level = "info,upstream:debug,misc:error";
  options.component_log_level = "xds:trace";
  const auto command = EnvoyCommand(options, "/b.json", "{}");
  const std::string text = Join(command, " ");
  EXPECT_THAT(text, testing::HasSubstr("-l info --component-log-level upstream:debug,misc:error "));
  EXPECT_THAT(text, testing::HasSubstr("--disable-hot-restart"));
  EXPECT_THAT(text, testing::EndsWith("--config-yaml {}"));
}

}  // namespace
}  // namespace fairlead::agent
