// Answers of Copilot: each becomes objects that Istio would take, or an error.
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "config/read/manifests.h"
#include "source/copilot/copilot_entries.h"
#include "source/platform/kept_view.h"
#include "tests/fuzz/choices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  using fuzz::Require;
  static const source::CopilotOptions options = *source::ParseCopilotOptions("copilot://h?tls=false");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto routes = source::DecodeCopilotRoutes(text), internal = source::DecodeCopilotInternalRoutes(text);
  std::map<std::string, source::PlatformPartPtr> parts;
  size_t objects = 0;
  for (auto& [name, part] :
       source::MakeCopilotParts(options, routes.ok() ? *routes : std::vector<source::CopilotRoute>(),
                                internal.ok() ? *internal : std::vector<source::CopilotRoute>())) {
    objects += part.objects.size();
    parts.emplace(name, std::make_shared<const source::PlatformPart>(part));
  }
  const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
  Require(kept.ok(), "a view that cannot be kept");
  size_t admitted = 0;
  for (const auto& [name, one] : kept->parts)
    admitted += config::ParseManifests(one.text, "f").objects.size();
  Require(admitted == objects, "an object that Istio would refuse");
  return 0;
}
