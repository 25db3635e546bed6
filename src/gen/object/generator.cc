#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cache/byte_cache.h"
#include "gen/object/build.h"
#include "gen/object/generators.h"
#include "gen/object/inputs.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/service_addresses.h"

namespace fairlead::gen {
namespace object {
namespace {

bool AskedFor(const Names* names, const std::string& name) {
  return names == nullptr || std::binary_search(names->begin(), names->end(), name);
}

// A client that does not say where it is sees all addresses of a service.
std::vector<std::string> AddressesOf(const model::Service& service, mesh::View& view) {
  const model::ProxyClass& proxy = view.proxy_class();
  if (proxy.cluster_id.empty()) return model::AllClusterVips(service);
  return model::AllAddresses(service,
                             model::AddressViewOf(proxy, *view.settings(model::SettingsPart::kScopes)));
}

// Two parts: the objects, and, of ServiceEntries, those that stand for the services of other registries.
class ObjectGenerator final : public Generator {
 public:
  explicit ObjectGenerator(config::Kind kind) : kind_(kind) {}

  size_t PartCount() const override { return kind_ == config::Kind::kServiceEntry ? 2 : 1; }

  Resources Generate(mesh::View& view, const Names* names, size_t part) override {
    return part == 0 ? Objects(view, names) : Services(view, names);
  }

  void Sweep(Clock::time_point now) override { cache_.Sweep(now); }

 private:
  Resources Objects(mesh::View& view, const Names* names) {
    Resources out;
    ForEachWritten(view, [&](const config::ConfigPtr& object) {
      const std::string name = NameOf(*object);
      if (AskedFor(names, name)) out.push_back(Make(name, {object, nullptr, {}}));
    });
    return out;
  }

  Resources Services(mesh::View& view, const Names* names) {
    Resources out;
    StringSet seen;
    ForEachWritten(view, [&](const config::ConfigPtr& object) {
      if (object->name().str().starts_with("synthetic-")) seen.insert(NameOf(*object));
    });
    for (const model::ServicePtr& service : view.imports().services) {
      if (service->registry == model::Registry::kExternal) continue;
      const std::string name = SyntheticNameOf(*service);
      if (!AskedFor(names, name) || !seen.insert(name).second) continue;
      out.push_back(Make(name, {nullptr, service, AddressesOf(*service, view)}));
    }
    return out;
  }

  template <typename Visit>
  void ForEachWritten(mesh::View& view, Visit visit) const {
    const mesh::WrittenObjects::OfKind objects = view.Written(kind_);
    if (objects == nullptr) return;
    for (const auto& [name, object] : *objects) visit(object);
  }

  cache::ResourcePtr Make(const std::string& name, const ObjectInputs& inputs) {
    return cache_.GetOrBuild(inputs, [&](const ObjectInputs& in) {
      istio::mcp::v1alpha1::Resource resource;
      BuildResource(in, &resource);
      return Encode(name, resource);
    });
  }

  const config::Kind kind_;
  cache::ByteCache<ObjectInputs> cache_;
};

class MeshConfigGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* /*names*/, size_t /*part*/) override {
    return {Encode("", *view.settings()->mesh)};
  }
  void Sweep(Clock::time_point /*now*/) override {}
};

}  // namespace
}  // namespace object

std::unique_ptr<Generator> NewObjectGenerator(config::Kind kind) {
  return std::make_unique<object::ObjectGenerator>(kind);
}

std::unique_ptr<Generator> NewMeshConfigGenerator() {
  return std::make_unique<object::MeshConfigGenerator>();
}

}  // namespace fairlead::gen
