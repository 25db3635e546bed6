#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ca/bundle.h"
#include "ca/certificate.h"
#include "ca/key.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may be read as certificates and keys in PEM, and as an authority's. What was read
// can be written and is then the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::ca;  // NOLINT: for this function
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto key = ReadPrivateKey(text);
  fairlead::fuzz::Require(!key.ok() || *key != nullptr, "no key");
  const bool bundle = ReadBundle({text, text, "", text, ""}, 1'800'000'000).ok();
  const auto certificates = ReadCertificates(text);
  fairlead::fuzz::Require(!bundle || certificates.ok(), "an authority without a certificate");
  if (!certificates.ok()) return 0;
  const auto again = ReadCertificates(CertificatePems(*certificates));
  fairlead::fuzz::Require(again.ok() && again->size() == certificates->size(), "written and read again");
  for (size_t i = 0; i < certificates->size(); ++i) {
    fairlead::fuzz::Require(SameCertificate((*again)[i], (*certificates)[i]), "another certificate");
    UriNames((*certificates)[i]);
    DnsNames((*certificates)[i]);
    VerifyChain((*certificates)[i], *certificates, *certificates, "", 1'800'000'000).IgnoreError();
  }
  return 0;
}
