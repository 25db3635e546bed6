#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "ca/authority.h"
#include "ca/certificate_service.h"
#include "ca/issue.h"
#include "ca/signing_request.h"
#include "istio/security/v1alpha1/ca.pb.h"

// CreateCertificate as the service does it: the request is read, its signature verified, the certificate
// signed and encoded with its roots. The aim: 2,000 a second with ECDSA on 2 cores.
namespace fairlead::ca {
namespace {

class Anybody : public Authenticator {
 public:
  std::string_view name() const override { return "anybody"; }
  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& /*credentials*/) const override {
    Caller caller;
    caller.identities = {"spiffe://cluster.local/ns/shop/sa/web"};
    return caller;
  }
};

// The key of the authority and that of workloads are of this kind.
struct World {
  explicit World(KeyType type) {
    auto bundle = std::make_shared<Bundle>();
    bundle->key = *MakeKey(type);
    bundle->certificate = *MakeRoot(bundle->key, "cluster.local", UnixNow() - 60, UnixNow() + 86400L * 365);
    bundle->roots = {bundle->certificate};
    authority.Replace(bundle);
    authenticators.Add(std::make_unique<Anybody>());
    istio::v1::auth::IstioCertificateRequest encoded;
    encoded.set_csr(*MakeSigningRequest(*MakeKey(type), "spiffe://cluster.local/ns/shop/sa/web"));
    request = encoded.SerializeAsString();
  }
  Authority authority{{}};
  Authenticators authenticators;
  CertificateService service{&authority, &authenticators, NodeAgents({}, nullptr)};
  std::string request;
};

template <KeyType kType>
void CreateCertificate(benchmark::State& state) {
  static const World* const world = new World(kType);
  for (auto _ : state) {
    if (!world->service.CreateCertificate(world->request, {}).ok()) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(CreateCertificate<KeyType::kEcdsaP256>)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(CreateCertificate<KeyType::kRsa>)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace fairlead::ca
