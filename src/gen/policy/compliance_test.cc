#include "gen/policy/compliance.h"

#include <gmock/gmock.h>

#include "envoy/extensions/transport_sockets/tls/v3/common.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"

namespace fairlead::gen {
namespace {

using envoy::extensions::transport_sockets::tls::v3::CommonTlsContext;
using envoy::extensions::transport_sockets::tls::v3::TlsParameters;
using model::Compliance;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TlsParameters Enforced(Compliance compliance, bool set = true) {
  CommonTlsContext context;
  if (set) {
    TlsParameters& params = *context.mutable_tls_params();
    params.set_tls_minimum_protocol_version(TlsParameters::TLSv1_3);
    params.set_tls_maximum_protocol_version(TlsParameters::TLSv1_3);
    for (const char* suite : {"AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"})
      params.add_cipher_suites(suite);
    params.add_ecdh_curves("X25519");
  }
  EnforceCompliance(compliance, &context);
  return context.tls_params();
}

TEST(Compliance, WithoutAPolicyEverythingStays) {
  EXPECT_THAT(Enforced(Compliance::kNone).cipher_suites(), SizeIs(2));
  EXPECT_EQ(Enforced(Compliance::kNone, false).ByteSizeLong(), 0u);
}

TEST(Compliance, Fips1402IsTls12WithSomeSuites) {
  const TlsParameters params = Enforced(Compliance::kFips1402);
  EXPECT_EQ(params.tls_minimum_protocol_version(), TlsParameters::TLSv1_2);
  EXPECT_EQ(params.tls_maximum_protocol_version(), TlsParameters::TLSv1_2);
  EXPECT_THAT(params.cipher_suites(), ElementsAre("ECDHE-RSA-AES256-GCM-SHA384"));
  EXPECT_THAT(params.ecdh_curves(), IsEmpty());
  EXPECT_THAT(Enforced(Compliance::kFips1402, false).cipher_suites(), IsEmpty());
}

TEST(Compliance, Fips1403IsEnvoysOwnPolicy) {
  const TlsParameters params = Enforced(Compliance::kFips1403);
  EXPECT_THAT(params.compliance_policies(), ElementsAre(TlsParameters::FIPS_202205));
  EXPECT_THAT(params.cipher_suites(), SizeIs(2));
}

TEST(Compliance, PqcIsTls13WithOneCurve) {
  const TlsParameters params = Enforced(Compliance::kPqc, false);
  EXPECT_EQ(params.tls_minimum_protocol_version(), TlsParameters::TLSv1_3);
  EXPECT_THAT(params.ecdh_curves(), ElementsAre("X25519MLKEM768"));
  EXPECT_THAT(params.cipher_suites(), SizeIs(4));
}

}  // namespace
}  // namespace fairlead::gen
