#include "app/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fairlead::app {
namespace {

absl::StatusOr<Environment> Read(const std::map<std::string, std::string>& set) {
  return ReadEnvironment([&](const char* name) {
    auto it = set.find(name);
    return it == set.end() ? nullptr : it->second.c_str();
  });
}

TEST(EnvironmentTest, TheTableSaysTheDefaults) {
  std::map<std::string, std::string> as_documented;
  for (const EnvironmentVariable& variable : EnvironmentTable()) {
    as_documented[std::string(variable.name)] = std::string(variable.fallback);
  }
  const auto documented = Read(as_documented);
  ASSERT_TRUE(documented.ok());
  const Environment defaults;
  EXPECT_EQ(documented->debounce_after, defaults.debounce_after);
  EXPECT_EQ(documented->debounce_max, defaults.debounce_max);
  EXPECT_EQ(documented->debounce_endpoints, defaults.debounce_endpoints);
  EXPECT_EQ(documented->endpoint_pushes_per_second, defaults.endpoint_pushes_per_second);
  EXPECT_EQ(documented->send_timeout, defaults.send_timeout);
  EXPECT_EQ(documented->push_throttle, defaults.push_throttle);
  EXPECT_EQ(documented->max_requests_per_second, defaults.max_requests_per_second);
  EXPECT_EQ(documented->debug_on_http, defaults.debug_on_http);
  EXPECT_EQ(documented->cluster_id, defaults.cluster_id);
  EXPECT_EQ(documented->pod_namespace, defaults.pod_namespace);
  EXPECT_FALSE(documented->plaintext_identity);
  EXPECT_EQ(documented->max_receive_size, defaults.max_receive_size);
  EXPECT_EQ(documented->max_streams, defaults.max_streams);
  EXPECT_EQ(documented->http_connections, defaults.http_connections);
  EXPECT_EQ(documented->keepalive_interval, defaults.keepalive_interval);
  EXPECT_EQ(documented->keepalive_timeout, defaults.keepalive_timeout);
  EXPECT_EQ(documented->key_refresh, defaults.key_refresh);
  EXPECT_EQ(documented->believe_key_servers, defaults.believe_key_servers);
  EXPECT_TRUE(documented->blocked_key_servers.empty());
  EXPECT_EQ(documented->certificate_queue, defaults.certificate_queue);
  EXPECT_EQ(documented->certificate_rate, defaults.certificate_rate);
  EXPECT_EQ(documented->certificate_burst, defaults.certificate_burst);
}

TEST(EnvironmentTest, RangesThatKeysDoNotComeFrom) {
  const auto read = Read({{"BLOCKED_CIDRS_IN_JWKS_URIS", "10.0.0.0/8, fd00::/8,"}});
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->blocked_key_servers.size(), 2u);
  EXPECT_EQ(read->blocked_key_servers[1].ToString(), "fd00::/8");
  EXPECT_FALSE(Read({{"BLOCKED_CIDRS_IN_JWKS_URIS", "10.0.0.0/8,internal"}}).ok());
}

TEST(EnvironmentTest, StandardsOfTls) {
  EXPECT_EQ(Read({{"COMPLIANCE_POLICY", "pqc"}})->compliance, model::Compliance::kPqc);
  EXPECT_EQ(Read({{"COMPLIANCE_POLICY", "fips-140-2"}})->compliance, model::Compliance::kFips1402);
  EXPECT_EQ(Read({})->compliance, model::Compliance::kNone);
  EXPECT_FALSE(Read({{"COMPLIANCE_POLICY", "fips"}}).ok());
}

