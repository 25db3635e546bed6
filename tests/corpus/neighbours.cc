#include "tests/corpus/neighbours.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "base/strings.h"
#include "mesh/view/view.h"
#include "model/proxy_class.h"
#include "push/stream/generators.h"
#include "push/stream/part_cache.h"
#include "tests/corpus/mesh_of_objects.h"
#include "xds/referred_names.h"

namespace fairlead::corpus {
namespace {

using xds::TypeId;

struct Asker {
  std::string name;
  model::ProxyPtr proxy;
  std::map<const mesh::MeshSnapshot*, mesh::ProxyScopePtr> scopes;
  std::array<push::LastResources, xds::kTypeCount> made;
};

// The proxy as it is, and as others that are nearly alike.
std::vector<NamedProxy> WithNeighbours(const NamedProxy& proxy) {
  std::vector<NamedProxy> all = {proxy};
  const auto add = [&](const char* what, auto change) {
    auto other = std::make_shared<model::Proxy>(*proxy.proxy);
    change(*other);
    other->proxy_class = model::ClassOf(*other);
    all.push_back({StrCat(proxy.name, what), std::move(other)});
  };
  add(" without labels", [](model::Proxy& p) { p.metadata.labels.clear(); });
  add(" elsewhere", [](model::Proxy& p) {
    p.node_locality = model::Locality::Parse("neighbour/a/b");
    p.metadata.node_name = "neighbour";
  });
  add(" of a newer version", [](model::Proxy& p) { p.version = model::ParseIstioVersion("9.9.9"); });
  add(" of another namespace", [](model::Proxy& p) { p.ns = p.metadata.ns = "neighbours"; });
  return all;
}

class Server {
 public:
  Server(const Case& one, const Case& other)
      : meshes_{MeshOfObjects(one.settings), MeshOfObjects(other.settings)} {
    snapshots_ = {meshes_[0].Apply(one.objects), meshes_[1].Apply(other.objects)};
    for (const NamedProxy& proxy : one.proxies) {
      for (NamedProxy& asker : WithNeighbours(proxy)) askers_.push_back({asker.name, asker.proxy, {}, {}});
    }
  }

  std::string Run() {
    std::mt19937 random(4711);
    for (int round = 0; round < 6; ++round) {
      std::shuffle(askers_.begin(), askers_.end(), random);
      for (Asker& asker : askers_) {
        const std::string wrong = Ask(*snapshots_[random() % 2], &asker);
        if (!wrong.empty()) return StrCat(asker.name, " ", wrong);
      }
    }
    return "";
  }

 private:
  std::string Ask(const mesh::MeshSnapshot& snapshot, Asker* asker) {
    mesh::ProxyScopePtr& scope = asker->scopes[&snapshot];
    if (scope == nullptr) scope = mesh::ComputeProxyScope(snapshot, asker->proxy);
    for (const auto& [root, referred] :
         {std::pair{TypeId::kCluster, TypeId::kEndpoint}, std::pair{TypeId::kListener, TypeId::kRoute},
          std::pair{TypeId::kListener, TypeId::kExtension}}) {
      std::vector<std::string> names;
      std::string wrong = Compare(snapshot, *scope, root, nullptr, asker, referred, &names);
      if (!wrong.empty()) return wrong;
      const xds::NameSetPtr asked = xds::NameSet::Of({names.begin(), names.end()});
      wrong = Compare(snapshot, *scope, referred, asked, asker, referred, &names);
      if (!wrong.empty()) return wrong;
    }
    return Compare(snapshot, *scope, TypeId::kNameTable, nullptr, asker, TypeId::kNameTable, nullptr);
  }

  // What the caches give for a type is what new generators make. `names`: of what it refers to.
  std::string Compare(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope, TypeId type,
                      const xds::NameSetPtr& asked, Asker* asker, TypeId referred,
                      std::vector<std::string>* names) {
    const auto slot = static_cast<size_t>(type);
    const auto set = parts_.Make(*generators_[slot], {snapshot, &scope}, asked, &asker->made[slot]);
    const push::Generators fresh = push::MakeGenerators();
    const gen::Resources want =
        gen::GenerateFor(*fresh[slot], snapshot, scope, asked == nullptr ? nullptr : &asked->names());
    if (names != nullptr) *names = xds::ReferredNames(want, referred);
    if (set->size() != want.size()) return StrCat(xds::InfoOf(type).name, ": another number of resources");
    for (const cache::ResourcePtr& resource : want) {
      const cache::ResourcePtr got = set->Find(resource->name.str());
      if (got == nullptr || got->hash != resource->hash)
        return StrCat(xds::InfoOf(type).name, " ", resource->name.str());
    }
    return "";
  }

  std::array<MeshOfObjects, 2> meshes_;
  std::array<mesh::SnapshotPtr, 2> snapshots_;
  std::vector<Asker> askers_;
  push::Generators generators_ = push::MakeGenerators();
  push::PartCache parts_;
};

}  // namespace

std::string FindWrongAnswer(const Case& one, const Case& other) { return Server(one, other).Run(); }

}  // namespace fairlead::corpus
