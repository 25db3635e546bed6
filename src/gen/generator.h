#ifndef FAIRLEAD_GEN_GENERATOR_H_
#define FAIRLEAD_GEN_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/resource.h"
#include "mesh/proxy_scope.h"
#include "mesh/snapshot.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::gen {

// What one generation of one type for one proxy reads. `names` are the resources asked for, sorted, null for
// all (wildcard).
struct Request {
  const mesh::MeshSnapshot& snapshot;
  const mesh::ProxyScope& scope;
  const std::vector<std::string>* names = nullptr;
  uint64_t names_id = 0;  // of the list of names, unlike any other list's; 0: it has none
};

// What a part of a generator's result was made from. For requests of one proxy with equal stamps and equal
// names the part is the same; `own` 0: not known, equal to nothing.
struct PartStamp {
  uint64_t own = 0;       // ProxyScope::own_id
  uint64_t sidecar = 0;   // SidecarScope's id or imports_id, where the part reads what the proxy sees
  uint64_t revision = 0;  // the newest of those InputRevisions that the part reads
  bool Covers(const PartStamp& now) const { return own != 0 && *this == now; }
  friend bool operator==(const PartStamp&, const PartStamp&) = default;
};

// Makes the resources of one xDS type. A generator lives in a folder of its own: Collect (in collect.cc)
// reads the request and fills Inputs, plain values with equality that own what they point to; Build (in
// build.cc) is a pure function of Inputs; a cache::ByteCache<Inputs> member maps the one to the encoded
// result of the other. Thread-safe.
class Generator {
 public:
  virtual ~Generator() = default;
  // Resources in a stable order, names unique. A name asked for that does not exist: see each generator.
  virtual std::vector<cache::ResourcePtr> Generate(const Request& request) = 0;
  // Sharing. A generator may split its result into parts (what is outbound, what is inbound) and say of each
  // what it depends on besides the snapshot and the names: a part is then made once per snapshot for all
  // proxies with an equal key. A key must hold all that the part reads of the ProxyScope, objects by numbers
  // that are never used again. No key: the part is made for each proxy. All parts together are
  // Generate's result, in any order.
  virtual size_t PartCount() const { return 1; }
  // Cheap: asked for each proxy at each publication. A part whose stamp did not change is not made again, so
  // a stamp must name everything that GeneratePart reads.
  virtual PartStamp Stamp(const Request& /*request*/, size_t /*part*/) const { return {}; }
  virtual std::optional<std::string> PartKey(const Request& /*request*/, size_t /*part*/) {
    return std::nullopt;
  }
  virtual std::vector<cache::ResourcePtr> GeneratePart(const Request& request, size_t /*part*/) {
    return Generate(request);
  }

  // Called after a snapshot was published: caches drop what is no longer used.
  virtual void Sweep() = 0;
};

// For how many clients a resource is. What many have is kept unpacked if it is large (cache::kLarge), so that
// their messages can refer to it.
enum class Audience : uint8_t { kMany, kOne };

// Encodes a built message deterministically as a resource that refers to what the message does (see
// naming/references.h). `origins`: the config objects that it was made from, in any order.
cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message,
                          Audience audience = Audience::kMany, cache::Origins origins = {});
// The same of a message that is encoded already, and refers to nothing; `type` is its full name,
// "envoy.config.route.v3.RouteConfiguration".
cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message,
                               Audience audience = Audience::kMany, cache::Origins origins = {});
// One of a resource's origins: "VirtualService", "default", "reviews".
Interned OriginKey(std::string_view kind, std::string_view ns, std::string_view name);

std::unique_ptr<Generator> NewClusterGenerator();   // gen/cluster: CDS
std::unique_ptr<Generator> NewEndpointGenerator();  // gen/endpoint: EDS
std::unique_ptr<Generator> NewListenerGenerator();  // gen/listener: LDS
std::unique_ptr<Generator> NewRouteGenerator();     // gen/route: RDS
// gen/route: VHDS, the virtual hosts that requests ask for, of what `routes` makes; it must outlive this.
std::unique_ptr<Generator> NewVirtualHostGenerator(Generator* routes);
// gen/name_table: NDS, one resource without a name, for agents that capture DNS.
std::unique_ptr<Generator> NewNameTableGenerator();

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_GENERATOR_H_
