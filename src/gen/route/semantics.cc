#include "gen/route/semantics.h"

#include <string_view>

#include "base/labels.h"
#include "config/derived_object.h"

namespace fairlead::gen::route {

Semantics SemanticsOf(const config::ConfigObject& virtual_service) {
  const std::string_view value =
      LabelOr(virtual_service.meta().annotations, config::kRouteSemanticsAnnotation);
  if (value == config::kIngressSemantics) return Semantics::kIngress;
  if (value == config::kGatewaySemantics) return Semantics::kGatewayApi;
  return Semantics::kIstio;
}

}  // namespace fairlead::gen::route
