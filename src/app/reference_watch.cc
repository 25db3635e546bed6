#include "app/reference_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/references.h"

namespace fairlead::app {
namespace {

using config::Kind;

// The kinds that refer to others, and those that others refer to.
bool Matters(Kind kind) {
  constexpr Kind kKinds[] = {Kind::kVirtualService, Kind::kDestinationRule, Kind::kServiceEntry,
                             Kind::kGateway,        Kind::kService,         Kind::kKubernetesGateway};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace

void ReferenceWatch::Start(Options options) {
  options_ = std::move(options);
  after_quiet_.Start({"references", std::chrono::seconds(1), std::chrono::seconds(10), [this] { Tell(); }});
}

void ReferenceWatch::OnPublished(const push::Publication& now) {
  const bool matters =
      std::any_of(now.changes.begin(), now.changes.end(),
                  [](const config::ObjectChange& change) { return Matters(change.key.kind); });
  if (matters) after_quiet_.Touch();
}

void ReferenceWatch::Tell() {
  const state::MeshObjects objects = options_.objects();
  std::vector<config::Diagnostic> found =
      config::FindLostReferences(objects.written(), objects.all(), options_.domain);
  for (config::Diagnostic& one : found) one = objects.Placed(std::move(one));
  options_.sink->OnDiagnostics(std::move(found));
}

}  // namespace fairlead::app
