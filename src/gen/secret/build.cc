#include "gen/secret/build.h"

#include <google/protobuf/duration.pb.h>

#include <string>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "gen/secret/key_pair.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/wire.h"

namespace fairlead::gen::secret {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using envoy::config::core::v3::DataSource;
using istio::mesh::v1alpha1::PrivateKeyProvider;

// Of the methods' configurations, which are extensions of Envoy's contrib and alike.
constexpr int kPrivateKeyField = 1, kPollDelayField = 2;

// The key stays with an accelerator. Of the delay, Istio sends the nanoseconds alone.
void SetProvider(std::string_view name, std::string_view type, std::string_view key, int32_t nanos,
                 bool fallback, tls::PrivateKeyProvider* out) {
  DataSource source;
  source.set_inline_bytes(std::string(key));
  google::protobuf::Duration delay;
  delay.set_nanos(nanos);
  std::string config;
  proto::AppendField(kPrivateKeyField, source.SerializeAsString(), &config);
  proto::AppendField(kPollDelayField, delay.SerializeAsString(), &config);
  out->set_provider_name(std::string(name));
  out->mutable_typed_config()->set_type_url(
      StrCat("type.googleapis.com/envoy.extensions.private_key_providers.", type));
  out->mutable_typed_config()->set_value(std::move(config));
  out->set_fallback(fallback);
}

void SetKeyPair(const KeyPair& pair, const Interned& key_provider, tls::TlsCertificate* out) {
  out->mutable_certificate_chain()->set_inline_bytes(std::string(pair.certificate));
  PrivateKeyProvider provider;
  provider.ParseFromString(key_provider.str());
  if (provider.has_cryptomb()) {
    const auto& mb = provider.cryptomb();
    return SetProvider("cryptomb", "cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig", pair.key,
                       mb.poll_delay().nanos(), mb.fallback().value(), out->mutable_private_key_provider());
  }
  if (provider.has_qat()) {
    const auto& qat = provider.qat();
    return SetProvider("qat", "qat.v3alpha.QatPrivateKeyMethodConfig", pair.key, qat.poll_delay().nanos(),
                       qat.fallback().value(), out->mutable_private_key_provider());
  }
  out->mutable_private_key()->set_inline_bytes(std::string(pair.key));
  if (!pair.staple.empty()) out->mutable_ocsp_staple()->set_inline_bytes(std::string(pair.staple));
}

}  // namespace

absl::Status Build(const SecretInputs& inputs, tls::Secret* out) {
  const bool map = inputs.object->kind() == config::Kind::kConfigMap;
  const Data& data = map ? inputs.object->Spec<config::ConfigMapSpec>().data
                         : inputs.object->Spec<config::SecretSpec>().data;
  out->set_name(inputs.name.str());
  if (!inputs.roots) {
    const auto pair = FindKeyPair(data);
    if (!pair.ok()) return pair.status();
    SetKeyPair(*pair, inputs.key_provider, out->mutable_tls_certificate());
    return absl::OkStatus();
  }
  const auto roots = FindRoots(data);
  if (!roots.ok()) return roots.status();
  auto* context = out->mutable_validation_context();
  std::string_view certificates = roots->certificates;
  // A line end after the last certificate says nothing, and comes and goes with the way in which a manifest
  // was written: what is meant for everybody is the same for all of them.
  if (map && certificates.ends_with('\n')) certificates.remove_suffix(1);
  context->mutable_trusted_ca()->set_inline_bytes(std::string(certificates));
  if (!roots->crl.empty()) context->mutable_crl()->set_inline_bytes(std::string(roots->crl));
  return absl::OkStatus();
}

}  // namespace fairlead::gen::secret
