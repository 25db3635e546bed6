#include "gen/listener/outbound_memo.h"

#include <algorithm>
#include <utility>

namespace fairlead::gen::listener {
namespace {

// As many as the byte caches': a set and the bytes that it names go together.
constexpr uint32_t kGenerations = 8;
// Where labels decide, workloads of a namespace differ in them; more variants than this are not worth the
// search.
constexpr size_t kMaxVariants = 64;

}  // namespace

bool OutboundSet::HasListener(const Interned& name, const Interned& own_address) const {
  const auto before = [](const Entry& entry, const Interned& n) { return entry.resource->name < n; };
  const auto found = std::lower_bound(listeners.begin(), listeners.end(), name, before);
  return found != listeners.end() && found->resource->name == name &&
         (found->endpoint.empty() || found->endpoint != own_address);
}

bool OutboundMemo::Holds(const mesh::MeshSnapshot& snapshot, Variant* variant) {
  if (variant->checked == snapshot.endpoints) return true;
  for (const auto& [service, endpoints] : variant->endpoints) {
    if (snapshot.endpoints->Find(service->hostname, service->ns) != endpoints) return false;
  }
  variant->checked = snapshot.endpoints;
  return true;
}

OutboundSetPtr OutboundMemo::Find(const Key& key, const Request& request) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.used = generation_;
  for (Variant& variant : found->second.variants) {
    if (variant.labels && *variant.labels != request.scope.labels) continue;
    if (Holds(request.snapshot, &variant)) return variant.set;
  }
  return nullptr;
}

void OutboundMemo::Keep(const Key& key, const Request& request, OutboundReads reads, OutboundSetPtr set) {
  Variant variant;
  if (reads.labels) variant.labels = request.scope.labels;
  variant.endpoints = std::move(reads.endpoints);
  variant.checked = request.snapshot.endpoints;
  variant.set = std::move(set);
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[key];
  entry.used = generation_;
  // What does not hold any more will not again: endpoints get new pointers when they change.
  std::erase_if(entry.variants, [&](Variant& old) { return !Holds(request.snapshot, &old); });
  if (entry.variants.size() < kMaxVariants) entry.variants.push_back(std::move(variant));
}

void OutboundMemo::Sweep() {
  std::lock_guard lock(mutex_);
  ++generation_;
  absl::erase_if(entries_,
                 [this](const auto& entry) { return generation_ - entry.second.used > kGenerations; });
}

}  // namespace fairlead::gen::listener