TEST(EnvironmentTest, ReadsWhatIsSet) {
  const auto read = Read({{"PILOT_DEBOUNCE_AFTER", "1m30s"},
                          {"PILOT_ENABLE_EDS_DEBOUNCE", "true"},
                          {"PILOT_PUSH_THROTTLE", "3"},
                          {"PILOT_XDS_SEND_TIMEOUT", "0"},
                          {"ISTIO_GPRC_MAXRECVMSGSIZE", "1000"},
                          {"FAIRLEAD_MAX_NAMES", "200"},
                          {"FAIRLEAD_MAX_NAME_BYTES", "3000"},
                          {"FAIRLEAD_NODE_BYTES", "4000"},
                          {"FAIRLEAD_NODE_VALUES", "50"},
                          {"FAIRLEAD_NODE_TEXT", "60"},
                          {"FAIRLEAD_NODE_ENTRIES", "7"},
                          {"FAIRLEAD_UNPROVEN_MEMORY", "8000"},
                          {"GRPC_KEEPALIVE_INTERVAL", "1h"},
                          {"PILOT_MAX_REQUESTS_PER_SECOND", "12.5"},
                          {"FAIRLEAD_PLAINTEXT_IDENTITY", "node"},
                          {"FAIRLEAD_SHADOW", "true"},
                          {"FAIRLEAD_HTTP_CONNECTIONS", "8"},
                          {"POD_NAMESPACE", "mesh"}});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->debounce_after, std::chrono::seconds(90));
  EXPECT_TRUE(read->debounce_endpoints);
  EXPECT_EQ(read->push_throttle, 3);
  EXPECT_EQ(read->send_timeout.count(), 0);
  EXPECT_EQ(read->max_receive_size, 1000);
  EXPECT_EQ(read->max_names, 200);
  EXPECT_EQ(read->max_name_bytes, 3000);
  EXPECT_EQ(read->node_bytes, 4000);
  EXPECT_EQ(read->node_values, 50);
  EXPECT_EQ(read->node_text, 60);
  EXPECT_EQ(read->node_entries, 7);
  EXPECT_EQ(read->unproven_memory, 8000);
  EXPECT_EQ(read->keepalive_interval, "1h");
  EXPECT_EQ(read->max_requests_per_second, 12.5);
  EXPECT_TRUE(read->shadow);
  EXPECT_TRUE(read->plaintext_identity);
  EXPECT_EQ(read->http_connections, 8u);
  EXPECT_EQ(read->pod_namespace, "mesh");
}

TEST(EnvironmentTest, NamesWhatItCannotRead) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"PILOT_DEBOUNCE_MAX", "soon"},
                                          {"PILOT_ENABLE_EDS_DEBOUNCE", "maybe"},
                                          {"PILOT_PUSH_THROTTLE", "-1"},
                                          {"PILOT_MAX_REQUESTS_PER_SECOND", "nan"},
                                          {"PILOT_XDS_SEND_TIMEOUT", "-5s"},
                                          {"ISTIO_GPRC_MAXRECVMSGSIZE", "0"},
                                          {"ISTIO_GPRC_MAXSTREAMS", "many"},
                                          {"FAIRLEAD_MAX_NAMES", "0"},
                                          {"GRPC_KEEPALIVE_TIMEOUT", "10"},
                                          {"FAIRLEAD_HTTP_CONNECTIONS", "7"},
                                          {"FAIRLEAD_PLAINTEXT_IDENTITY", "yes"}}) {
    const auto read = Read({{name, value}});
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr(name));
  }
}

TEST(EnvironmentFeaturesTest, TheTableSaysTheDefaults) {
  std::map<std::string, std::string> as_documented;
  for (const EnvironmentVariable& variable : EnvironmentTable())
    as_documented[std::string(variable.name)] = std::string(variable.fallback);
  EXPECT_EQ(Read(as_documented)->features, model::Features());
}

TEST(EnvironmentFeaturesTest, ReadsWhatIsSet) {
  const auto read = Read({{"PILOT_ENABLE_ALPN_FILTER", "false"},
                          {"PILOT_ENABLE_MONGO_FILTER", "false"},
                          {"ENABLE_100_CONTINUE_HEADERS", "false"},
                          {"PILOT_SIDECAR_USE_REMOTE_ADDRESS", "true"},
                          {"ENABLE_HCM_INTERNAL_NETWORKS", "true"},
                          {"ENABLE_LOCALITY_WEIGHTED_LB_CONFIG", "true"},
                          {"PILOT_SKIP_VALIDATE_TRUST_DOMAIN", "true"},
                          {"DISABLE_TRACK_REMAINING_CB_METRICS", "false"},
                          {"MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP", "0"},
                          {"PILOT_DNS_CARES_UDP_MAX_QUERIES", "7"},
                          {"PILOT_DNS_JITTER_DURATION", "1s"},
                          {"PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT", "0s"},
                          {"PILOT_TRACE_SAMPLING", "12.5"}});
  ASSERT_TRUE(read.ok()) << read.status();
  const model::Features& features = read->features;
  EXPECT_FALSE(features.alpn_filter || features.mongo_filter || features.pass_100_continue ||
               features.untracked_limits);
  EXPECT_TRUE(features.sidecar_remote_address && features.internal_networks && features.locality_weights &&
              features.skip_trust_domain);
  EXPECT_EQ(features.accepts_per_event, 0);
  EXPECT_EQ(features.dns_queries_per_socket, 7);
  EXPECT_EQ(features.dns_jitter, std::chrono::seconds(1));
  EXPECT_EQ(features.handshake_timeout.count(), 0);
  EXPECT_EQ(features.trace_sampling, 12.5);
}

