#include "debug/redaction.h"

#include <google/protobuf/any.pb.h>

#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"

namespace fairlead::debug {

std::string Redacted(xds::TypeId type, const std::string& any) {
  if (type != xds::TypeId::kSecret) return any;
  google::protobuf::Any read;
  envoy::extensions::transport_sockets::tls::v3::Secret secret;
  if (!read.ParseFromString(any) || !read.UnpackTo(&secret)) return "";
  constexpr char kRedacted[] = "[redacted]";
  if (secret.has_tls_certificate()) {
    auto* certificate = secret.mutable_tls_certificate();
    certificate->clear_pkcs12();
    certificate->clear_password();
    certificate->clear_private_key_provider();
    certificate->mutable_private_key()->set_inline_string(kRedacted);
  }
  if (secret.has_session_ticket_keys()) {
    for (auto& key : *secret.mutable_session_ticket_keys()->mutable_keys()) key.set_inline_string(kRedacted);
  }
  if (secret.has_generic_secret()) {
    secret.mutable_generic_secret()->mutable_secret()->set_inline_string(kRedacted);
  }
  read.PackFrom(secret);
  return read.SerializeAsString();
}

}  // namespace fairlead::debug
