#ifndef FAIRLEAD_GEN_GENERATOR_H_
#define FAIRLEAD_GEN_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cache/resource.h"
#include "mesh/view/view.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::gen {

using Resources = std::vector<cache::ResourcePtr>;
// The resources asked for, sorted; null for all (wildcard).
using Names = std::vector<std::string>;

// Makes the resources of one xDS type. A generator lives in a folder of its own: Collect (in collect.cc)
// reads the mesh and the client through a view and fills Inputs, plain values with equality that own what
// they point to; Build (in build.cc) is a pure function of Inputs; a cache::ByteCache<Inputs> member maps the
// one to the encoded result of the other. Every result is kept and shared by all callers of the generator
// (push::PartCache), by the reads that the view recorded. A generator declares nothing. Thread-safe.
class Generator {
 public:
  virtual ~Generator() = default;
  // The result may have parts, for example outbound and inbound. Each part is kept and shared separately. All
  // parts together are what the client has, with unique names.
  virtual size_t PartCount() const { return 1; }
  // Whether other proxies of one class and namespace are likely to have the same part. Others are kept for
  // their proxy.
  virtual bool IsShared(size_t /*part*/) const { return true; }
  // The part of a resource name, if parts consist of names. Each part is asked only for its own names. Any
  // names give their resources, whatever the part. Null: each part is asked for all names.
  using PartOfName = size_t (*)(std::string_view name);
  virtual PartOfName ByName() const { return nullptr; }
  // Resources in a stable order, names unique. A name asked for that does not exist: see each generator.
  virtual Resources Generate(mesh::View& view, const Names* names, size_t part) = 0;
  // Forgets what was not used lately. To be called every few seconds.
  virtual void Sweep(Clock::time_point now) = 0;
};

// Whether they are the same to a client.
bool SameResource(const cache::Resource& a, const cache::Resource& b);
bool SameResources(const Resources& a, const Resources& b);

// All parts, one after the other.
Resources GenerateAll(Generator& generator, mesh::View& view, const Names* names);

// The resources of the scope's client, made anew.
Resources GenerateFor(Generator& generator, const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                      const Names* names);

// A key of recorded values: proxies of one class and scope share the values under a name ("" for a single
// one).
struct ScopeKey {
  static ScopeKey Of(mesh::View& view, std::string name = "");

  model::ProxyClassPtr proxy_class;
  Interned sidecar_key;
  std::string name;
  friend bool operator==(const ScopeKey&, const ScopeKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ScopeKey& key) {
    return H::combine(std::move(h), key.proxy_class, key.sidecar_key, key.name);
  }
};

// Leaves those that are asked for.
void Pick(const Names* names, Resources* resources);

// For how many clients a resource is. A large resource of many clients is kept unpacked (cache::kLarge), so
// that their messages can refer to it.
enum class Audience : uint8_t { kMany, kOne };

// Encodes a built message deterministically as a resource that refers to what the message does (see
// naming/references.h). `origins`: the config objects that it was made from, in any order.
cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message,
                          Audience audience = Audience::kMany, cache::Origins origins = {});
// As above for an encoded message without references. `type` is its full name,
// "envoy.config.route.v3.RouteConfiguration".
cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message,
                               Audience audience = Audience::kMany, cache::Origins origins = {});
// One of a resource's origins: "VirtualService", "default", "reviews".
Interned OriginKey(std::string_view kind, std::string_view ns, std::string_view name);

std::unique_ptr<Generator> NewClusterGenerator();   // gen/cluster: CDS
std::unique_ptr<Generator> NewEndpointGenerator();  // gen/endpoint: EDS
std::unique_ptr<Generator> NewListenerGenerator();  // gen/listener: LDS
std::unique_ptr<Generator> NewRouteGenerator();     // gen/route: RDS
// gen/route: VHDS, the virtual hosts that requests ask for.
std::unique_ptr<Generator> NewVirtualHostGenerator();
// gen/secret: SDS of Secrets and ConfigMaps, for authenticated proxies.
std::unique_ptr<Generator> NewSecretGenerator();
// gen/extension: ECDS, the configurations that filters of listeners ask for by name.
std::unique_ptr<Generator> NewExtensionGenerator();
// gen/name_table: NDS, one resource without a name, for agents that capture DNS.
std::unique_ptr<Generator> NewNameTableGenerator();
// gen/proxy_config: PCDS, one resource without a name, for agents that are told what to trust; none where the
// mesh has no trust bundle. Source: PcdsGenerator, pilot/pkg/xds/pcds.go
std::unique_ptr<Generator> NewProxyConfigGenerator();

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_GENERATOR_H_
