#include "registration/decision.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/strings.h"
#include "registration/test_world.h"

namespace fairlead::registration {
namespace {

using namespace std::chrono_literals;
using Kind = Step::Kind;

const WallTime kTime = *ParseTime("2026-01-02T03:04:05.6Z");
const EntryName kName{"shop", "vms-10.0.0.7"};

ConnectedProxy ConnectedAt(WallTime since, const model::ProxyPtr& proxy, bool registers = true) {
  return {1, proxy, since, registers};
}

Step Connect(const Entry* entry, const ConnectedProxy& connection,
             const config::ConfigPtr& group = TestGroup(), const Rules& rules = {"istiod-1"}) {
  return OnConnected(entry, group, kName, connection, rules);
}

Entry EntryWith(LabelMap annotations) { return {std::move(annotations), "vm", {}, "7"}; }

TEST(Times, AreWrittenAsGoDoes) {
  EXPECT_EQ(TimeText(kTime), "2026-01-02T03:04:05.6Z");
  EXPECT_EQ(TimeText(kTime + 1ns), "2026-01-02T03:04:05.600000001Z");
  EXPECT_EQ(TimeText(WallTime(5s)), "1970-01-01T00:00:05Z");
  EXPECT_EQ(ParseTime("2026-01-02T05:04:05.6+02:00"), kTime);
  EXPECT_EQ(ParseTime("9999-01-02T05:04:05Z"), std::nullopt) << "beyond the clock";
  EXPECT_EQ(ParseTime("yesterday"), std::nullopt);
}

TEST(RegisteredName, IsTheGroupsWithAddressAndNetwork) {
  EXPECT_EQ(*RegisteredName(*TestProxy()), kName);
  EXPECT_EQ(RegisteredName(*TestProxy(R"("NETWORK": "n1")"))->name, "vms-10.0.0.7-n1");
  EXPECT_EQ(RegisteredName(*TestProxy(R"("INSTANCE_IPS": "fd00::7")"))->name, "vms-fd00--7");
  const std::string longest(300, 'g');
  EXPECT_EQ(RegisteredName(*TestProxy(StrCat(R"("AUTO_REGISTER_GROUP": ")", longest, "\"")))->name,
            StrCat(std::string(253 - 9, 'g'), "-10.0.0.7"));
}

TEST(RegisteredName, IsNoWayToAnotherObject) {
  for (const std::string bad : {"../../secrets/x", "a/b", "UPPER", "a b", "..", ""}) {
    if (!bad.empty()) {
      EXPECT_FALSE(RegisteredName(*TestProxy(StrCat(R"("AUTO_REGISTER_GROUP": ")", bad, "\""))).ok()) << bad;
    }
    EXPECT_FALSE(RegisteredName(*TestProxy(StrCat(R"("NAMESPACE": ")", bad, "\""))).ok()) << bad;
  }
}

TEST(EntryFromGroup, HasTheTemplateAndWhatTheProxySays) {
  const auto proxy = TestProxy(
      R"("NETWORK": "n1", "LABELS": {"app": "proxy", "istio-locality": "r.z", "own": "yes"},
         "PROXY_CONFIG": {"readinessProbe": {"httpGet": {"port": 80}}})",
      "region-1");
  const auto made = EntryFromGroup(kName, *proxy, TestGroup());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->labels,
            (LabelMap{{"app", "proxy"}, {"class", "group"}, {"own", "yes"}, {"tier", "template"}}));
  EXPECT_EQ(made->annotations,
            (LabelMap{{kGroupAnnotation, "vms"}, {kHealthAnnotation, "true"}, {"note", "group"}}));
  const std::string spec = SpecText(*made);
  for (const std::string part : {R"(address: "10.0.0.7")", R"(network: "n1")", R"(locality: "region-1")",
                                 R"(service_account: "vm")", R"(value: 8080)"}) {
    EXPECT_NE(spec.find(part), std::string::npos) << part << " in " << spec;
  }
  EXPECT_EQ(spec.find("istio-locality"), std::string::npos);
}

TEST(EntryFromGroup, ALabelThatNoObjectMayHaveIsRefusedByName) {
  const auto made = EntryFromGroup(kName, *TestProxy(R"("LABELS": {"app": "a/b"})"), TestGroup());
  EXPECT_TRUE(absl::IsInvalidArgument(made.status()));
  EXPECT_NE(made.status().message().find("app"), std::string::npos);
}

