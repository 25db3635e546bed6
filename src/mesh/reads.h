#ifndef FAIRLEAD_MESH_READS_H_
#define FAIRLEAD_MESH_READS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "config/kind.h"

// Recorded reads: what a derived value was made from, as questions with their answers. A value holds wherever
// its questions still have these answers, in whatever snapshot and for whatever client.
namespace fairlead::mesh {

struct MeshSnapshot;
struct ProxyScope;

// Where questions are asked: a snapshot, and a client in it, which is null where a value is nobody's in
// particular.
struct World {
  const MeshSnapshot& snapshot;
  const ProxyScope* client = nullptr;
  bool shadow = false;  // every reuse is checked by making the value anew (see View::Use)
};

// The immutable parts of a snapshot, and what of a client can be asked for. What `a` and `b` of a question
// mean stands behind each.
enum class Part : uint8_t {
  // Parts of the snapshot.
  kSettings,      // all of them
  kSettingsPart,  // a: the letter of the model::SettingsPart, "a" for the first
  kNetworks,
  kServices,      // a: the namespace where they live
  kHost,          // a: hostname; the services that have it
  kNamedService,  // a: hostname, b: namespace; of several the youngest
  kAllServices,
  kEndpoints,         // a: namespace
  kServiceEndpoints,  // a: hostname, b: namespace
  kEndpointTraits,    // a: namespace; what clusters are made from
  kVirtualServices,   // a: the namespace where they live; those for sidecars
  // The groups of VirtualServices for a gateway, see VirtualServiceIndex::GroupsFor.
  kVirtualServicesForAll,   // a: gateway
  kVirtualServicesOwn,      // a: gateway, b: namespace
  kVirtualServicesForSome,  // a: gateway, b: namespace
  kInternalRanges,          // of MeshNetworks, as text
  kAllVirtualServices,
  kDestinationRules,     // a: namespace
  kPeerAuthentications,  // a: namespace
  kObjects,              // of the question's kind; a: namespace
  kAllObjects,           // of the question's kind
  kObject,               // of the question's kind; a: namespace, b: name
  kPolicies,             // of the question's kind; a: namespace
  kWorkloads,            // a: address
  kPod,                  // a: place (see WorkloadIndex), b: name
  kExternalTargets,      // a: address
  kWritten,              // of the question's kind; see WrittenObjects
  kDestination,          // a: hostname, b: the namespace of clients; where a route to the host leads
  kKeySet,               // a: uri, b: issuer; see model::KeySource
  kTrustBundle,
  // Of what the client sees, through its SidecarScope.
  kRoutes,       // all of the scope
  kImports,      // the scope without its HTTP routes
  kImported,     // a: hostname; the service
  kRule,         // a: hostname; the DestinationRule that the client follows
  kInboundRule,  // a: hostname; the one that its workload serves by
  kSidecar,      // the Sidecar object
  // Of a router, what it serves.
  kGatewayPorts,
  kGatewayRoute,  // a: the name of a route configuration
  kGatewayNames,
  kGatewayPassthroughHosts,
  kGatewayServers,
  kOutboundPolicy,
  // The client itself.
  kClass,
  kNamespace,
  kSlot,        // see ProxyScope
  kLabel,       // a: key
  kIsLabelled,  // whether it has any
  kLocality,
  kNodeName,
  kWorkloadName,
  kMetadataNamespace,
  kDomain,
  kAnnotation,  // a: key
  kMetadata,    // a: key; of the node's metadata, where it is a text
  kNodeCluster,
  kMeshId,
  kHasAddress,    // a: address; whether it is the client's first
  kTargets,       // the services that its workload serves
  kTargetPorts,   // where the ports of these services lead, as text
  kOwnMutualTls,  // PeerAuthentication as it holds for the workload
  kIdentity,      // who it has proven to be
  kProxy,         // all that it says of itself
};
inline constexpr Part kFirstOfClient = Part::kRoutes;

struct Question {
  Part part;
  config::Kind kind = {};  // of parts that have one for each
  Interned a = {}, b = {};
  friend bool operator==(const Question&, const Question&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Question& q) {
    return H::combine(std::move(h), q.part, q.kind, q.a, q.b);
  }
};

// Which part it is: the part itself, which is kept alive so that no other has its address, or a text. Both
// empty: there is none.
struct Answer {
  std::shared_ptr<const void> part;
  Interned text;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// The answer in a world. REQUIRES: world.client where the question is about a client.
Answer Ask(const World& world, const Question& question);

// A question whose answer decides about this one's, or the question itself: what reads many small parts of
// one part is told when any of them changes. Of a question about the snapshot it is the same in every world.
Question Wider(const World& world, const Question& question);

// The reads of one value. Immutable, thread-safe.
class Reads {
 public:
  struct Read {
    Question question;
    Answer answer;
  };

  // Whether all questions have the same answers in `world`.
  bool Hold(const World& world) const;
  const std::vector<Read>& of_client() const { return of_client_; }
  // What was asked of the snapshot, as the questions that a view notes for what is made of this value.
  const std::vector<Question>& wider() const { return wider_; }
  // False: it depends on something that no question names.
  bool repeatable() const { return repeatable_; }

 private:
  friend class View;
  std::vector<Read> of_snapshot_, of_client_;
  std::vector<Question> wider_;
  bool repeatable_ = true;                    // false: something was read that no question names
  mutable std::atomic<uint64_t> held_in_{0};  // the id of the last snapshot that of_snapshot_ held in
};
using ReadsPtr = std::shared_ptr<const Reads>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_READS_H_
