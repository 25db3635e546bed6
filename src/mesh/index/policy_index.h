#ifndef FAIRLEAD_MESH_INDEX_POLICY_INDEX_H_
#define FAIRLEAD_MESH_INDEX_POLICY_INDEX_H_

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/store.h"
#include "mesh/index/policy_selection.h"

namespace fairlead::mesh {

// The policies of a mesh by kind and namespace. A part keeps its pointer while it holds the same objects, and
// the index its own while all parts do. Immutable, thread-safe to read.
class PolicyIndex {
 public:
  // Null where the namespace has no policies of the kind.
  NamespacePoliciesPtr Part(config::Kind kind, std::string_view ns) const;
  // The parts that hold the subject's policies.
  PolicyParts PartsFor(config::Kind kind, const PolicySubject& subject) const;
  // Of PartsFor: what a caller that does not note its reads asks.
  std::vector<config::ConfigPtr> Select(config::Kind kind, const PolicySubject& subject) const {
    return SelectPolicies(kind, PartsFor(kind, subject), subject);
  }
  const Interned& root_namespace() const { return root_namespace_; }
  // By namespace.
  const StringMap<NamespacePoliciesPtr>& All(config::Kind kind) const;
  // The same, for comparing; null: there are none.
  using OfKind = std::shared_ptr<const StringMap<NamespacePoliciesPtr>>;
  const OfKind& Parts(config::Kind kind) const { return by_kind_[static_cast<size_t>(kind)]; }

 private:
  friend class PolicyIndexBuilder;
  std::array<OfKind, config::KindCount()> by_kind_;
  Interned root_namespace_;
};

class PolicyIndexBuilder {
 public:
  // The kinds that a PolicyIndex holds.
  static const std::vector<config::Kind>& Kinds();
  // Takes over from `previous` (may be null) what is of a kind that `changed` does not hold, and the parts
  // whose objects are the same.
  static std::shared_ptr<const PolicyIndex> Build(const config::ObjectStore& store,
                                                  const Interned& root_namespace,
                                                  const std::vector<config::Kind>& changed,
                                                  const std::shared_ptr<const PolicyIndex>& previous);
};

// What selection reads of a policy. REQUIRES: the object is of one of PolicyIndexBuilder::Kinds.
Policy DigestPolicy(const config::ConfigPtr& object);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_POLICY_INDEX_H_
