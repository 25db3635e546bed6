#include "gen/generator.h"

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "cache/byte_cache.h"
#include "gen/name_table/build.h"
#include "gen/name_table/inputs.h"
#include "istio/networking/nds/v1/nds.pb.h"

namespace fairlead::gen {
namespace {

// The one name table of a proxy, a resource without a name.
class NameTableGenerator final : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    const NameTableInputs inputs = CollectNameTable(
        request.snapshot, *request.scope.sidecar, NameTableClientOf(request.snapshot, *request.scope.proxy));
    return {cache_.GetOrBuild(inputs, [](const NameTableInputs& in) {
      istio::networking::nds::v1::NameTable table;
      BuildNameTable(in, &table);
      return Encode("", table);
    })};
  }

  PartStamp Stamp(const Request& request, size_t /*part*/) const override {
    const mesh::InputRevisions revisions = request.snapshot.RevisionsFor(*request.scope.sidecar);
    return {request.scope.own_id, request.scope.sidecar->imports_id,
            std::max(revisions.settings, revisions.passthrough_endpoints)};
  }

  std::optional<std::string> PartKey(const Request& request, size_t /*part*/) override {
    const NameTableClient client = NameTableClientOf(request.snapshot, *request.scope.proxy);
    const model::AddressView& view = client.addresses;
    return StrCat(request.scope.sidecar->id, "|", client.network.str(), "|", client.cluster.str(), "|",
                  static_cast<int>(view.ipv4), static_cast<int>(view.ipv6),
                  static_cast<int>(view.own_cluster), static_cast<int>(view.auto_allocated));
  }

  void Sweep() override { cache_.Sweep(); }

 private:
  cache::ByteCache<NameTableInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewNameTableGenerator() { return std::make_unique<NameTableGenerator>(); }

}  // namespace fairlead::gen
