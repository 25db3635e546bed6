#include "debug/redaction.h"

#include <google/protobuf/any.pb.h>

#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/extensions/filters/network/wasm/v3/wasm.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "gen/extension/pull_secret.h"

namespace fairlead::debug {

namespace {

using envoy::config::core::v3::TypedExtensionConfig;
using google::protobuf::Any;

constexpr char kRedacted[] = "[redacted]";

// False: it is no such filter, or has no credentials.
template <typename Wasm>
bool RedactFilter(Any* any) {
  Wasm filter;
  if (!any->UnpackTo(&filter)) return false;
  auto& values =
      *filter.mutable_config()->mutable_vm_config()->mutable_environment_variables()->mutable_key_values();
  const auto found = values.find(std::string(gen::extension::kPullSecretVariable));
  if (found == values.end() || found->second.empty()) return false;
  found->second = kRedacted;
  any->PackFrom(filter);
  return true;
}

std::string RedactedExtension(const std::string& any) {
  namespace filters = envoy::extensions::filters;
  Any read;
  TypedExtensionConfig config;
  if (!read.ParseFromString(any) || !read.UnpackTo(&config)) return any;
  Any* const filter = config.mutable_typed_config();
  if (!RedactFilter<filters::http::wasm::v3::Wasm>(filter) &&
      !RedactFilter<filters::network::wasm::v3::Wasm>(filter)) {
    return any;
  }
  read.PackFrom(config);
  return read.SerializeAsString();
}

}  // namespace

std::string Redacted(xds::TypeId type, const std::string& any) {
  if (type == xds::TypeId::kExtension) return RedactedExtension(any);
  if (type != xds::TypeId::kSecret) return any;
  Any read;
  envoy::extensions::transport_sockets::tls::v3::Secret secret;
  if (!read.ParseFromString(any) || !read.UnpackTo(&secret)) return "";
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
