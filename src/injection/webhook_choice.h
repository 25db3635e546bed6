#ifndef FAIRLEAD_INJECTION_WEBHOOK_CHOICE_H_
#define FAIRLEAD_INJECTION_WEBHOOK_CHOICE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/labels.h"

namespace fairlead::injection {

// The webhooks, as CONFIGURATION/WEBHOOK, that an API server would ask about a new pod, in its order. The
// configurations are MutatingWebhookConfigurations; the labels are those of the pod and of its namespace.
// Pure. Source: Kubernetes, "Dynamic Admission Control". Conditions in CEL are not looked at.
std::vector<std::string> WebhooksFor(const std::vector<nlohmann::json>& configurations, const LabelMap& pod,
                                     const LabelMap& ns);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_WEBHOOK_CHOICE_H_
