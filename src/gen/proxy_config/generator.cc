#include "gen/generator.h"

#include <memory>

#include "cache/byte_cache.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::gen {
namespace {

// All that it is made from.
struct ProxyConfigInputs {
  model::TrustBundle trusted;
  friend bool operator==(const ProxyConfigInputs&, const ProxyConfigInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ProxyConfigInputs& in) {
    return H::combine(std::move(h), in.trusted);
  }
};

// Nothing of a ProxyConfig but what agents take from it while they run.
class ProxyConfigGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* /*names*/, size_t /*part*/) override {
    const model::TrustBundlePtr trusted = view.TrustBundle();
    if (trusted == nullptr) return {};
    return {cache_.GetOrBuild(ProxyConfigInputs{*trusted}, [](const ProxyConfigInputs& in) {
      istio::mesh::v1alpha1::ProxyConfig config;
      for (const std::string& certificate : in.trusted) config.add_ca_certificates_pem(certificate);
      return Encode("", config);
    })};
  }

  void Sweep(Clock::time_point now) override { cache_.Sweep(now); }

 private:
  cache::ByteCache<ProxyConfigInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewProxyConfigGenerator() { return std::make_unique<ProxyConfigGenerator>(); }

}  // namespace fairlead::gen
