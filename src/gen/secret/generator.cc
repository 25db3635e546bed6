#include "gen/generator.h"

#include <ctime>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "cache/byte_cache.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "gen/secret/build.h"
#include "gen/secret/inputs.h"
#include "gen/secret/key_pair.h"

namespace fairlead::gen {
namespace secret {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;

LogScope sds_log("sds");

metrics::Counter& Errors() {
  static auto& errors = metrics::GetCounter("pilot_sds_certificate_errors_total",
                                            "Total number of failures to fetch SDS key and certificate.");
  return errors;
}

// A certificate that proxies will not take is sent all the same, as istiod does: they say so, and keep the
// last.
void WarnOfCertificate(const tls::Secret& secret, const std::string& object) {
  const auto& source = secret.has_tls_certificate() ? secret.tls_certificate().certificate_chain()
                                                    : secret.validation_context().trusted_ca();
  const absl::Status status = CheckCertificate(source.inline_bytes(), time(nullptr));
  if (status.ok()) return;
  Errors().Add();
  sds_log.Warn("{}: {}", object, std::string(status.message()));
}

// A name of nothing, or of what the client may not have, gets nothing.
class SecretGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    const Collected collected = Collect(view, *names);
    for (const SecretInputs& inputs : collected.secrets) {
      cache::ResourcePtr made = cache_.GetOrBuild(inputs, Make);
      if (made != nullptr) out.push_back(std::move(made));
    }
    Tell(collected);
    return out;
  }
  void Sweep(Clock::time_point now) override { cache_.Sweep(now); }

 private:
  static cache::ResourcePtr Make(const SecretInputs& inputs) {
    tls::Secret secret;
    const std::string object = config::Describe(config::KeyOf(*inputs.object));
    if (const absl::Status status = Build(inputs, &secret); !status.ok()) {
      Errors().Add();
      sds_log.Warn("{}: {}", object, std::string(status.message()));
      return nullptr;
    }
    WarnOfCertificate(secret, object);
    const std::string_view kind = inputs.object->kind() == config::Kind::kConfigMap ? "ConfigMap" : "Secret";
    const cache::ResourceOrigin origin{OriginKey(kind, inputs.object->ns(), inputs.object->name()),
                                       inputs.object->content_hash()};
    return Encode(inputs.name, secret, Audience::kMany, {origin});
  }

  // Clients choose the names: a line for all, with a few of them.
  static void Tell(const Collected& collected) {
    if (collected.refusals.empty()) return;
    Errors().Add();
    constexpr size_t kMost = 3;
    std::string text;
    for (size_t i = 0; i < collected.refusals.size() && i < kMost; ++i)
      StrAppend(&text, i == 0 ? "" : "; ", collected.refusals[i]);
    if (collected.refusals.size() > kMost)
      StrAppend(&text, "; and ", collected.refusals.size() - kMost, " more");
    sds_log.Warn("secrets that are not sent: {}", text);
  }

  cache::ByteCache<SecretInputs> cache_;
};

}  // namespace
}  // namespace secret

std::unique_ptr<Generator> NewSecretGenerator() {
  secret::Errors();  // which is shown from the start
  return std::make_unique<secret::SecretGenerator>();
}

}  // namespace fairlead::gen
