#include "gen/generator.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/byte_cache.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/collect.h"
#include "gen/naming/cluster_name.h"
#include "gen/resource/origins.h"
#include "gen/resource/unknown_answer.h"

namespace fairlead::gen {
namespace {

// EDS. Names are those of EDS clusters; a name of nothing that the proxy sees gets an empty assignment, as
// Envoy waits for one. There is no wildcard. Assignments are shared by all proxies of a class, whatever else
// they see. Lists of them come in parts, each with the names of some domains (namespaces, where hosts are
// Kubernetes'), so that endpoints that changed in one, or a name that is new, leave the rest of a long list
// alone.
class EndpointGenerator final : public Generator {
 public:
  size_t PartCount() const override { return kParts; }
  PartOfName ByName() const override { return PartOf; }

  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    out.reserve(names->size());
    for (const std::string& name : *names) {
      // Names that clients make up are not kept. Without names it depends on nothing.
      if (name != kSelfDiscoveryCluster &&
          view.imports().FindService(ParseClusterName(name).host) == nullptr) {
        out.push_back(Unknown(name));
        continue;
      }
      out.push_back(view.Use(
          assignments_, Key{view.proxy_class_ptr(), name},
          [&](mesh::View& of_name) { return Make(of_name, name); }, SameResource));
    }
    return out;
  }

  void Sweep(Clock::time_point now) override {
    assignments_.Sweep(now);
    cache_.Sweep(now);
  }

 private:
  static constexpr size_t kParts = 16;
  // By what follows the first dot of the host, the last piece of a cluster's name.
  static size_t PartOf(std::string_view cluster) {
    const size_t dot = cluster.find('.', cluster.rfind('|') + 1);
    return std::hash<std::string_view>()(cluster.substr(std::min(dot, cluster.size()))) % kParts;
  }

  struct Key {
    model::ProxyClassPtr proxy_class;
    std::string name;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.proxy_class, key.name);
    }
  };

  static cache::ResourcePtr Unknown(const std::string& name) {
    return UnknownAnswer(cache::TypeId::kEndpoint, name, [&] {
      EndpointInputs inputs;
      inputs.cluster_name = name;
      return Encode(name, BuildLoadAssignment(inputs));
    });
  }

  cache::ResourcePtr Make(mesh::View& view, const std::string& name) {
    return cache_.GetOrBuild(CollectEndpoints(view, name), [](const EndpointInputs& in) {
      return Encode(in.cluster_name, BuildLoadAssignment(in), Audience::kMany,
                    OriginList().Add(in.service).Add(in.rule).Take());
    });
  }

  cache::RecordedCache<Key, cache::Resource, mesh::Reads> assignments_;
  cache::ByteCache<EndpointInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewEndpointGenerator() { return std::make_unique<EndpointGenerator>(); }

}  // namespace fairlead::gen
