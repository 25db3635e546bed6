#ifndef FAIRLEAD_GEN_ROUTE_SCOPE_MEMO_H_
#define FAIRLEAD_GEN_ROUTE_SCOPE_MEMO_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cache/resource.h"
#include "gen/route/inputs.h"
#include "mesh/sidecar_scope.h"

namespace fairlead::gen::route {

// What a proxy asks of its scope: with the scope, all that a route configuration depends on.
struct Question {
  ClientTraits client;
  LabelMap labels;  // empty where they make no difference in the scope
  model::SettingsPtr settings;
  std::string name;

  friend bool operator==(const Question&, const Question&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Question& q) {
    for (const auto& [name, value] : q.labels) h = H::combine(std::move(h), name, value);
    return H::combine(std::move(h), q.client, q.labels.size(), q.settings, q.name);
  }
};

// Answers by scope: scopes are shared by the workloads of a namespace and stay the same while what they see
// does, so that a thousand workloads need one collection of inputs. A scope that nobody asked about between
// two sweeps is let go. Thread-safe.
class ScopeMemo {
 public:
  class Scope {
   public:
    explicit Scope(bool labels_matter) : labels_matter_(labels_matter) {}
    bool labels_matter() const { return labels_matter_; }
    // Null where the question is new.
    cache::ResourcePtr Find(const Question& question) const;
    void Keep(Question question, cache::ResourcePtr answer);

   private:
    const bool labels_matter_;
    mutable std::mutex mutex_;
    absl::flat_hash_map<Question, cache::ResourcePtr> answers_;
  };
  using ScopePtr = std::shared_ptr<Scope>;

  ScopePtr For(const mesh::SidecarScopePtr& scope);
  void Sweep();

 private:
  struct Entry {
    ScopePtr answers;
    bool used = true;  // since the last sweep
  };
  std::mutex mutex_;
  absl::flat_hash_map<mesh::SidecarScopePtr, Entry> entries_;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_SCOPE_MEMO_H_
