#include "gateway_api/derivation.h"

#include <string>

namespace fairlead::gateway_api {
namespace {

using config::Kind;

// Why an object of the kind does nothing; "" where it may do something.
std::string_view WhyIgnored(Kind kind) {
  switch (kind) {
    case Kind::kUdpRoute:
      return "UDP is not routed: Istio's gateways have no UDP listeners";
    case Kind::kXListenerSet:
      return "XListenerSet is not read any more; ListenerSet has taken its place";
    case Kind::kXBackendTrafficPolicy:
      return "alpha kinds of the Gateway API are off, as they are by default in Istio";
    case Kind::kInferencePool:
      return "the inference extension of the Gateway API is off, as it is by default in Istio";
    default:
      return "";
  }
}

}  // namespace

std::unique_ptr<state::Derivation> GatewayApiDerivation::Clone() const {
  return std::make_unique<GatewayApiDerivation>(*this);
}

state::Derivation::Outcome GatewayApiDerivation::Apply(const config::ObjectStore& objects,
                                                       std::span<const config::ObjectChange> changes,
                                                       const model::SettingsPtr& settings) {
  if (!translation_) translation_.emplace(settings->domain);
  for (const config::ObjectChange& change : changes) NoteIgnored(change);
  return {.objects = translation_->Apply(objects, changes), .statuses = {}};
}

void GatewayApiDerivation::NoteIgnored(const config::ObjectChange& change) {
  if (WhyIgnored(change.key.kind).empty()) return;
  if (change.object == nullptr) {
    ignored_.Erase(change.key);
  } else {
    ignored_.Set(change.key, change.object);
  }
}

std::vector<config::Diagnostic> GatewayApiDerivation::Diagnostics() const {
  std::vector<config::Diagnostic> all;
  for (const auto& [key, object] : ignored_) {
    config::Diagnostic& one = all.emplace_back();
    one.severity = config::Severity::kWarning;
    one.code = "no-effect";
    one.file = object->origin().file.str();
    one.line = object->origin().line;
    one.object = key;
    one.message = WhyIgnored(key.kind);
  }
  return all;
}

}  // namespace fairlead::gateway_api
