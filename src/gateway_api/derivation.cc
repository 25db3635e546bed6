#include "gateway_api/derivation.h"

namespace fairlead::gateway_api {
std::unique_ptr<state::Derivation> GatewayApiDerivation::Clone() const {
  return std::make_unique<GatewayApiDerivation>(*this);
}

state::Derivation::Outcome GatewayApiDerivation::Apply(const config::ObjectStore& objects,
                                                       std::span<const config::ObjectChange> changes,
                                                       const model::SettingsPtr& settings) {
  if (!translation_) translation_.emplace(settings->domain, settings->features);
  return {.objects = translation_->Apply(objects, changes), .diagnostics = false};
}

}  // namespace fairlead::gateway_api