TEST(Connected, AnEntryIsMadeWhereThereIsNone) {
  const Step step = Connect(nullptr, ConnectedAt(kTime, TestProxy()));
  ASSERT_EQ(step.kind, Kind::kCreate);
  EXPECT_EQ(LabelOr(step.made->annotations, kControllerAnnotation), "istiod-1");
  EXPECT_EQ(LabelOr(step.made->annotations, kConnectedAnnotation), "2026-01-02T03:04:05.6Z");
}

TEST(Connected, WithoutAGroupOrAnEntryTheProxyIsRefused) {
  EXPECT_TRUE(absl::IsFailedPrecondition(Connect(nullptr, ConnectedAt(kTime, TestProxy()), nullptr).refusal));
  EXPECT_TRUE(absl::IsNotFound(Connect(nullptr, ConnectedAt(kTime, TestProxy(), false)).refusal));
}

TEST(Connected, AnIdentityOfAnotherNamespaceOrAccountIsRefused) {
  const Entry there = EntryWith({{kGroupAnnotation, "vms"}});
  for (const Entry* entry : {static_cast<const Entry*>(nullptr), &there}) {
    EXPECT_TRUE(absl::IsPermissionDenied(
        Connect(entry, ConnectedAt(kTime, TestProxy("", "", "other", "vm"))).refusal));
    EXPECT_TRUE(
        absl::IsPermissionDenied(Connect(entry, ConnectedAt(kTime, TestProxy("", "", "shop", "x"))).refusal));
    EXPECT_TRUE(
        absl::IsPermissionDenied(Connect(entry, ConnectedAt(kTime, TestProxy("", "", "", ""))).refusal))
        << "no identity at all";
    EXPECT_NE(
        Connect(entry, ConnectedAt(kTime, TestProxy("", "", "", "")), TestGroup(), {"istiod-1", false}).kind,
        Kind::kRefuse)
        << "unless identities are not checked";
  }
}

TEST(Connected, AnotherReplicasEntryIsTakenOverWhereItsProxyCameLater) {
  const LabelMap held{{kControllerAnnotation, "istiod-2"}, {kConnectedAnnotation, TimeText(kTime)}};
  const Entry entry = EntryWith(held);
  const Step later = Connect(&entry, ConnectedAt(kTime + 1s, TestProxy()));
  ASSERT_EQ(later.kind, Kind::kAnnotate);
  EXPECT_EQ(later.set.at(kControllerAnnotation), "istiod-1");
  EXPECT_TRUE(later.removed.empty());
  EXPECT_EQ(Connect(&entry, ConnectedAt(kTime - 1s, TestProxy())).kind, Kind::kNothing);
}

TEST(Connected, AnEntryWithoutAProxyElsewhereIsTakenWhateverTheClocksSay) {
  const Entry entry =
      EntryWith({{kControllerAnnotation, "istiod-2"}, {kDisconnectedAnnotation, TimeText(kTime + 1h)}});
  const Step step = Connect(&entry, ConnectedAt(kTime, TestProxy()));
  ASSERT_EQ(step.kind, Kind::kAnnotate);
  EXPECT_EQ(step.removed, std::vector<std::string>{kDisconnectedAnnotation});
}

TEST(Connected, AnEntryThatIsConnectedHereIsNotWrittenAgain) {
  const Entry entry =
      EntryWith({{kControllerAnnotation, "istiod-1"}, {kConnectedAnnotation, TimeText(kTime)}});
  EXPECT_EQ(Connect(&entry, ConnectedAt(kTime, TestProxy())).kind, Kind::kNothing);
}

TEST(Connected, AnEntryThatIsThereBeforeNeedsTheAnnotation) {
  EXPECT_EQ(
      Connect(std::make_unique<Entry>(EntryWith({})).get(), ConnectedAt(kTime, TestProxy(), false)).kind,
      Kind::kNothing);
  const Entry checked = EntryWith({{kHealthAnnotation, "no"}});
  EXPECT_EQ(Connect(&checked, ConnectedAt(kTime, TestProxy(), false)).kind, Kind::kAnnotate);
}

