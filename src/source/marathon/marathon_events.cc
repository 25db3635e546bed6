#include "source/marathon/marathon_events.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "base/time_text.h"
#include "source/marathon/marathon_parts.h"

namespace fairlead::source {
namespace {

using config::Node;

constexpr size_t kMostEventBytes = 8 << 20;
constexpr size_t kMostIds = 1'000;  // beyond that, all are asked for

void AddId(std::string_view text, std::set<std::string>* ids) {
  if (IsMarathonId(text)) ids->emplace(text);
}

// "/v2/apps/shop/web", "/v2/pods/shop/web".
void AddUri(std::string_view uri, std::set<std::string>* ids) {
  for (const std::string_view prefix : {"/v2/apps/", "/v2/pods/"}) {
    if (uri.starts_with(prefix)) AddId(uri.substr(prefix.size() - 1), ids);
  }
}

void AddActions(Node step, std::set<std::string>* ids) {
  for (const Node action : step.Find("actions").elements()) {
    AddId(action.Find("app").String(), ids);
    AddId(action.Find("pod").String(), ids);
  }
}

int64_t TimeOf(std::string_view text) {
  const auto time = ParseTimestamp(text);
  return time ? time->seconds * 1'000 + time->nanos / 1'000'000 : 0;
}

}  // namespace

const std::vector<std::string>& MarathonEventTypes() {
  static const std::vector<std::string> types = {
      "api_post_event",
      "app_terminated_event",
      "deployment_failed",
      "deployment_info",
      "deployment_step_failure",
      "deployment_step_success",
      "deployment_success",
      "event_stream_attached",
      "group_change_success",
      "health_status_changed_event",
      "instance_changed_event",
      "instance_health_changed_event",
      "pod_created_event",
      "pod_deleted_event",
      "pod_updated_event",
      "status_update_event",
      "unhealthy_instance_kill_event",
      "unhealthy_task_kill_event",
      "unknown_instance_terminated_event",
  };
  return types;
}

MarathonEvent ReadMarathonEvent(config::JsonReader& reader, std::string_view type, std::string_view data) {
  MarathonEvent event;
  const auto& types = MarathonEventTypes();
  // The stream's own beginning, and that of others.
  if (type == "event_stream_attached" || !std::binary_search(types.begin(), types.end(), type)) return event;
  const absl::StatusOr<config::Tree> tree = reader.Read(data);
  if (!tree.ok() || !tree->root().IsMapping()) {
    event.all = true;
    return event;
  }
  event.time = TimeOf(tree->Find("timestamp").String());
  for (const char* name : {"appId", "runSpecId"}) AddId(tree->Find(name).String(), &event.ids);
  AddId(tree->Find("appDefinition").Find("id").String(), &event.ids);
  AddUri(tree->Find("uri").String(), &event.ids);
  AddActions(tree->Find("currentStep"), &event.ids);
  for (const Node step : tree->Find("plan").Find("steps").elements()) AddActions(step, &event.ids);
  // Of a whole group, or a version that says less.
  event.all = event.ids.empty();
  return event;
}

MarathonEvents::MarathonEvents()
    : sse_(kMostEventBytes, [this](std::string_view type, std::string_view data, bool whole) {
        MarathonEvent event;
        event.all = !whole;
        Add(whole ? ReadMarathonEvent(json_, type, data) : std::move(event));
      }) {}

void MarathonEvents::Add(MarathonEvent event) {
  if (event.ids.empty() && !event.all) return;
  std::lock_guard lock(mutex_);
  if (!std::exchange(has_news_, true)) begins_ = true;
  news_.all = news_.all || event.all;
  news_.ids.merge(event.ids);
  news_.time = news_.time == 0 || event.time == 0 ? event.time : std::min(news_.time, event.time);
  if (news_.ids.size() > kMostIds) {
    news_.all = true;
    news_.ids.clear();
  }
}

// Somebody may take what there is while more is added: only that sees where news begins.
bool MarathonEvents::Read(std::string_view bytes) {
  sse_.Read(bytes);
  return std::exchange(begins_, false);
}

MarathonEvent MarathonEvents::Take() {
  std::lock_guard lock(mutex_);
  has_news_ = false;
  return std::exchange(news_, {});
}

}  // namespace fairlead::source
