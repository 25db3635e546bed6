#include "source/cluster/kind_copy.h"

#include <utility>

#include "base/strings.h"
#include "config/metadata.h"

namespace fairlead::source {
namespace {

config::Diagnostic LostPolicyDiagnostic(const config::ObjectKey& key, const config::LostPolicy& policy,
                                        bool denied) {
  config::Diagnostic diagnostic;
  diagnostic.code = config::kUnreadablePolicyCode;
  diagnostic.object = key;
  const std::string whose =
      policy.narrow ? std::string("its workloads") : StrCat("the workloads of namespace ", policy.ns);
  diagnostic.message = StrCat(
      "the policy cannot be read and has no earlier version: ",
      denied ? StrCat("every request to ", whose, " is denied until it is mended") : "it is not in force");
  return diagnostic;
}

}  // namespace

bool KindCopy::IsOfOtherRevision(config::Node object) const {
  if (revision_.empty()) return false;
  const config::Node label = object.Find("metadata").Find("labels").Find("istio.io/rev");
  return label && label.text() != revision_;
}

// A ConfigMap that is the lock of a leader election changes every few seconds and says nothing of the mesh.
bool KindCopy::IsLock(config::Node object) const {
  return kind_.kind == config::Kind::kConfigMap &&
         object.Find("metadata").Find("annotations").Find("control-plane.alpha.kubernetes.io/leader");
}

void KindCopy::OnObject(config::Node object) {
  if (IsOfOtherRevision(object) || IsLock(object)) return OnGone(object);
  config::StoredObject stored = config::ReadStored(kind_, api_version_, object, cluster_);
  if (!stored.key) return;  // no API server has such a one
  Entry& entry = entries_[*stored.key];
  Put(entry, std::move(stored));
}

void KindCopy::Put(Entry& entry, config::StoredObject stored) {
  const config::ObjectKey& key = *stored.key;
  entry.list = list_;
  if (stored.object != nullptr) {
    const bool same =
        entry.object != nullptr && entry.object->content_hash() == stored.object->content_hash();
    Deny(entry, nullptr);
    if (!same) {
      entry.object = std::move(stored.object);
      changes_.push_back({key, entry.object});
    }
  } else if (entry.object != nullptr) {
    config::Diagnostic earlier = config::ServingEarlier("", 0);
    earlier.object = key;
    stored.diagnostics.push_back(std::move(earlier));
  } else if (stored.lost_policy) {
    stored.diagnostics.push_back(LostPolicyDiagnostic(key, *stored.lost_policy, deny_lost_));
    if (deny_lost_) Deny(entry, stored.lost_policy->denial);
  }
  SetDiagnostics(key, std::move(stored.diagnostics));
}

void KindCopy::Deny(Entry& entry, config::ConfigPtr denial) {
  if (entry.denial != nullptr) changes_.push_back({config::KeyOf(*entry.denial), nullptr});
  entry.denial = std::move(denial);
  if (entry.denial != nullptr) changes_.push_back({config::KeyOf(*entry.denial), entry.denial});
}

void KindCopy::Drop(const config::ObjectKey& key, Entry& entry) {
  if (entry.object != nullptr) changes_.push_back({key, nullptr});
  Deny(entry, nullptr);
  SetDiagnostics(key, {});
}

void KindCopy::OnListEnd() {
  absl::erase_if(entries_, [this](auto& one) {
    const bool gone = one.second.list != list_;
    if (gone) Drop(one.first, one.second);
    return gone;
  });
}

void KindCopy::OnGone(config::Node object) {
  std::optional<config::ObjectKey> key = config::ReadKey(kind_, object);
  if (!key) return;
  key->cluster = cluster_;
  const auto it = entries_.find(*key);
  if (it == entries_.end()) return;
  Drop(it->first, it->second);
  entries_.erase(it);
}

void KindCopy::Clear() {
  OnListBegin();
  OnListEnd();
}

void KindCopy::SetDiagnostics(const config::ObjectKey& key, std::vector<config::Diagnostic> diagnostics) {
  if (diagnostics.empty()) {
    if (diagnostics_.erase(key) > 0) ++diagnostics_revision_;
    return;
  }
  diagnostics_[key] = std::move(diagnostics);
  ++diagnostics_revision_;
}

void KindCopy::AddDiagnostics(std::vector<config::Diagnostic>* diagnostics) const {
  for (const auto& [key, list] : diagnostics_)
    diagnostics->insert(diagnostics->end(), list.begin(), list.end());
}

}  // namespace fairlead::source
