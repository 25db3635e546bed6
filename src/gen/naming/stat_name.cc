#include "gen/naming/stat_name.h"

#include "base/strings.h"

namespace fairlead::gen {

std::string StatName(std::string_view name) { return StrCat(name, ";"); }

namespace {

// What the two kinds of patterns have in common.
std::string Fill(std::string_view pattern, const model::Service& service, std::string_view subset,
                 const model::ServicePort& port) {
  const bool kubernetes = service.registry == model::Registry::kKubernetes && !service.name.empty();
  const std::string& host = service.hostname.str();
  std::string out =
      ReplaceAll(pattern, "%SERVICE%", kubernetes ? StrCat(service.name, ".", service.ns.str()) : host);
  out = ReplaceAll(out, "%SERVICE_NAME%", kubernetes ? service.name : host);
  out = ReplaceAll(out, "%SERVICE_FQDN%", host);
  out = ReplaceAll(out, "%SUBSET_NAME%", subset);
  out = ReplaceAll(out, "%SERVICE_PORT%", StrCat(port.port));
  return ReplaceAll(out, "%SERVICE_PORT_NAME%", port.name);
}

}  // namespace

std::string FillStatPattern(std::string_view pattern, const model::Service& service, std::string_view subset,
                            const model::ServicePort& port, uint32_t target_port) {
  return ReplaceAll(Fill(pattern, service, subset, port), "%TARGET_PORT%", StrCat(target_port));
}

std::string FillInboundStatPattern(std::string_view pattern, const model::Service& service,
                                   const model::ServicePort& port) {
  return Fill(pattern, service, "", port);
}

}  // namespace fairlead::gen
