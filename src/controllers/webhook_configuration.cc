#include "controllers/webhook_configuration.h"

#include <set>

#include "base/base64.h"
#include "base/strings.h"

namespace fairlead::controllers {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----", kEnd = "-----END CERTIFICATE-----";

// Each certificate's DER.
std::set<std::string> CertificatesIn(std::string_view pem) {
  std::set<std::string> all;
  for (size_t begin = pem.find(kBegin); begin != std::string_view::npos; begin = pem.find(kBegin)) {
    pem.remove_prefix(begin + kBegin.size());
    const size_t end = pem.find(kEnd);
    if (end == std::string_view::npos) break;
    if (auto der = DecodeBase64(pem.substr(0, end)); der && !der->empty()) all.insert(*std::move(der));
    pem.remove_prefix(end + kEnd.size());
  }
  return all;
}

config::JsonFields MakeFields() {
  config::JsonFields fields;
  fields.Skip({"metadata", "managedFields"}).Skip({"metadata", "annotations"});
  for (const char* key : {"name", "failurePolicy"}) fields.Only({"webhooks", key});
  fields.Only({"webhooks", "clientConfig", "caBundle"});
  fields.rest = config::JsonFields::Rest::kRead;
  return fields;
}

}  // namespace

std::string_view PluralOf(WebhookKind kind) {
  return kind == WebhookKind::kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
}

std::string_view NameOf(WebhookKind kind) {
  return kind == WebhookKind::kMutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
}

std::string WebhookCollection(WebhookKind kind) {
  return StrCat("/apis/admissionregistration.k8s.io/v1/", PluralOf(kind));
}

const config::JsonFields& WebhookFields() {
  static const auto* fields = new config::JsonFields(MakeFields());
  return *fields;
}

WebhookConfiguration ReadWebhookConfiguration(WebhookKind kind, config::Node object) {
  WebhookConfiguration out;
  const config::Node metadata = object.Find("metadata");
  out.key = {kind, std::string(metadata.Find("name").String())};
  out.version = metadata.Find("resourceVersion").String();
  for (const config::Node webhook : object.Find("webhooks").elements()) {
    const auto bundle = DecodeBase64(webhook.Find("clientConfig").Find("caBundle").String());
    out.webhooks.push_back({std::string(webhook.Find("name").String()), bundle.value_or(""),
                            std::string(webhook.Find("failurePolicy").String())});
  }
  return out;
}

bool HaveSameCertificates(std::string_view a, std::string_view b) {
  return a == b || CertificatesIn(a) == CertificatesIn(b);
}

bool HasCertificate(std::string_view pem) { return !CertificatesIn(pem).empty(); }

}  // namespace fairlead::controllers