TEST(Departed, OnlyTheReplicaThatHoldsTheEntrySaysSo) {
  const Departure departure{kTime + 5s, kTime};
  const Rules rules{"istiod-1"};
  const auto held = [&](const char* replica, WallTime since) {
    return EntryWith({{kControllerAnnotation, replica}, {kConnectedAnnotation, TimeText(since)}});
  };
  const Entry ours = held("istiod-1", kTime), moved = held("istiod-2", kTime + 1s),
              later = held("istiod-1", kTime + 1s);
  const Step step = OnDeparted(&ours, departure, rules);
  ASSERT_EQ(step.kind, Kind::kAnnotate);
  EXPECT_EQ(step.set.at(kDisconnectedAnnotation), TimeText(kTime + 5s));
  EXPECT_EQ(step.removed, std::vector<std::string>{kConnectedAnnotation});
  EXPECT_EQ(OnDeparted(&moved, departure, rules).kind, Kind::kNothing);
  EXPECT_EQ(OnDeparted(&later, departure, rules).kind, Kind::kNothing) << "of another process of that name";
  EXPECT_EQ(OnDeparted(nullptr, departure, rules).kind, Kind::kNothing);
}

TEST(Healths, TheConditionIsWrittenOnceAndOthersStay) {
  Entry entry = EntryWith({{kControllerAnnotation, "istiod-1"}});
  entry.conditions = {{"Other", "True", "", "", "", "{}"}};
  const Rules rules{"istiod-1"};
  const Step sick = OnHealth(&entry, {false, "no answer", kTime}, rules);
  ASSERT_EQ(sick.kind, Kind::kSetConditions);
  ASSERT_EQ(sick.conditions.size(), 2u);
  EXPECT_EQ(sick.conditions[0].type, "Other");
  EXPECT_EQ(sick.conditions[1].status, "False");
  EXPECT_EQ(sick.conditions[1].message, "no answer");
  EXPECT_EQ(sick.conditions[1].last_probe, TimeText(kTime));

  entry.conditions = sick.conditions;
  EXPECT_EQ(OnHealth(&entry, {false, "no answer", kTime + 1s}, rules).kind, Kind::kNothing) << "nothing new";
  EXPECT_EQ(OnHealth(&entry, {true, "", kTime - 1s}, rules).kind, Kind::kNothing)
      << "older than what is known";
  const Step more = OnHealth(&entry, {false, "refused", kTime + 1s}, rules);
  EXPECT_EQ(more.conditions[1].last_transition, TimeText(kTime)) << "it was unhealthy before";
  EXPECT_EQ(OnHealth(&entry, {true, "", kTime + 2s}, rules).conditions[1].status, "True");
  EXPECT_EQ(OnHealth(&entry, {true, "", kTime + 2s}, {"istiod-2"}).kind, Kind::kNothing)
      << "another replica's";
}

TEST(Expired, OnlyAsItWasThen) {
  Entry entry = EntryWith({{kGroupAnnotation, "vms"}, {kDisconnectedAnnotation, TimeText(kTime)}});
  const std::string mark = MarkOf(entry.annotations);
  EXPECT_EQ(OnExpired(&entry, mark).kind, Kind::kDelete);
  entry.annotations[kConnectedAnnotation] = TimeText(kTime + 1s);
  EXPECT_EQ(OnExpired(&entry, mark).kind, Kind::kNothing) << "it has come back";
}

TEST(Expired, AnEntryThatWasThereBeforeLosesItsHealthAlone) {
  Entry entry = EntryWith({{kControllerAnnotation, "istiod-1"}, {kDisconnectedAnnotation, TimeText(kTime)}});
  EXPECT_EQ(OnExpired(&entry, MarkOf(entry.annotations)).kind, Kind::kNothing);
  entry.conditions = {{kHealthy, "True", "", "", ""}, {"Other", "True", "", "", ""}};
  const Step step = OnExpired(&entry, MarkOf(entry.annotations));
  ASSERT_EQ(step.kind, Kind::kSetConditions);
  ASSERT_EQ(step.conditions.size(), 1u);
  EXPECT_EQ(step.conditions[0].type, "Other");
}

}  // namespace
}  // namespace fairlead::registration
