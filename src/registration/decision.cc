#include "registration/decision.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace fairlead::registration {
namespace {

using Kind = Step::Kind;

Step Refuse(absl::Status status) { return {.kind = Kind::kRefuse, .refusal = std::move(status)}; }

// The proxy must be of the namespace and, where the entry names one, the service account.
absl::Status CheckIdentity(const model::Proxy& proxy, const EntryName& name, std::string_view account,
                           const Rules& rules) {
  if (!rules.check_identity) return absl::OkStatus();
  if (!proxy.identity)
    return absl::PermissionDeniedError(
        "a WorkloadEntry is registered for a verified identity alone: connect over TLS");
  if (proxy.identity->ns != name.ns) {
    return absl::PermissionDeniedError(StrCat("WorkloadEntry ", name.ns, "/", name.name,
                                              " is not of the proxy's namespace ", proxy.identity->ns));
  }
  if (!account.empty() && proxy.identity->service_account != account) {
    return absl::PermissionDeniedError(StrCat("WorkloadEntry ", name.ns, "/", name.name,
                                              " is of service account ", account, ", the proxy of ",
                                              proxy.identity->service_account));
  }
  return absl::OkStatus();
}

LabelMap ConnectedBy(const Rules& rules, WallTime since) {
  return {{kControllerAnnotation, rules.replica}, {kConnectedAnnotation, TimeText(since)}};
}

std::optional<WallTime> TimeOf(const Entry& entry, std::string_view annotation) {
  const std::string_view text = LabelOr(entry.annotations, annotation);
  return text.empty() ? std::nullopt : ParseTime(text);
}

bool IsOurs(const Entry& entry, const Rules& rules) {
  return LabelOr(entry.annotations, kControllerAnnotation) == rules.replica;
}

Step Create(const config::ConfigPtr& group, const EntryName& name, const ConnectedProxy& connection,
            const Rules& rules) {
  const model::Proxy& proxy = *connection.proxy;
  if (!connection.registers) {
    return Refuse(absl::NotFoundError(
        StrCat("WorkloadEntry ", name.ns, "/", name.name, " of the proxy's metadata is not there")));
  }
  if (group == nullptr) {
    return Refuse(absl::FailedPreconditionError(StrCat("there is no WorkloadGroup ", proxy.metadata.ns, "/",
                                                       proxy.metadata.auto_register_group,
                                                       " to register the proxy in")));
  }
  absl::StatusOr<NewEntry> made = EntryFromGroup(name, proxy, group);
  if (!made.ok()) return Refuse(made.status());
  if (absl::Status status = CheckIdentity(proxy, name, ServiceAccountOf(*made), rules); !status.ok())
    return Refuse(std::move(status));
  for (auto& [key, value] : ConnectedBy(rules, connection.since))
    made->annotations.insert_or_assign(key, value);
  return {.kind = Kind::kCreate, .made = *std::move(made)};
}

}  // namespace

Step OnConnected(const Entry* entry, const config::ConfigPtr& group, const EntryName& name,
                 const ConnectedProxy& connection, const Rules& rules) {
  if (entry == nullptr) return Create(group, name, connection, rules);
  if (!connection.registers && !entry->TakesHealth()) return {};
  if (absl::Status status = CheckIdentity(*connection.proxy, name, entry->service_account, rules);
      !status.ok())
    return Refuse(std::move(status));
  const auto since = TimeOf(*entry, kConnectedAnnotation);
  const bool left = entry->annotations.contains(kDisconnectedAnnotation);
  // Clocks of two replicas may differ. An entry without a proxy elsewhere is ours, whatever they say.
  if (!left && since && *since >= connection.since) return {};
  Step step{.kind = Kind::kAnnotate, .set = ConnectedBy(rules, connection.since)};
  if (left) step.removed.emplace_back(kDisconnectedAnnotation);
  return step;
}

Step OnDeparted(const Entry* entry, const Departure& departure, const Rules& rules) {
  if (entry == nullptr || !IsOurs(*entry, rules)) return {};
  const auto since = TimeOf(*entry, kConnectedAnnotation);
  if (since && *since > departure.connected) return {};  // of another process with the same name
  if (!since && entry->annotations.contains(kDisconnectedAnnotation)) return {};
  return {.kind = Kind::kAnnotate,
          .set = {{kDisconnectedAnnotation, TimeText(departure.at)}},
          .removed = {kConnectedAnnotation}};
}

Step OnHealth(const Entry* entry, const ReportedHealth& health, const Rules& rules) {
  if (entry == nullptr || !IsOurs(*entry, rules)) return {};
  const std::string now = TimeText(health.at);
  Condition condition{kHealthy, health.healthy ? "True" : "False", health.healthy ? "" : health.message, now,
                      now};
  if (const Condition* before = entry->Find(kHealthy)) {
    const auto probed = ParseTime(before->last_probe);
    if (probed && *probed > health.at) return {};
    const bool same = before->status == condition.status && before->message == condition.message;
    if (same) return {};
    if (before->status == condition.status) condition.last_transition = before->last_transition;
  }
  Step step{.kind = Kind::kSetConditions, .conditions = entry->conditions};
  const auto place = std::find_if(step.conditions.begin(), step.conditions.end(),
                                  [](const Condition& one) { return one.type == kHealthy; });
  if (place == step.conditions.end()) {
    step.conditions.push_back(std::move(condition));
  } else {
    *place = std::move(condition);
  }
  return step;
}

bool IsCleanedUp(const LabelMap& annotations, bool has_health) {
  if (!LabelOr(annotations, kGroupAnnotation).empty()) return true;
  return has_health && !LabelOr(annotations, kControllerAnnotation).empty();
}

Step OnExpired(const Entry* entry, const std::string& mark) {
  if (entry == nullptr || mark.empty() || MarkOf(entry->annotations) != mark) return {};
  if (!IsCleanedUp(entry->annotations, entry->Find(kHealthy) != nullptr)) return {};
  if (entry->IsRegistered()) return {.kind = Kind::kDelete};
  Step step{.kind = Kind::kSetConditions, .conditions = entry->conditions};
  std::erase_if(step.conditions, [](const Condition& one) { return one.type == kHealthy; });
  return step;
}

}  // namespace fairlead::registration
