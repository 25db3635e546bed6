#include "push/publish/pending_changes.h"

#include <algorithm>
#include <utility>

#include "config/kubernetes_types.h"

namespace fairlead::push {

using config::Kind;
using config::ObjectChange;

namespace {

bool IsSlice(const ObjectChange& change) { return change.key.kind == Kind::kEndpointSlice; }

}  // namespace

void PendingChanges::Add(std::vector<ObjectChange> batch, Clock::time_point now, bool endpoints_alone) {
  if (batch.empty()) return;
  const bool only_endpoints = endpoints_alone || std::all_of(batch.begin(), batch.end(), IsSlice);
  const bool waits = endpoints_alone ? debounce_endpoints_ || !waiting_.empty() : Waits(batch);
  Pending& pending = waits ? waiting_ : endpoints_;
  const bool is_first = pending.empty();
  if (is_first) pending.reasons.first = now;
  // Endpoints that wait for others do not make those wait longer.
  if (waits && (debounce_endpoints_ || !only_endpoints)) debounce_.OnChange(now);
  if (!waits) {
    if (is_first) after_pause_ = now - last_endpoints_ >= quiet_;
    has_slices_ |= endpoints_alone || std::any_of(batch.begin(), batch.end(), IsSlice);
    last_endpoints_ = now;
  }
  for (ObjectChange& change : batch) {
    const config::ObjectKey key = change.key;
    pending.changes.insert_or_assign(key, std::move(change));
  }
}

// As istiod counts them. What new settings count as is known when they are compared with the old ones.
void PendingChanges::Add(const model::Facts& facts, Clock::time_point now) {
  Begin(now);
  waiting_.facts.Update(facts);
  if (facts.Get<model::KeySets>() != nullptr) waiting_.reasons.Add(Reason::kUnknown);
  if (facts.Get<model::TrustBundle>() != nullptr) waiting_.reasons.Add(Reason::kGlobal);
  if (facts.Get<model::SecretReaders>() != nullptr) waiting_.reasons.Add(Reason::kSecret);
}

void PendingChanges::PushAll(Clock::time_point now) {
  Begin(now);
  waiting_.reasons.everything = true;
  waiting_.reasons.Add(Reason::kDebug);
}

void PendingChanges::Begin(Clock::time_point now) {
  debounce_.OnChange(now);
  if (waiting_.empty()) waiting_.reasons.first = now;
}

std::optional<Clock::time_point> PendingChanges::EndpointsDue() const {
  if (endpoints_.empty()) return std::nullopt;
  const Clock::time_point next = pace_.Next(last_endpoints_, after_pause_);
  return has_slices_ ? next : std::max(next, endpoints_.reasons.first + quiet_);
}

std::optional<Clock::time_point> PendingChanges::Due() const {
  const auto due = debounce_.Due(), endpoints = EndpointsDue();
  return due && endpoints ? std::min(due, endpoints) : due ? due : endpoints;
}

Pending PendingChanges::Take(Clock::time_point now, bool quiet) {
  const auto is_due = [&](const auto& due) { return due && (quiet || *due <= now); };
  const bool all = is_due(debounce_.Due());
  if (!all && !is_due(EndpointsDue())) return {};
  if (!endpoints_.empty()) pace_.OnPublished(now);
  Pending taken = std::exchange(endpoints_, {});
  has_slices_ = false;
  if (!all) return taken;
  const Clock::time_point first = debounce_.Take();
  Pending waited = std::exchange(waiting_, {});
  waited.reasons.first = taken.empty() ? first : std::min(first, taken.reasons.first);
  waited.changes.merge(taken.changes);
  return waited;
}

bool PendingChanges::Waits(std::span<const ObjectChange> batch) const {
  if (debounce_endpoints_) return true;
  return !std::all_of(batch.begin(), batch.end(),
                      [this](const ObjectChange& change) { return MayOvertake(change); });
}

bool PendingChanges::MayOvertake(const ObjectChange& change) const {
  if (IsSlice(change)) return SliceMayOvertake(change);
  return change.key.kind == Kind::kPod && !IsWaiting(Kind::kNode) && !IsWaiting(Kind::kNamespace) &&
         !waiting_.changes.contains(change.key);
}

// Whether nothing that waits can be part of what the slice's endpoints are made from: the settings
// (networks), Nodes (localities), Namespaces (discovery selectors), the Service with its exports and imports,
// its other slices, from which endpoints may have moved, and the Pods. The slice may be gone, and its service
// is known to the registries alone: so services and slices of its namespace stand for its own.
bool PendingChanges::SliceMayOvertake(const ObjectChange& slice) const {
  if (waiting_.empty()) return true;
  const Interned& ns = slice.key.ns;
  if (waiting_.facts.Get<model::Settings>() != nullptr || IsWaiting(Kind::kNode) ||
      IsWaiting(Kind::kNamespace))
    return false;
  for (const Kind kind : {Kind::kService, Kind::kEndpointSlice, Kind::kServiceExport, Kind::kServiceImport}) {
    if (IsWaiting(kind, ns)) return false;
  }
  return slice.object == nullptr || !IsWaiting(Kind::kPod) || !IsWaitingPodOf(*slice.object);
}

bool PendingChanges::IsWaiting(Kind kind) const {
  const auto first = waiting_.changes.lower_bound({kind, {}, {}});
  return first != waiting_.changes.end() && first->first.kind == kind;
}

bool PendingChanges::IsWaiting(Kind kind, const Interned& ns) const {
  const auto first = waiting_.changes.lower_bound({kind, ns, {}});
  return first != waiting_.changes.end() && first->first.kind == kind && first->first.ns == ns;
}

// An endpoint without a reference to a pod may be any of its namespace.
bool PendingChanges::IsWaitingPodOf(const config::ConfigObject& slice) const {
  for (const config::SliceEndpoint& endpoint : slice.Spec<config::EndpointSliceSpec>().endpoints) {
    const bool names_pod = endpoint.target && endpoint.target->kind == "Pod";
    if (names_pod ? waiting_.changes.contains(
                        {Kind::kPod, endpoint.target->ns, endpoint.target->name, slice.cluster()})
                  : IsWaiting(Kind::kPod, slice.ns()))
      return true;
  }
  return false;
}

}  // namespace fairlead::push
