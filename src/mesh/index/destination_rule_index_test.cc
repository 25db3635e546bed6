#include "mesh/index/destination_rule_index.h"

#include <gmock/gmock.h>

#include "mesh/index/destination_rule_merge.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using testing::SizeIs;

class DestinationRuleIndexTest : public MeshFixture {
 protected:
  // Names of the objects that a client in `ns` follows for web.svc, "a+b" where they are merged.
  std::string Followed(std::string_view ns, const LabelMap& labels = {}, bool outbound = true) {
    const SidecarScopePtr scope = ScopeFor(*Build(), ns, labels);
    const DestinationRulePtr rule = scope->imports->FindDestinationRule(kHost, labels, outbound);
    if (rule == nullptr) return "";
    std::vector<std::string> names;
    names.reserve(rule->objects.size());
    for (const config::ConfigPtr& object : rule->objects) names.push_back(object->name().str());
    return Join(names, "+");
  }
  DestinationRulePtr Rule(std::string_view ns) {
    return ScopeFor(*Build(), ns)->imports->FindDestinationRule(kHost, {});
  }

  void SetUp() override { AddService("svc", "web", {80}); }

  static constexpr std::string_view kHost = "web.svc.svc.cluster.local";
  const std::string host_ = "host: 'web.svc.svc.cluster.local' ";
};

TEST_F(DestinationRuleIndexTest, LooksInClientThenServiceThenRootNamespace) {
  EXPECT_EQ(Followed("client"), "");
  PutDestinationRule("istio-system", "root", host_);
  EXPECT_EQ(Followed("client"), "root");
  PutDestinationRule("svc", "service", "host: 'web'");
  EXPECT_EQ(Followed("client"), "service");
  PutDestinationRule("client", "client", host_);
  EXPECT_EQ(Followed("client"), "client");
  EXPECT_EQ(Followed("svc"), "service");
  EXPECT_EQ(Followed("istio-system"), "service");
  PutDestinationRule("elsewhere", "elsewhere", host_);
  EXPECT_EQ(Followed("other"), "service");
}

TEST_F(DestinationRuleIndexTest, HonoursExportTo) {
  PutDestinationRule("svc", "private", host_ + "export_to: '.'");
  PutDestinationRule("istio-system", "root", host_ + "export_to: 'a'");
  EXPECT_EQ(Followed("svc"), "private");
  EXPECT_EQ(Followed("a"), "root");
  EXPECT_EQ(Followed("b"), "");
}

TEST_F(DestinationRuleIndexTest, HonoursTheMeshDefaultOfExportTo) {
  PutDestinationRule("svc", "service", host_);
  NewMeshConfig().add_default_destination_rule_export_to(".");
  SetSettings();
  EXPECT_EQ(Followed("svc"), "service");
  EXPECT_EQ(Followed("a"), "");
}

TEST_F(DestinationRuleIndexTest, RootNamespaceClientsFollowItsPrivateRules) {
  PutDestinationRule("istio-system", "private", host_ + "export_to: '.'");
  PutDestinationRule("svc", "service", host_);
  EXPECT_EQ(Followed("istio-system"), "private");
  EXPECT_EQ(Followed("a"), "service");
}

TEST_F(DestinationRuleIndexTest, MostSpecificHostWins) {
  PutDestinationRule("svc", "all", "host: '*'");
  EXPECT_EQ(Followed("a"), "all");
  PutDestinationRule("svc", "namespace", "host: '*.svc.svc.cluster.local'");
  PutDestinationRule("svc", "cluster", "host: '*.svc.cluster.local'");
  EXPECT_EQ(Followed("a"), "namespace");
  PutDestinationRule("svc", "exact", host_);
  EXPECT_EQ(Followed("a"), "exact");
  PutDestinationRule("a", "client", "host: '*'");
  EXPECT_EQ(Followed("a"), "client") << "the namespace counts before the host";
}

TEST_F(DestinationRuleIndexTest, MergesRulesOfOneHost) {
  PutDestinationRule("svc", "young", host_ + R"(
      subsets { name: "v1" labels { key: "version" value: "other" } } subsets { name: "v2" }
      traffic_policy { load_balancer { simple: RANDOM } })",
                     1);
  PutDestinationRule("svc", "old", "host: 'web' subsets { name: 'v1' }", 2);
  PutDestinationRule("svc", "youngest", host_ + "traffic_policy { tls { mode: DISABLE } }");
  const DestinationRulePtr rule = Rule("a");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(Followed("a"), "old+young+youngest");
  EXPECT_EQ(rule->spec->host(), kHost);
  ASSERT_EQ(rule->spec->subsets_size(), 2);
  EXPECT_TRUE(rule->spec->subsets(0).labels().empty());
  EXPECT_EQ(rule->spec->subsets(1).name(), "v2");
  EXPECT_TRUE(rule->spec->traffic_policy().has_load_balancer());
  EXPECT_FALSE(rule->spec->traffic_policy().has_tls());
  ASSERT_THAT(builder_.diagnostics(), SizeIs(1));
  EXPECT_EQ(builder_.diagnostics()[0].code, "duplicate-subset");
  EXPECT_EQ(builder_.diagnostics()[0].object->name, "young");
}

