#include "gen/listener/port_conflicts.h"

#include <gtest/gtest.h>

namespace fairlead::gen::listener {
namespace {

using model::Protocol;

OutboundChain Chain(std::vector<std::string> hosts, std::vector<std::string> destinations = {}) {
  OutboundChain chain;
  chain.sni_hosts = std::move(hosts);
  chain.destinations = std::move(destinations);
  return chain;
}

TEST(PortConflicts, WhoMeetsWhom) {
  const auto kSniffed = Protocol::kUnsupported;
  EXPECT_EQ(Meet(Protocol::kHttp, Protocol::kGrpc), Meeting::kKeep);
  EXPECT_EQ(Meet(kSniffed, Protocol::kHttp), Meeting::kKeep);
  EXPECT_EQ(Meet(Protocol::kTcp, Protocol::kHttp), Meeting::kMerge);
  EXPECT_EQ(Meet(Protocol::kHttp, Protocol::kTcp), Meeting::kMerge);
  EXPECT_EQ(Meet(Protocol::kHttp, kSniffed), Meeting::kReplace);
  EXPECT_EQ(Meet(Protocol::kTcp, kSniffed), Meeting::kMerge);
  EXPECT_EQ(Meet(kSniffed, kSniffed), Meeting::kMergeTcp);
  EXPECT_EQ(Meet(kSniffed, Protocol::kTls), Meeting::kMerge);
}

TEST(PortConflicts, ServerFirstProtocolsKeepTheirPort) {
  EXPECT_EQ(Meet(Protocol::kMongo, Protocol::kHttp), Meeting::kKeep);
  EXPECT_EQ(Meet(Protocol::kMySql, Protocol::kTcp), Meeting::kKeep);
  EXPECT_EQ(Meet(Protocol::kTcp, Protocol::kMongo), Meeting::kKeep);
  EXPECT_EQ(Meet(Protocol::kMongo, Protocol::kMongo), Meeting::kMerge);
}

TEST(PortConflicts, ChainsConflictByWhatTheyMatch) {
  EXPECT_TRUE(ChainsConflict(Chain({}), Chain({"*"}))) << "* matches every name";
  EXPECT_TRUE(ChainsConflict(Chain({"b", "a"}), Chain({"a", "b"})));
  EXPECT_FALSE(ChainsConflict(Chain({"a"}), Chain({"a", "b"})));
  EXPECT_TRUE(ChainsConflict(Chain({}, {"1.2.3.4/8"}), Chain({}, {"1.9.9.9/8"}))) << "one range";
  EXPECT_FALSE(ChainsConflict(Chain({}, {"1.2.3.4"}), Chain({}, {"1.2.3.5"})));
  EXPECT_TRUE(ChainsConflict(Chain({}, {"0.0.0.0/0"}), Chain({}))) << "everything";
  OutboundChain http = Chain({});
  http.sniffed_http = true;
  EXPECT_FALSE(ChainsConflict(http, Chain({})));
}

TEST(PortConflicts, MergingKeepsTheFirst) {
  std::vector<OutboundChain> chains = {Chain({"a"})};
  OutboundChain second = Chain({"a"});
  second.config_path = "second";
  MergeChains({second, Chain({"b"}), Chain({"b"})}, &chains);
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].config_path, "");
  EXPECT_EQ(chains[1].sni_hosts[0], "b");
}

}  // namespace
}  // namespace fairlead::gen::listener
