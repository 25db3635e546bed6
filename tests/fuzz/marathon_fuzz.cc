// Answers and events of Marathon: each becomes ServiceEntries that Istio would take, or an error; events are
// the same in whole and in pieces.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "source/marathon/marathon_entries.h"
#include "source/marathon/marathon_events.h"
#include "source/platform/kept_view.h"
#include "source/platform/sse_reader.h"
#include "tests/fuzz/choices.h"

namespace {

using namespace fairlead;
using fuzz::Require;

void MakeAndAdmit(const source::MarathonOptions& options, const source::MarathonService& service) {
  const source::MarathonWell well = source::WellMarathonInstances(options, service, {});
  const source::PlatformPart part = source::MakeMarathonEntries(options, service, well);
  const std::map<std::string, source::PlatformPartPtr> parts = {
      {"p", std::make_shared<const source::PlatformPart>(part)}};
  const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
  Require(kept.ok(), "a view that cannot be kept");
  for (const auto& [name, one] : kept->parts)
    Require(config::ParseManifests(one.text, "f").objects.size() == part.objects.size(),
            "an entry that Istio would refuse");
}

std::vector<std::string> EventsOf(std::string_view text, size_t piece) {
  std::vector<std::string> events;
  source::SseReader reader(1'000, [&](std::string_view event, std::string_view data, bool whole) {
    events.push_back(StrCat(event, "=", data, whole ? "" : "!"));
  });
  for (size_t at = 0; at < text.size(); at += piece) reader.Read(text.substr(at, piece));
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const source::MarathonOptions kinds[] = {
      *source::ParseMarathonOptions("marathon://h"),
      *source::ParseMarathonOptions(
          "marathon://h?names={name}{groups}.mesos&ready=any&address=container&port=container")};
  config::JsonReader reader;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<source::MarathonService> services;
  if (const auto apps = source::ReadMarathonApps(reader, text); apps.ok()) services = *apps;
  if (const auto pods = source::ReadMarathonPods(reader, text); pods.ok()) services = *pods;
  if (const auto app = source::ReadMarathonApp(reader, text); app.ok()) services.push_back(*app);
  if (const auto pod = source::ReadMarathonPod(reader, text); pod.ok()) services.push_back(*pod);
  for (const source::MarathonService& service : services) {
    for (const source::MarathonOptions& options : kinds) MakeAndAdmit(options, service);
  }
  for (const std::string& type : source::MarathonEventTypes()) {
    const source::MarathonEvent event = source::ReadMarathonEvent(reader, type, text);
    Require(event.all || !event.ids.empty() || type == "event_stream_attached", "an event about nothing");
  }
  Require(EventsOf(text, 1) == EventsOf(text, size + 1), "other events in pieces than in whole");
  return 0;
}