TEST_F(DestinationRuleIndexTest, RulesWithDifferentExportToStayApart) {
  PutDestinationRule("svc", "all", host_, 2);
  PutDestinationRule("svc", "only-a", host_ + "export_to: 'a'", 1);
  EXPECT_EQ(Followed("b"), "all");
  EXPECT_EQ(Followed("a"), "only-a") << "the last rule without selector counts";
}

TEST_F(DestinationRuleIndexTest, SelectorsCountForMatchingClientsOfTheirNamespace) {
  PutDestinationRule("a", "all", host_, 2);
  PutDestinationRule("a", "web", host_ + "workload_selector { match_labels { key: 'app' value: 'web' } }", 1);
  EXPECT_EQ(Followed("a", {{"app", "web"}}), "web");
  EXPECT_EQ(Followed("a", {{"app", "web"}}, false), "all");
  EXPECT_EQ(Followed("a", {{"app", "db"}}), "all");
}

TEST_F(DestinationRuleIndexTest, SelectorThatDoesNotMatchHidesTheServicesRule) {
  PutDestinationRule("a", "web", host_ + "workload_selector { match_labels { key: 'app' value: 'web' } }");
  PutDestinationRule("svc", "service", host_);
  EXPECT_EQ(Followed("a", {{"app", "db"}}), "");
  EXPECT_EQ(Followed("b", {{"app", "web"}}), "service");
}

TEST_F(DestinationRuleIndexTest, EqualSelectorsMergeAndOthersDoNot) {
  const std::string web = host_ + "workload_selector { match_labels { key: 'app' value: 'web' } }";
  const std::string db = host_ + "workload_selector { match_labels { key: 'app' value: 'db' } }";
  PutDestinationRule("a", "web1", web, 3);
  PutDestinationRule("a", "web2", web, 2);
  PutDestinationRule("a", "db", db, 1);
  EXPECT_EQ(Followed("a", {{"app", "web"}}), "web1+web2");
  EXPECT_EQ(Followed("a", {{"app", "db"}}), "db");
}

TEST_F(DestinationRuleIndexTest, UnchangedRulesKeepTheirPointers) {
  PutDestinationRule("svc", "one", "host: 'web' subsets { name: 'v1' }", 2);
  PutDestinationRule("svc", "two", host_ + "subsets { name: 'v2' }", 1);
  const DestinationRulePtr before = Rule("a");
  PutDestinationRule("svc", "other", "host: 'elsewhere'");
  EXPECT_EQ(Rule("a"), before);
  PutDestinationRule("svc", "two", host_ + "subsets { name: 'v3' }", 1);
  EXPECT_NE(Rule("a"), before);
}

// A BackendTLSPolicy's rule and a user's for one host, whichever is older.
TEST(MergeDestinationRuleTest, AUsersFieldsCountAndABackendPolicyFillsTheOthers) {
  const auto user = Parse<api::DestinationRule>(
      "traffic_policy { retry_budget { percent { value: 5 } } "
      "port_level_settings { port { number: 80 } tls { mode: DISABLE } } }");
  const auto backend = Parse<api::DestinationRule>(
      "traffic_policy { connection_pool { tcp { max_connections: 7 } } "
      "port_level_settings { port { number: 80 } tls { mode: SIMPLE } connection_pool { } } "
      "port_level_settings { port { number: 443 } tls { mode: SIMPLE } } }");
  api::DestinationRule older_user = user, older_backend = backend;
  MergeDestinationRule(backend, RuleOrigin::kBackendPolicy, RuleOrigin::kUser, &older_user);
  MergeDestinationRule(user, RuleOrigin::kUser, RuleOrigin::kBackendPolicy, &older_backend);
  EXPECT_EQ(older_user.SerializeAsString(), older_backend.SerializeAsString());
  const api::TrafficPolicy& merged = older_user.traffic_policy();
  EXPECT_EQ(merged.retry_budget().percent().value(), 5);
  EXPECT_EQ(merged.connection_pool().tcp().max_connections(), 7);
  ASSERT_EQ(merged.port_level_settings_size(), 2);
  EXPECT_EQ(merged.port_level_settings(0).tls().mode(), api::ClientTLSSettings::DISABLE);
  EXPECT_TRUE(merged.port_level_settings(0).has_connection_pool());
  EXPECT_EQ(merged.port_level_settings(1).port().number(), 443u);
  api::DestinationRule two_users = user;
  MergeDestinationRule(backend, RuleOrigin::kUser, RuleOrigin::kUser, &two_users);
  EXPECT_FALSE(two_users.traffic_policy().has_connection_pool()) << "the older one's policy counts whole";
}

}  // namespace
}  // namespace fairlead::mesh
