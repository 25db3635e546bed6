#ifndef FAIRLEAD_TESTS_CORPUS_FOLD_H_
#define FAIRLEAD_TESTS_CORPUS_FOLD_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy.h"
#include "push/stream/generators.h"
#include "push/stream/part_cache.h"
#include "tests/corpus/case.h"
#include "xds/stream_core.h"

// Proxies that stay connected while a mesh changes, without wire, threads or clock: all that they are told is
// folded into what they hold.
namespace fairlead::corpus {

// What a client says besides its ACKs.
enum class Manner {
  kAsEnvoy,      // asks for what it refers to and lets go of the rest, at once
  kNeverLetsGo,  // keeps all names that it ever asked for, and speaks only when the server has said all
};

// One stream with its client.
class FoldingClient {
 public:
  FoldingClient(xds::Framing framing, Manner manner, model::ProxyPtr proxy);

  // The mesh became `epoch`'s: takes over all that is sent until nothing more comes.
  void Follow(const mesh::MeshSnapshot& snapshot, const push::Generators& generators, push::PartCache* parts);
  // The first resource in which what is held differs from what the generators make, asked directly for the
  // same names; "": none.
  std::string Stale(const mesh::MeshSnapshot& snapshot, const push::Generators& generators) const;

 private:
  struct Kind {
    bool open = false;
    std::set<std::string> names;  // asked for
    std::map<std::string, xds::ResourcePtr> held;
    std::string nonce;
  };

  Kind& Of(xds::TypeId type) { return kinds_[static_cast<size_t>(type)]; }
  void Ask(xds::TypeId type, const std::set<std::string>& add, const std::set<std::string>& drop);
  void Open(xds::TypeId type);
  void Exchange(const mesh::MeshSnapshot& snapshot, const push::Generators& generators,
                push::PartCache* parts);
  void Take(const xds::Response& response);
  void Answer(xds::TypeId type);
  void AskForWhatIsReferredTo();

  const xds::Framing framing_;
  const Manner manner_;
  const model::ProxyPtr proxy_;
  xds::StreamCore core_;
  mesh::ProxyScopePtr scope_;
  std::array<push::LastResources, xds::kTypeCount> made_;
  std::array<Kind, xds::kTypeCount> kinds_;
};

// Both variants of the protocol in both manners for each proxy of a case.
class FoldingClients {
 public:
  explicit FoldingClients(const Case& one);
  // Brings all clients to the snapshot. The first that does not hold what it should, and which resource; "":
  // none.
  std::string Follow(const mesh::SnapshotPtr& snapshot);

 private:
  struct Named {
    std::string name;
    FoldingClient client;
  };
  push::Generators generators_ = push::MakeGenerators();
  std::vector<Named> clients_;
  push::PartCache parts_;
};

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_FOLD_H_
