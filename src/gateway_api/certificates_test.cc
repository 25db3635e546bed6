#include "gateway_api/certificates.h"

#include <gtest/gtest.h>

namespace fairlead::gateway_api {
namespace {

using Data = std::map<std::string, std::string>;

TEST(CertificatesTest, KeysAreLookedForUnderBothNames) {
  EXPECT_EQ(MissingKeyPair(Data{{"tls.crt", "a"}, {"tls.key", "b"}}), std::nullopt);
  EXPECT_EQ(MissingKeyPair(Data{{"cert", "a"}, {"key", "b"}}), std::nullopt);
  EXPECT_EQ(MissingKeyPair(Data{{"tls.crt", ""}, {"tls.key", "b"}}),
            "found keys \"tls.crt\" and \"tls.key\", but they were empty");
  EXPECT_EQ(MissingKeyPair(Data{{"d", ""}, {"b", ""}, {"a", ""}, {"c", ""}, {"e", ""}}),
            "found secret, but didn't have expected keys (cert and key) or (tls.crt and tls.key); found: a, "
            "b, c, and 2 more...");
}

TEST(CertificatesTest, WhatIsNoPairIsSaid) {
  constexpr char kKey[] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
  constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const auto broken = [](const char* cert, const char* key) {
    return BrokenKeyPair(Data{{"cert", cert}, {"key", key}});
  };
  EXPECT_EQ(broken("x", "y"), "tls: failed to find any PEM data in certificate input");
  EXPECT_EQ(broken(kKey, "y"),
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM "
            "inputs may have been switched");
  EXPECT_EQ(broken(kCertificate, "y"), "tls: failed to find any PEM data in key input");
  EXPECT_EQ(broken(kCertificate, kCertificate),
            "tls: found a certificate rather than a key in the PEM for the private key");
  EXPECT_EQ(broken(kCertificate, kKey), "x509: malformed certificate");
}

TEST(CertificatesTest, RootsAreLookedForUnderBothNames) {
  EXPECT_EQ(MissingRoot(Data{{"cacert", "a"}}), std::nullopt);
  EXPECT_EQ(MissingRoot(Data{{"ca.crt", ""}}), "found key \"ca.crt\", but it was empty");
  EXPECT_EQ(MissingRoot(Data{{"root", "a"}}),
            "found secret, but didn't have expected keys cacert or ca.crt; found: root");
  EXPECT_FALSE(HasCertificate(Data{{"ca.crt", "none"}}));
}

}  // namespace
}  // namespace fairlead::gateway_api
