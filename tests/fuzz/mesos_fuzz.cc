// A stream of a Mesos master's: its records are the same in whole and in pieces; each event is taken or an
// error; what tasks make is ServiceEntries that Istio would take.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "source/mesos/mesos_state.h"
#include "source/mesos/mesos_stream.h"
#include "source/platform/kept_view.h"
#include "tests/fuzz/choices.h"

namespace {

using namespace fairlead;
using fuzz::Require;

constexpr size_t kMostRecord = 1 << 16;

void Admit(const source::PlatformPart& part) {
  const std::map<std::string, source::PlatformPartPtr> parts = {
      {"p", std::make_shared<const source::PlatformPart>(part)}};
  const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
  Require(kept.ok(), "a view that cannot be kept");
  for (const auto& [name, one] : kept->parts)
    Require(config::ParseManifests(one.text, "f").objects.size() == part.objects.size(),
            "an entry that Istio would refuse");
}

std::string RecordsOf(std::string_view text, size_t piece) {
  std::string records;
  bool ok = true;
  source::RecordReader reader(kMostRecord, [&](std::string_view record) {
    StrAppend(&records, record.size(), "=", record, ";");
    return true;
  });
  for (size_t at = 0; at < text.size() && ok; at += piece) ok = reader.Read(text.substr(at, piece)).ok();
  return StrCat(records, ok ? "" : "!");
}

void Follow(const source::MesosOptions& options, std::vector<source::MesosEvent> events) {
  source::MesosState state(options);
  for (source::MesosEvent& event : events) {
    if (!state.Apply(std::move(event)).ok()) return;
    for (const source::MesosPlace& place : state.TakeChanged()) Admit(state.Make(place));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const source::MesosOptions kinds[] = {
      *source::ParseMesosOptions("mesos://h"),
      *source::ParseMesosOptions(
          "mesos://h?names={name}.{version}.mesh,{location}-{name}&namespace={environment}"
          "&ready=any&address=container&addressFamily=ipv6&visibility=ignore&ports=80")};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Require(RecordsOf(text, 1) == RecordsOf(text, size + 1), "other records in pieces than in whole");
  config::JsonReader reader;
  for (const source::MesosOptions& options : kinds) {
    source::MesosStream stream(kMostRecord);
    stream.Read(text);
    Follow(options, stream.Take().events);
    if (auto event = source::ReadMesosEvent(reader, text); event.ok()) {
      std::vector<source::MesosEvent> events;
      events.push_back(*std::move(event));
      Follow(options, std::move(events));
    }
  }
  return 0;
}
