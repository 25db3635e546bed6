#include "gen/policy/compliance.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "envoy/extensions/transport_sockets/tls/v3/common.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"

namespace fairlead::gen {
namespace {

using envoy::extensions::transport_sockets::tls::v3::CommonTlsContext;
using envoy::extensions::transport_sockets::tls::v3::TlsParameters;

constexpr std::array<std::string_view, 4> kSuites = {
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384"};

// Without suites and curves Envoy's FIPS build has the right ones.
void SetFips1402(TlsParameters* out) {
  out->set_tls_minimum_protocol_version(TlsParameters::TLSv1_2);
  out->set_tls_maximum_protocol_version(TlsParameters::TLSv1_2);
  auto* suites = out->mutable_cipher_suites();
  suites->erase(std::remove_if(suites->begin(), suites->end(),
                               [](const std::string& suite) {
                                 return std::find(kSuites.begin(), kSuites.end(), suite) == kSuites.end();
                               }),
                suites->end());
  out->clear_ecdh_curves();
}

void SetPqc(TlsParameters* out) {
  out->set_tls_minimum_protocol_version(TlsParameters::TLSv1_3);
  out->clear_cipher_suites();
  for (const std::string_view suite : kSuites) out->add_cipher_suites(std::string(suite));
  out->clear_ecdh_curves();
  out->add_ecdh_curves("X25519MLKEM768");
}

}  // namespace

void EnforceCompliance(model::Compliance compliance, CommonTlsContext* out) {
  switch (compliance) {
    case model::Compliance::kNone:
      return;
    case model::Compliance::kFips1402:
      return SetFips1402(out->mutable_tls_params());
    case model::Compliance::kFips1403:
      out->mutable_tls_params()->clear_compliance_policies();
      return out->mutable_tls_params()->add_compliance_policies(TlsParameters::FIPS_202205);
    case model::Compliance::kPqc:
      return SetPqc(out->mutable_tls_params());
  }
}

}  // namespace fairlead::gen
