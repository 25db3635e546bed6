#ifndef FAIRLEAD_REGISTRY_SERVICEENTRY_SERVICE_H_
#define FAIRLEAD_REGISTRY_SERVICEENTRY_SERVICE_H_

#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "model/service.h"
#include "model/settings.h"

namespace fairlead::registry {

// The services that a ServiceEntry stands for: one for each of its hosts and addresses, hosts first.
// Addresses are IPs or ranges; a range of one address is that address, and what is neither is left out with a
// diagnostic. An entry without addresses takes those that were allocated for it (its status), unless it
// declines them.
std::vector<model::Service> ConvertServiceEntry(const config::ConfigPtr& object,
                                                const model::Settings& settings,
                                                std::vector<config::Diagnostic>* diagnostics);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICEENTRY_SERVICE_H_
