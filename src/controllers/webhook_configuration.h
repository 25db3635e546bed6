#ifndef FAIRLEAD_CONTROLLERS_WEBHOOK_CONFIGURATION_H_
#define FAIRLEAD_CONTROLLERS_WEBHOOK_CONFIGURATION_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/read/json_fields.h"
#include "config/tree.h"

namespace fairlead::controllers {

enum class WebhookKind : uint8_t { kMutating, kValidating };

// "mutatingwebhookconfigurations", "MutatingWebhookConfiguration".
std::string_view PluralOf(WebhookKind kind);
std::string_view NameOf(WebhookKind kind);
// "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations".
std::string WebhookCollection(WebhookKind kind);

struct WebhookKey {
  WebhookKind kind = WebhookKind::kMutating;
  std::string name;
  friend auto operator<=>(const WebhookKey&, const WebhookKey&) = default;
};

// What of a configuration of webhooks is looked at. A plain value.
struct WebhookConfiguration {
  struct Webhook {
    std::string name;
    std::string ca_bundle;       // PEM; "": none, or none that can be read
    std::string failure_policy;  // "Fail", "Ignore"; "" counts as the former
    friend bool operator==(const Webhook&, const Webhook&) = default;
  };
  WebhookKey key;
  std::string version;  // metadata.resourceVersion
  std::vector<Webhook> webhooks;
  friend bool operator==(const WebhookConfiguration&, const WebhookConfiguration&) = default;
};

// Of an API server's object. Thread-safe.
WebhookConfiguration ReadWebhookConfiguration(WebhookKind kind, config::Node object);
// What ReadWebhookConfiguration reads of one.
const config::JsonFields& WebhookFields();

// Whether two texts in PEM hold the same certificates, in any order and with any text around them.
bool HaveSameCertificates(std::string_view a, std::string_view b);
// Whether there is a certificate in the text at all.
bool HasCertificate(std::string_view pem);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_WEBHOOK_CONFIGURATION_H_
