#ifndef FAIRLEAD_GATEWAY_API_DERIVATION_H_
#define FAIRLEAD_GATEWAY_API_DERIVATION_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gateway_api/translation.h"
#include "state/derivation.h"

namespace fairlead::gateway_api {

// The step of a mesh that makes Istio's objects of those of the Gateway API. Statuses are not its work: they
// need what the registries make of the objects (status/status_board.h).
class GatewayApiDerivation : public state::Derivation {
 public:
  std::unique_ptr<Derivation> Clone() const override;
  Outcome Apply(const config::ObjectStore& objects, std::span<const config::ObjectChange> changes,
                const model::SettingsPtr& settings) override;
  // None: what is wrong with a route or Gateway is in its status.
  std::vector<config::Diagnostic> Diagnostics() const override { return {}; }
  // What the step has come to; null before the first Apply.
  const Translation* translation() const { return translation_ ? &*translation_ : nullptr; }

 private:
  std::optional<Translation> translation_;  // none before the first Apply
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_DERIVATION_H_
