#include "source/consul/consul_intentions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::source {
namespace {

using istio::security::v1beta1::AuthorizationPolicy;
using ::testing::HasSubstr;

// "web: db=allow, *=deny".
ConsulIntentions Read(const std::string& json) {
  config::JsonReader reader;
  auto read = ReadConsulIntentions(reader, json);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : ConsulIntentions();
}

std::string Entry(const std::string& destination, const std::string& sources) {
  return StrCat(R"({"Kind":"service-intentions","Name":")", destination, R"(","Sources":[)", sources, "]}");
}
std::string Source(const std::string& name, const std::string& action) {
  return StrCat(R"({"Name":")", name, R"(","Action":")", action, R"(","Type":"consul","Precedence":9})");
}
std::string Permissions(const std::string& name, const std::string& permissions) {
  return StrCat(R"({"Name":")", name, R"(","Permissions":[)", permissions, "]}");
}

PlatformPart Make(const std::string& json, const std::string& service, const std::string& options = "") {
  const auto parsed = ParseConsulOptions(StrCat("consul://h?intentions=true", options));
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return MakeIntentionPolicy(*parsed, Read(json), service);
}

// The rules, a text each: "principals [!notPrincipals] paths !notPaths methods !notMethods header=value".
std::string Rules(const PlatformPart& part) {
  if (part.objects.empty()) return "none";
  std::string out;
  for (const auto& rule : part.objects.front()->Spec<AuthorizationPolicy>().rules()) {
    StrAppend(&out, out.empty() ? "" : "; ");
    for (const auto& one : rule.from(0).source().principals()) StrAppend(&out, one);
    for (const auto& one : rule.from(0).source().not_principals()) StrAppend(&out, " !", one);
    for (const auto& to : rule.to()) {
      for (const auto& one : to.operation().paths()) StrAppend(&out, " ", one);
      for (const auto& one : to.operation().not_paths()) StrAppend(&out, " !", one);
      for (const auto& one : to.operation().methods()) StrAppend(&out, " ", one);
      for (const auto& one : to.operation().not_methods()) StrAppend(&out, " !", one);
    }
    for (const auto& when : rule.when()) {
      StrAppend(&out, " ", when.key());
      for (const auto& one : when.values()) StrAppend(&out, "=", one);
      for (const auto& one : when.not_values()) StrAppend(&out, "!=", one);
    }
  }
  return out;
}

TEST(ConsulIntentionsTest, ThePolicyOfAServiceSelectsItsWorkloads) {
  const PlatformPart part = Make(StrCat("[", Entry("db", Source("web", "allow")), "]"), "db");
  ASSERT_EQ(part.objects.size(), 1u);
  const config::ConfigObject& object = *part.objects.front();
  EXPECT_EQ(config::Describe(config::KeyOf(object)), "AuthorizationPolicy consul/intentions-db");
  EXPECT_EQ(object.origin().file.str(), "consul://h:8500/v1/config/service-intentions/db");
  const auto& policy = object.Spec<AuthorizationPolicy>();
  EXPECT_EQ(policy.selector().match_labels().at("app"), "db");
  EXPECT_EQ(policy.action(), AuthorizationPolicy::ALLOW);
  EXPECT_EQ(Rules(part), "*/ns/consul/sa/web");
}

TEST(ConsulIntentionsTest, WhatNoIntentionIsAboutIsDeniedUnlessItIsAllowed) {
  EXPECT_EQ(Rules(Make("[]", "db")), "");
  EXPECT_EQ(Rules(Make("[]", "db", "&intentionDefault=allow")), "none");
  const std::string one = StrCat("[", Entry("db", Source("web", "deny")), "]");
  EXPECT_EQ(Rules(Make(one, "db")), "");
  EXPECT_EQ(Rules(Make(one, "db", "&intentionDefault=allow")), "* !*/ns/consul/sa/web");
}

// Destinations before sources, names before "*".
TEST(ConsulIntentionsTest, TheMostPreciseIntentionCounts) {
  const std::string all = StrCat(
      "[", Entry("db", StrCat(Source("web", "deny"), ",", Source("api", "allow"))), ",",
      Entry("*", StrCat(Source("web", "allow"), ",", Source("cron", "allow"), ",", Source("*", "deny"))),
      "]");
  EXPECT_EQ(Rules(Make(all, "db")), "*/ns/consul/sa/api; */ns/consul/sa/cron");
  EXPECT_EQ(Rules(Make(all, "other")), "*/ns/consul/sa/cron; */ns/consul/sa/web");
  // All sources of a destination go before a source of all destinations.
  const std::string own =
      StrCat("[", Entry("db", Source("*", "allow")), ",", Entry("*", Source("web", "deny")), "]");
  EXPECT_EQ(Rules(Make(own, "db")), "*");
  EXPECT_EQ(Rules(Make(own, "other")), "");
}

TEST(ConsulIntentionsTest, OfPermissionsTheFirstThatMatchesCounts) {
  const auto rules = [](const std::string& permissions) {
    return Rules(Make(StrCat("[", Entry("db", Permissions("web", permissions)), "]"), "db"));
  };
  constexpr char kGet[] = R"({"Action":"allow","HTTP":{"PathPrefix":"/v1","Methods":["GET","HEAD"]}})";
  EXPECT_EQ(rules(kGet), "*/ns/consul/sa/web /v1* GET HEAD");
  EXPECT_EQ(rules(StrCat(R"({"Action":"deny","HTTP":{"PathExact":"/v1/admin"}},)", kGet)),
            "*/ns/consul/sa/web /v1* !/v1/admin GET HEAD");
  // A denial of several conditions leaves what fails one of them.
  EXPECT_EQ(rules(StrCat(R"({"Action":"deny","HTTP":{"PathExact":"/a","Methods":["PUT"]}},)",
                         R"({"Action":"allow","HTTP":{"PathPrefix":"/"}})")),
            "*/ns/consul/sa/web /* !/a; */ns/consul/sa/web /* !PUT");
  EXPECT_EQ(rules(StrCat(R"({"Action":"allow","HTTP":{"Header":[{"Name":"X-A","Prefix":"b"},)",
                         R"({"Name":"X-C","Present":true,"Invert":true}]}})")),
            "*/ns/consul/sa/web request.headers[x-a]=b* request.headers[x-c]!=*");
  // One that denies everything ends the list; those that come later say nothing.
  EXPECT_EQ(rules(StrCat(R"({"Action":"deny","HTTP":{}},)", kGet)), "");
}

TEST(ConsulIntentionsTest, WhatHasNoCounterpartAllowsNothingAndIsNamed) {
  for (const char* permission : {R"({"Action":"allow","HTTP":{"PathRegex":"/v.*"}})",
                                 R"({"Action":"allow","HTTP":{"PathExact":"/*"}})",
                                 R"({"Action":"allow","HTTP":{"Header":[{"Name":"a","Regex":"b"}]}})",
                                 R"({"Action":"allow","HTTP":{"PathExact":"/"},"JWT":{"Providers":[]}})"}) {
    const PlatformPart part = Make(StrCat("[", Entry("db", Permissions("web", permission)), "]"), "db");
    EXPECT_EQ(Rules(part), "") << permission;
    ASSERT_EQ(part.diagnostics.size(), 1u) << permission;
    EXPECT_THAT(part.diagnostics.front().message, HasSubstr("the intention of web has")) << permission;
  }
  std::string many;
  for (int i = 0; i < 12; ++i)
    StrAppend(&many, R"({"Action":"deny","HTTP":{"PathExact":"/)", i, R"(","Methods":["PUT"]}},)");
  const PlatformPart part = Make(
      StrCat("[",
             Entry("db", Permissions("web", StrCat(many, R"({"Action":"allow","HTTP":{"PathPrefix":"/"}})"))),
             "]"),
      "db");
  EXPECT_EQ(Rules(part), "");
  EXPECT_THAT(part.diagnostics.front().message, HasSubstr("more than 256 rules"));
}

TEST(ConsulIntentionsTest, AnAnswerThatIsNotUnderstoodIsNone) {
  config::JsonReader reader;
  for (const std::string& text :
       {std::string("{}"), std::string("x"), StrCat("[", Entry("", Source("a", "allow")), "]"),
        StrCat("[", Entry("db", Source("", "allow")), "]"),
        StrCat("[", Entry("db", Source("a", "maybe")), "]"),
        StrCat("[", Entry("db", Permissions("a", R"({"HTTP":{}})")), "]")})
    EXPECT_FALSE(ReadConsulIntentions(reader, text).ok()) << text;
  EXPECT_TRUE(ReadConsulIntentions(reader, "null").ok());
}

TEST(ConsulIntentionsTest, OptionsAreChecked) {
  const auto why = [](std::string_view url) {
    return std::string(ParseConsulOptions(url).status().message());
  };
  EXPECT_THAT(why("consul://h?principal=x"), HasSubstr("without {name}"));
  EXPECT_THAT(why("consul://h?principal={name}{dc}"), HasSubstr("known are {name}, {namespace}"));
  EXPECT_THAT(why("consul://h?intentionDefault=no"), HasSubstr("not one of deny, allow"));
  EXPECT_EQ(Rules(Make(StrCat("[", Entry("db", Source("web", "allow")), "]"), "db",
                       "&principal=td/ns/{namespace}/sa/{name}&namespace=vms&intentionLabel=service")),
            "td/ns/vms/sa/web");
}

}  // namespace
}  // namespace fairlead::source
