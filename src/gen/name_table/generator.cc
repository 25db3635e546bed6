#include "gen/generator.h"

#include <memory>

#include "cache/byte_cache.h"
#include "gen/name_table/build.h"
#include "gen/name_table/inputs.h"
#include "istio/networking/nds/v1/nds.pb.h"

namespace fairlead::gen {
namespace {

// The one name table of a proxy, a resource without a name.
class NameTableGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* /*names*/, size_t /*part*/) override {
    return {cache_.GetOrBuild(CollectNameTable(view), [](const NameTableInputs& in) {
      istio::networking::nds::v1::NameTable table;
      BuildNameTable(in, &table);
      return Encode("", table);
    })};
  }

  void Sweep(Clock::time_point now) override { cache_.Sweep(now); }

 private:
  cache::ByteCache<NameTableInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewNameTableGenerator() { return std::make_unique<NameTableGenerator>(); }

}  // namespace fairlead::gen
