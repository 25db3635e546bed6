#include "gen/route/semantics.h"

#include <string_view>

#include "base/labels.h"

namespace fairlead::gen::route {

Semantics SemanticsOf(const config::ConfigObject& virtual_service) {
  const std::string_view value =
      LabelOr(virtual_service.meta().annotations, "internal.istio.io/route-semantics");
  if (value == "ingress") return Semantics::kIngress;
  if (value == "gateway") return Semantics::kGatewayApi;
  return Semantics::kIstio;
}

}  // namespace fairlead::gen::route
