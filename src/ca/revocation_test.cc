#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "ca/authority.h"
#include "ca/issue.h"
#include "ca/openssl.h"
#include "http2/tls.h"

// Revocation lists of the authority in the TLS listener's handshakes.
namespace fairlead::ca {
namespace {

using OwnedTls = Owned<SSL, SSL_free>;

BundlePtr NewBundle(const std::string& organization) {
  auto bundle = std::make_shared<Bundle>();
  bundle->key = *MakeKey(KeyType::kEcdsaP256);
  bundle->certificate = *MakeRoot(bundle->key, organization, UnixNow() - 60, UnixNow() + 86400);
  bundle->roots = {bundle->certificate};
  return bundle;
}

// The list of an authority that has revoked a certificate.
std::string Revoked(const Bundle& bundle, const CertificatePtr& certificate) {
  const Owned<X509_CRL, X509_CRL_free> list(X509_CRL_new());
  const Owned<ASN1_TIME, ASN1_TIME_free> time(ASN1_TIME_set(nullptr, UnixNow() - 60));
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(bundle.certificate.get()));
  X509_CRL_set1_lastUpdate(list.get(), time.get());
  X509_REVOKED* entry = X509_REVOKED_new();
  X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.get()));
  X509_REVOKED_set_revocationDate(entry, time.get());
  X509_CRL_add0_revoked(list.get(), entry);
  ASN1_TIME_set(time.get(), UnixNow() + 3600);
  X509_CRL_set1_nextUpdate(list.get(), time.get());
  X509_CRL_sign(list.get(), bundle.key.get(), EVP_sha256());
  const OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(out.get(), list.get());
  return Written(out.get());
}

// Whether the listener lets a client with that certificate in.
bool LetsIn(const http2::TlsCredentials& credentials, const KeyAndChain& client) {
  const std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_use_certificate(context.get(), ReadCertificates(client.chain)->front().get());
  SSL_CTX_use_PrivateKey(context.get(), ReadPrivateKey(client.key)->get());
  const OwnedTls from(SSL_new(context.get())), to(SSL_new(credentials.Get().get()));
  const unsigned char protocols[] = "\x02h2";
  SSL_set_alpn_protos(from.get(), protocols, 3);
  BIO *one = nullptr, *other = nullptr;
  BIO_new_bio_pair(&one, 0, &other, 0);
  SSL_set_bio(from.get(), one, one);
  SSL_set_bio(to.get(), other, other);
  SSL_set_connect_state(from.get());
  SSL_set_accept_state(to.get());
  for (int i = 0; i < 10; ++i) {
    SSL_do_handshake(from.get());
    SSL_do_handshake(to.get());
  }
  ERR_clear_error();
  return SSL_is_init_finished(to.get()) == 1 && SSL_get_verify_result(to.get()) == X509_V_OK;
}

TEST(RevocationTest, ARevokedCertificateEndsTheHandshake) {
  Authority authority({});
  const BundlePtr bundle = NewBundle("one"), other = NewBundle("two");
  authority.Replace(bundle);
  const KeyAndChain listener = *authority.MakeKeyAndChain({"localhost"}, std::chrono::seconds(60));
  const KeyAndChain bad =
      *authority.MakeKeyAndChain({"spiffe://cluster.local/ns/a/sa/b"}, std::chrono::seconds(60));
  const KeyAndChain good =
      *authority.MakeKeyAndChain({"spiffe://cluster.local/ns/a/sa/c"}, std::chrono::seconds(60));
  const auto credentials = *http2::TlsCredentials::Make({});
  http2::TlsMaterial material;
  material.certificate_chain = listener.chain;
  material.private_key = listener.key;
  // Of the second root there is no list.
  material.client_roots = CertificatePem(bundle->certificate) + CertificatePem(other->certificate);
  ASSERT_TRUE(credentials->Replace(material).ok());
  EXPECT_TRUE(LetsIn(*credentials, bad));
  material.client_crl = Revoked(*bundle, ReadCertificates(bad.chain)->front());
  ASSERT_TRUE(credentials->Replace(material).ok());
  EXPECT_FALSE(LetsIn(*credentials, bad));
  EXPECT_TRUE(LetsIn(*credentials, good));
  authority.Replace(other);
  EXPECT_TRUE(LetsIn(*credentials, *authority.MakeKeyAndChain({"spiffe://cluster.local/ns/a/sa/d"},
                                                              std::chrono::seconds(60))));
  material.client_crl = "no list";
  EXPECT_FALSE(credentials->Replace(material).ok());
  EXPECT_TRUE(LetsIn(*credentials, good)) << "the last good one is kept";
}

}  // namespace
}  // namespace fairlead::ca