TEST(EnvironmentFeaturesTest, WhoFetchesKeys) {
  const auto mode = [](const char* text) {
    return Read({{"PILOT_JWT_ENABLE_REMOTE_JWKS", text}})->features.key_fetch;
  };
  using model::KeyFetch;
  EXPECT_EQ(mode("istiod"), KeyFetch::kHere);
  EXPECT_EQ(mode("true"), KeyFetch::kHybrid);
  EXPECT_EQ(mode("hybrid"), KeyFetch::kHybrid);
  EXPECT_EQ(mode("envoy"), KeyFetch::kProxies);
  EXPECT_FALSE(Read({{"PILOT_JWT_ENABLE_REMOTE_JWKS", "others"}}).ok());
}

TEST(EnvironmentFeaturesTest, RangesAreOfTheirFamily) {
  EXPECT_EQ(Read({{"PILOT_IP_AUTOALLOCATE_IPV4_PREFIX", "10.0.0.0/8"}})->features.ipv4_range, "10.0.0.0/8");
  EXPECT_FALSE(Read({{"PILOT_IP_AUTOALLOCATE_IPV4_PREFIX", "fd00::/8"}}).ok());
  EXPECT_FALSE(Read({{"PILOT_IP_AUTOALLOCATE_IPV6_PREFIX", "10.0.0.0/8"}}).ok());
  EXPECT_FALSE(Read({{"PILOT_IP_AUTOALLOCATE_IPV6_PREFIX", "fd00::"}}).ok());
}

TEST(EnvironmentFeaturesTest, NoLabelIsALabelToo) {
  EXPECT_EQ(Read({{"PILOT_DRAINING_LABEL", ""}})->features.draining_label, "");
  EXPECT_EQ(Read({})->features.draining_label, "istio.io/draining");
  EXPECT_TRUE(Read({{"PILOT_HTTP10", ""}}).ok());
}

TEST(EnvironmentFeaturesTest, LabelsAreSortedAndOnceEach) {
  EXPECT_THAT(Read({{"PILOT_MX_ADDITIONAL_LABELS", "b,a,b"}})->features.exchange_labels,
              ::testing::ElementsAre("a", "b"));
}

TEST(EnvironmentFeaturesTest, WhatTurnsSomethingOff) {
  EXPECT_FALSE(Read({{"PILOT_DISABLE_MX_ALPN", "true"}})->features.metadata_alpn);
  EXPECT_TRUE(Read({{"PILOT_DISABLE_MX_ALPN", "false"}})->features.metadata_alpn);
}

TEST(EnvironmentFeaturesTest, WhatCannotBeReadIsAnError) {
  EXPECT_FALSE(Read({{"PILOT_TRACE_SAMPLING", "101"}}).ok());
  EXPECT_FALSE(Read({{"PILOT_DNS_CARES_UDP_MAX_QUERIES", "-1"}}).ok());
  EXPECT_FALSE(Read({{"PILOT_DNS_JITTER_DURATION", "soon"}}).ok());
  EXPECT_FALSE(Read({{"PILOT_ENABLE_ALPN_FILTER", "perhaps"}}).ok());
}

TEST(EnvironmentTest, EachFeatureOfClusterSetsNeedsTheOneBefore) {
  const auto read = [](const std::map<std::string, std::string>& set) { return Read(set)->features; };
  EXPECT_FALSE(read({{"ENABLE_MCS_HOST", "true"}, {"ENABLE_MCS_CLUSTER_LOCAL", "true"}}).mcs_hosts);
  const model::Features without_hosts =
      read({{"ENABLE_MCS_SERVICE_DISCOVERY", "true"}, {"ENABLE_MCS_CLUSTER_LOCAL", "true"}});
  EXPECT_TRUE(without_hosts.mcs_discovery);
  EXPECT_FALSE(without_hosts.mcs_cluster_local);
  EXPECT_TRUE(read({{"ENABLE_MCS_SERVICE_DISCOVERY", "true"},
                    {"ENABLE_MCS_HOST", "true"},
                    {"ENABLE_MCS_CLUSTER_LOCAL", "true"}})
                  .mcs_cluster_local);
}

TEST(EnvironmentTest, ARevisionWithoutANameIsTheDefault) {
  EXPECT_EQ(Read({})->features.revision, "default");
  EXPECT_EQ(Read({{"REVISION", "canary"}})->features.revision, "canary");
}

}  // namespace
}  // namespace fairlead::app
