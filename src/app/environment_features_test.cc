#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "app/environment.h"

namespace fairlead::app {
namespace {

absl::StatusOr<Environment> Read(const std::map<std::string, std::string>& set) {
  return ReadEnvironment([&](const char* name) {
    auto it = set.find(name);
    return it == set.end() ? nullptr : it->second.c_str();
  });
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

}  // namespace
}  // namespace fairlead::app
