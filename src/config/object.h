#ifndef FAIRLEAD_CONFIG_OBJECT_H_
#define FAIRLEAD_CONFIG_OBJECT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/interned.h"
#include "base/labels.h"
#include "config/kind.h"

namespace fairlead::config {

struct OwnerReference {
  std::string api_version, kind, name;
  bool controller = false;
};

// What the mesh reads of Kubernetes' ObjectMeta.
struct ObjectMeta {
  Interned name;
  Interned ns;  // "" for kinds without a namespace; a manifest that leaves it out is in "default"
  LabelMap labels;
  LabelMap annotations;
  std::string generate_name;  // metadata.generateName, what a controller named the object after
  // Unix seconds. An object without a creationTimestamp is as good as created now: younger than all that have
  // one.
  int64_t creation_time = std::numeric_limits<int64_t>::max();
  int64_t generation = 0;
  bool deleting = false;  // has a deletionTimestamp
  std::string uid;
  std::string resource_version;
  std::vector<OwnerReference> owners;
  // The cluster whose API server has the object: "" for the control plane's own, which holds its
  // configuration and whose id is Settings::cluster_id; else the id of the other one. REQUIRES: never
  // Settings::cluster_id.
  Interned cluster;
};

// Where an object was read. `file` is "" for objects of an API server.
struct Origin {
  Interned file;
  int line = 0;          // 1-based line of the document's first key
  Interned api_version;  // as written, e.g. networking.istio.io/v1beta1
};

// The parts of a `status` that change what proxies are sent. Other status is not read: it is written for
// people.
struct ObjectStatus {
  struct Address {
    std::string host;   // a host of the ServiceEntry
    std::string value;  // an IP address
    friend bool operator==(const Address&, const Address&) = default;
  };
  struct Condition {
    std::string type;    // "Healthy" of a WorkloadEntry
    std::string status;  // "True", "False", "Unknown"
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  std::vector<Address> addresses;     // ServiceEntry: status.addresses, allocated automatically
  std::vector<Condition> conditions;  // WorkloadEntry: status.conditions
  friend bool operator==(const ObjectStatus&, const ObjectStatus&) = default;
};

// One Istio, Kubernetes or Gateway API object, immutable once made and shared by all that read it. Objects
// are equal in meaning if they are the same pointer: sources hand out the same pointer for an object that did
// not change.
class ConfigObject {
 public:
  ConfigObject(Kind kind, ObjectMeta meta, Origin origin, std::shared_ptr<const void> payload,
               Hash128 content_hash, std::shared_ptr<const ObjectStatus> status = nullptr)
      : kind_(kind),
        meta_(std::move(meta)),
        origin_(std::move(origin)),
        payload_(std::move(payload)),
        content_hash_(content_hash),
        status_(std::move(status)) {}
  // For one that nobody reads twice: a number in the hash's place.
  ConfigObject(Kind kind, ObjectMeta meta, Origin origin, std::shared_ptr<const void> payload,
               uint64_t number)
      : ConfigObject(kind, std::move(meta), std::move(origin), std::move(payload), Hash128{0, number}) {}

  Kind kind() const { return kind_; }
  const ObjectMeta& meta() const { return meta_; }
  const Interned& name() const { return meta_.name; }
  const Interned& ns() const { return meta_.ns; }
  const Interned& cluster() const { return meta_.cluster; }
  const Origin& origin() const { return origin_; }
  // Of everything but the origin; equal objects have equal hashes. For change detection between parses of one
  // object.
  const Hash128& content_hash() const { return content_hash_; }

  // Of ServiceEntries and WorkloadEntries that have one; else null. Part of content_hash().
  const ObjectStatus* status() const { return status_.get(); }

  // The typed payload: T must be the one that the kind's row says: the protobuf spec
  // (istio::networking::v1alpha3:: VirtualService, …), the struct of kubernetes_types.h (ServiceSpec, …) or
  // Tree (the document below the root).
  template <typename T>
  const T& Spec() const {
    return *static_cast<const T*>(payload_.get());
  }
  // The same, sharing ownership with the object's payload.
  template <typename T>
  std::shared_ptr<const T> SharedSpec() const {
    return std::static_pointer_cast<const T>(payload_);
  }

 private:
  Kind kind_;
  ObjectMeta meta_;
  Origin origin_;
  std::shared_ptr<const void> payload_;
  Hash128 content_hash_;
  std::shared_ptr<const ObjectStatus> status_;
};

using ConfigPtr = std::shared_ptr<const ConfigObject>;

// Identity of an object within a mesh. In order, the same name in several clusters is together, the control
// plane's own first.
struct ObjectKey {
  Kind kind;
  Interned ns;
  Interned name;
  Interned cluster = {};  // see ObjectMeta

  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
  friend bool operator<(const ObjectKey& a, const ObjectKey& b) {
    return std::tie(a.kind, a.ns, a.name, a.cluster) < std::tie(b.kind, b.ns, b.name, b.cluster);
  }
  template <typename H>
  friend H AbslHashValue(H h, const ObjectKey& k) {
    return H::combine(std::move(h), k.kind, k.ns, k.name, k.cluster);
  }
};

inline ObjectKey KeyOf(const ConfigObject& object) {
  return {object.kind(), object.ns(), object.name(), object.cluster()};
}

// Whether objects of the kind count from any cluster: what services and their endpoints are made of. All
// others count from the control plane's own cluster alone. Source: Istio's kube registries, one a cluster.
bool CountsFromEveryCluster(Kind kind);

// "VirtualService default/reviews", "Pod shop/web-0 of cluster east", for messages.
std::string Describe(const ObjectKey& key);

// Istio's order wherever objects compete: older first, then name, then namespace (Istio:
// sortConfigByCreationTime), and at last the cluster.
bool OlderFirst(const ConfigObject& a, const ConfigObject& b);

// One step of a source: the object as it now is, or null where it is gone.
struct ObjectChange {
  ObjectKey key;
  ConfigPtr object;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_OBJECT_H_
