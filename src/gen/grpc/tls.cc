#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/grpc/build.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen::grpc {
namespace {

// The old and the new message of a provider have the same fields.
template <typename Instance>
void SetInstance(std::string_view certificate, Instance* out) {
  out->set_instance_name("default");
  out->set_certificate_name(std::string(certificate));
}

}  // namespace

void SetCertificateProviders(const std::vector<std::string>& identities,
                             envoy::extensions::transport_sockets::tls::v3::CommonTlsContext* out) {
  SetInstance("default", out->mutable_tls_certificate_provider_instance());
  SetInstance("default", out->mutable_tls_certificate_certificate_provider_instance());
  auto* validation = out->mutable_combined_validation_context();
  SetInstance("ROOTCA", validation->mutable_validation_context_certificate_provider_instance());
  auto* peers = validation->mutable_default_validation_context();
  for (const std::string& identity : identities) peers->add_match_subject_alt_names()->set_exact(identity);
  SetInstance("ROOTCA", peers->mutable_ca_certificate_provider_instance());
}

}  // namespace fairlead::gen::grpc
