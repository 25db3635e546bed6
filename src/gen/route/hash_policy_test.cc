#include "gen/route/hash_policy.h"

#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/expect_message.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;

constexpr char kRule[] = R"(
  traffic_policy {
    load_balancer { consistent_hash { http_header_name: "rule" } }
    port_level_settings { port { number: 80 } load_balancer { consistent_hash { http_header_name: "port" } } }
    port_level_settings { port { number: 81 } }
  }
  subsets { name: "own" traffic_policy { load_balancer { consistent_hash { http_header_name: "subset" } }
    port_level_settings { port { number: 80 } load_balancer { consistent_hash { http_header_name: "subset-port" } } } } }
  subsets { name: "plain" traffic_policy { load_balancer { simple: ROUND_ROBIN } } }
)";

TEST(HashOfDestination, GoesFromTheNarrowestSetting) {
  const auto rule = FromText<api::DestinationRule>(kRule);
  const auto header = [&](const char* destination) {
    const ConsistentHash* hash = HashOfDestination(rule, FromText<api::Destination>(destination));
    return hash == nullptr ? "" : hash->http_header_name();
  };
  EXPECT_EQ(header("host: 'a'"), "rule");
  EXPECT_EQ(header("host: 'a' port { number: 80 }"), "port");
  EXPECT_EQ(header("host: 'a' port { number: 81 }"), "rule");
  EXPECT_EQ(header("host: 'a' subset: 'own'"), "subset");
  EXPECT_EQ(header("host: 'a' subset: 'own' port { number: 80 }"), "subset-port");
  EXPECT_EQ(header("host: 'a' subset: 'plain'"), "rule");
  EXPECT_EQ(header("host: 'a' subset: 'missing' port { number: 80 }"), "port");
}

TEST(HashOfServicePort, PrefersThePort) {
  const auto rule = FromText<api::DestinationRule>(kRule);
  EXPECT_EQ(HashOfServicePort(rule, 80)->http_header_name(), "port");
  EXPECT_EQ(HashOfServicePort(rule, 81)->http_header_name(), "rule");
  EXPECT_EQ(HashOfServicePort(api::DestinationRule(), 80), nullptr);
}

TEST(HasConsistentHash, LooksEverywhere) {
  EXPECT_TRUE(HasConsistentHash(FromText<api::DestinationRule>(kRule)));
  EXPECT_TRUE(HasConsistentHash(
      FromText<api::DestinationRule>("subsets { traffic_policy { port_level_settings { load_balancer { "
                                     "consistent_hash { use_source_ip: true } } } } "
                                     "}")));
  EXPECT_FALSE(HasConsistentHash(FromText<api::DestinationRule>(
      "traffic_policy { load_balancer { simple: RANDOM } } subsets { name: 'a' }")));
}

TEST(AddHashPolicy, TranslatesEveryKey) {
  const auto policy = [](const char* hash) {
    envoy::config::route::v3::RouteAction action;
    AddHashPolicy(FromText<ConsistentHash>(hash), &action);
    return action;
  };
  ExpectMessage(policy("http_header_name: 'x'"), "hash_policy { header { header_name: 'x' } }");
  ExpectMessage(policy("use_source_ip: true"), "hash_policy { connection_properties { source_ip: true } }");
  ExpectMessage(policy("http_query_parameter_name: 'q'"), "hash_policy { query_parameter { name: 'q' } }");
  ExpectMessage(
      policy("http_cookie { name: 'c' path: '/p' ttl { seconds: 3 } attributes { name: 'SameSite' value: "
             "'Strict' } }"),
      "hash_policy { cookie { name: 'c' path: '/p' ttl { seconds: 3 } attributes { name: 'SameSite' value: "
      "'Strict' } } }");
  ExpectMessage(policy("maglev {}"), "");
}

}  // namespace
}  // namespace fairlead::gen::route
