// Answers of Consul: each becomes ServiceEntries that Istio would take, or an error; in any order the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "source/consul/consul_entries.h"
#include "source/consul/consul_intentions.h"
#include "source/platform/kept_view.h"

namespace {

using namespace fairlead;

void Require(bool holds) {
  if (!holds) std::abort();
}

void MakeAndAdmit(const source::ConsulOptions& options, const source::ConsulService& service) {
  const source::PlatformPart part = source::MakeConsulEntries(options, service);
  const std::map<std::string, source::PlatformPartPtr> parts = {
      {"p", std::make_shared<const source::PlatformPart>(part)}};
  const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
  Require(kept.ok());
  for (const auto& [name, one] : kept->parts)
    Require(config::ParseManifests(one.text, "f").objects.size() == part.objects.size());
}

void MakeAndAdmitPolicies(config::JsonReader& reader, std::string_view text) {
  static const source::ConsulOptions options = *source::ParseConsulOptions("consul://h?intentions=true");
  const auto intentions = source::ReadConsulIntentions(reader, text);
  if (!intentions.ok()) return;
  for (const auto& [service, sources] : *intentions) {
    const source::PlatformPart part = source::MakeIntentionPolicy(options, *intentions, service);
    const std::map<std::string, source::PlatformPartPtr> parts = {
        {"p", std::make_shared<const source::PlatformPart>(part)}};
    const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
    Require(kept.ok());
    for (const auto& [name, one] : kept->parts)
      Require(config::ParseManifests(one.text, "f").objects.size() == part.objects.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const source::ConsulOptions options = *source::ParseConsulOptions(
      "consul://h?names={name}.service.consul,{name}.{dc}.mesh&network=n-{dc}&ready=any");
  config::JsonReader reader;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)source::CheckConsulLeader(text);
  (void)source::ReadConsulServices(reader, text);
  (void)source::ReadServiceProtocols(reader, text);
  (void)source::ReadDefaultProtocol(reader, text);
  MakeAndAdmitPolicies(reader, text);
  const auto instances = source::ReadConsulInstances(reader, text);
  if (!instances.ok()) return 0;
  const auto again = source::ReadConsulInstances(reader, text);
  Require(again.ok() && *again == *instances);
  source::ConsulService service{"web", "http", {{"", *instances}}};
  MakeAndAdmit(options, service);
  service.name = "Web_2";
  MakeAndAdmit(options, service);
  return 0;
}
