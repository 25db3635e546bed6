#include "controllers/verdict_sweep.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "config/kind.h"
#include "kube/served_kinds.h"

namespace fairlead::controllers {
namespace {

using config::ConfigPtr;
using config::KindInfo;
using Json = nlohmann::json;

// The version that the API server serves the kind in, by an object that came from there; "": there is none.
std::string VersionOf(const config::ObjectStore& objects, const KindInfo& kind) {
  for (const auto& [name, object] : objects.All(kind.kind)) {
    if (object->origin().file.empty()) return object->origin().api_version.str();
  }
  return "";
}

}  // namespace

VerdictSweep::VerdictSweep(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer) {}

void VerdictSweep::OnLeading() {
  writer_->Run([this] { Start(); }, Clock::now() + options_.delay);
}

void VerdictSweep::Start() {
  if (!places_.empty() || !options_.leads()) return;
  objects_ = options_.objects();
  for (const KindInfo& kind : config::AllKinds()) {
    if (kind.payload != config::PayloadType::kProto) continue;
    const std::string version = VersionOf(objects_, kind);
    if (!version.empty())
      places_.push_back({kind.kind, kube::CollectionPath(kind, version), "", options_.chunk});
  }
  Ask();
}

void VerdictSweep::Ask() {
  if (!options_.leads()) places_.clear();
  if (places_.empty()) {
    objects_ = {};
    return;
  }
  const Place& place = places_.front();
  kube::ApiRequest request;
  request.path = StrCat(place.path, "?limit=", place.chunk);
  if (!place.next.empty()) StrAppend(&request.path, "&continue=", place.next);
  request.valid = options_.leads;
  writer_->Send(std::move(request), [this](const kube::ApiAnswer& answer) { OnList(answer); });
}

// A collection that cannot be listed is left as it is.
void VerdictSweep::OnList(const kube::ApiAnswer& answer) {
  if (absl::IsCancelled(answer.status)) return places_.clear();
  Place& place = places_.front();
  if (absl::IsResourceExhausted(answer.status) && place.chunk > 1) {
    place.chunk = std::max<size_t>(1, place.chunk / 4);
    return Ask();
  }
  const auto list = answer.status.ok() ? ParseJson(answer.body) : std::nullopt;
  std::string next;
  if (list && list->is_object()) {
    for (const Json& item : list->value("items", Json::array())) Look(place.kind, item);
    next = JsonString(list->value("metadata", Json::object()), "continue");
  }
  if (next.empty() || next == place.next) {
    places_.pop_front();
  } else {
    place.next = std::move(next);
  }
  Ask();
}

void VerdictSweep::Look(config::Kind kind, const Json& item) const {
  const Json conditions = item.value("/status/conditions"_json_pointer, Json::array());
  const bool ours = std::any_of(conditions.begin(), conditions.end(), [this](const Json& one) {
    return std::any_of(options_.verdicts.begin(), options_.verdicts.end(),
                       [&one](const auto& known) { return JsonString(one, "type") == known.type; });
  });
  if (!ours) return;
  const Json metadata = item.value("metadata", Json::object());
  const ConfigPtr object = objects_.Find(kind, Interned(JsonString(metadata, "namespace")),
                                         Interned(JsonString(metadata, "name")));
  if (object != nullptr) options_.found(object);
}

}  // namespace fairlead::controllers
