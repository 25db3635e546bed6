#include <algorithm>
#include <memory>
#include <optional>
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

bool AskedFor(const Request& request, const std::string& name) {
  return request.names == nullptr || std::binary_search(request.names->begin(), request.names->end(), name);
}

// A client that does not say where it is sees all addresses of a service.
std::vector<std::string> AddressesOf(const model::Service& service, const Request& request) {
  const model::Proxy& proxy = *request.scope.proxy;
  if (proxy.metadata.cluster_id.empty()) return service.cluster_vips;
  return model::AllAddresses(service, model::AddressViewOf(proxy, request.snapshot.settings->cluster_id));
}

// Two parts: the objects, and, of ServiceEntries, those that stand for the services of other registries.
class ObjectGenerator final : public Generator {
 public:
  ObjectGenerator(config::Kind kind, const ObjectSource* source) : kind_(kind), source_(source) {}

  size_t PartCount() const override { return kind_ == config::Kind::kServiceEntry ? 2 : 1; }

  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> all;
    for (size_t part = 0; part < PartCount(); ++part) {
      for (cache::ResourcePtr& resource : GeneratePart(request, part)) all.push_back(std::move(resource));
    }
    return all;
  }

  std::vector<cache::ResourcePtr> GeneratePart(const Request& request, size_t part) override {
    return part == 0 ? Objects(request) : Services(request);
  }

  PartStamp Stamp(const Request& request, size_t part) const override {
    const uint64_t objects = source_->RevisionOf(kind_) + 1;
    if (part == 0) return {objects, 0, 0};
    return {objects, request.scope.sidecar->id, request.snapshot.revisions.settings};
  }

  // With the revision: objects may be newer than the snapshot, and then a stamp and what another stream made
  // before it must not be taken for one.
  std::optional<std::string> PartKey(const Request& /*request*/, size_t part) override {
    if (part == 0) return StrCat(source_->RevisionOf(kind_));
    return std::nullopt;
  }

  void Sweep() override { cache_.Sweep(); }

 private:
  std::vector<cache::ResourcePtr> Objects(const Request& request) {
    std::vector<cache::ResourcePtr> out;
    for (config::ConfigPtr& object : source_->ObjectsOf(kind_)) {
      const std::string name = NameOf(*object);
      if (AskedFor(request, name)) out.push_back(Make(name, {std::move(object), nullptr, {}}));
    }
    return out;
  }

  std::vector<cache::ResourcePtr> Services(const Request& request) {
    std::vector<cache::ResourcePtr> out;
    StringSet seen;
    for (const config::ConfigPtr& object : source_->ObjectsOf(kind_)) {
      if (object->name().str().starts_with("synthetic-")) seen.insert(NameOf(*object));
    }
    for (const model::ServicePtr& service : request.scope.sidecar->services) {
      if (service->registry == model::Registry::kExternal) continue;
      const std::string name = SyntheticNameOf(*service);
      if (!AskedFor(request, name) || !seen.insert(name).second) continue;
      out.push_back(Make(name, {nullptr, service, AddressesOf(*service, request)}));
    }
    return out;
  }

  cache::ResourcePtr Make(const std::string& name, const Inputs& inputs) {
    return cache_.GetOrBuild(inputs, [&](const Inputs& in) {
      istio::mcp::v1alpha1::Resource resource;
      BuildResource(in, &resource);
      return Encode(name, resource);
    });
  }

  const config::Kind kind_;
  const ObjectSource* const source_;
  cache::ByteCache<Inputs> cache_;
};

class MeshConfigGenerator final : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    return {Encode("", *request.snapshot.settings->mesh)};
  }
  PartStamp Stamp(const Request& request, size_t /*part*/) const override {
    return {1, 0, request.snapshot.revisions.settings};
  }
  std::optional<std::string> PartKey(const Request& /*request*/, size_t /*part*/) override { return "all"; }
  void Sweep() override {}
};

}  // namespace
}  // namespace object

std::unique_ptr<Generator> NewObjectGenerator(config::Kind kind, const ObjectSource* source) {
  return std::make_unique<object::ObjectGenerator>(kind, source);
}

std::unique_ptr<Generator> NewMeshConfigGenerator() {
  return std::make_unique<object::MeshConfigGenerator>();
}

}  // namespace fairlead::gen
