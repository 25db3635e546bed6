#include "source/platform/kept_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::source {
namespace {

using ::testing::SizeIs;

constexpr char kEntry[] =
    "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: web, namespace: ns, labels: "
    "{a: "
    "b}}\n"
    "spec: {hosts: [web.x], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}\n";

PlatformPartPtr Part(std::string_view text, bool with_text) {
  PlatformPart part;
  part.objects = config::ParseManifests(text, "platform://h/web").objects;
  if (with_text) part.text = text;
  return std::make_shared<const PlatformPart>(std::move(part));
}

TEST(KeptViewTest, ComesBackAsItWas) {
  for (const bool with_text : {false, true}) {
    const std::string text = KeptViewText("s", 7, {{"web", Part(kEntry, with_text)}});
    const auto view = ParseKeptView("s", text);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(view->time, 7);
    ASSERT_THAT(view->parts.at("web").objects, SizeIs(1));
    const config::ConfigObject& object = *view->parts.at("web").objects.front();
    EXPECT_EQ(config::KeyOf(object), config::KeyOf(*Part(kEntry, false)->objects.front()));
    EXPECT_EQ(object.meta().labels.at("a"), "b");
    EXPECT_EQ(object.origin().file, "platform://h/web");
  }
}

// A made object has what its platform said.
TEST(KeptViewTest, CharactersThatYamlDoesNotTakeComeBack) {
  const std::string text =
      "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: web, namespace: ns}\n"
      "spec: {hosts: [web.x], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC,\n"
      "  endpoints: [{address: 10.0.0.1, locality: \"a\\x7Fb\\u0085c\\u2028d\\uFEFFe\\U0001F600\"}]}\n";
  const PlatformPartPtr part = Part(text, false);
  ASSERT_THAT(part->objects, SizeIs(1));
  const auto view = ParseKeptView("s", KeptViewText("s", 7, {{"web", part}}));
  ASSERT_TRUE(view.ok()) << view.status();
  ASSERT_EQ(view->parts.count("web"), 1u);
  const auto locality = [](const PlatformPart& of) {
    return of.objects.front()->Spec<istio::networking::v1alpha3::ServiceEntry>().endpoints(0).locality();
  };
  EXPECT_EQ(locality(view->parts.at("web")), locality(*part));
}

TEST(KeptViewTest, SecretsAreNotKept) {
  const auto secret =
      Part("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\ndata: {}\n", true);
  ASSERT_THAT(secret->objects, SizeIs(1));
  EXPECT_TRUE(ParseKeptView("s", KeptViewText("s", 7, {{"s", secret}}))->parts.empty());
}

TEST(KeptViewTest, WhatIsDamagedOrAnothersIsRefused) {
  const std::string text = KeptViewText("s", 7, {{"web", Part(kEntry, false)}});
  EXPECT_FALSE(ParseKeptView("other", text).ok());
  EXPECT_FALSE(ParseKeptView("s", text.substr(0, text.size() - 5)).ok());
  EXPECT_FALSE(ParseKeptView("s", ReplaceAll(text, "web.x", "bad.x")).ok());
  EXPECT_FALSE(ParseKeptView("s", ReplaceAll(text, "\"format\":1", "\"format\":2")).ok());
  EXPECT_FALSE(ParseKeptView("s", "").ok());
  EXPECT_NE(KeptViewName("consul://a"), KeptViewName("consul://b"));
}

}  // namespace
}  // namespace fairlead::source
