#include "gateway_api/conversion/gateway_address.h"

#include "base/strings.h"
#include "config/tree.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Node;

constexpr std::string_view kNameOverride = "gateway.istio.io/name-override";
constexpr std::string_view kServiceAccount = "gateway.istio.io/service-account";
constexpr std::string_view kServiceType = "networking.istio.io/service-type";

Node AddressesOf(const ConfigObject& gateway) {
  return gateway.Spec<config::Tree>().Find("spec").Find("addresses");
}

// An annotation counts if it says something.
std::string AnnotationOr(const ConfigObject& gateway, std::string_view name, std::string fallback) {
  const std::string_view value = LabelOr(gateway.meta().annotations, name);
  return value.empty() ? std::move(fallback) : std::string(value);
}

std::string DefaultName(const ConfigObject& gateway, const GatewayClass& gateway_class) {
  return StrCat(gateway.name().str(), "-", gateway_class.name);
}

}  // namespace

bool IsManaged(const ConfigObject& gateway) {
  const Node addresses = AddressesOf(gateway);
  if (addresses.size() == 0) return true;
  return addresses.size() == 1 && addresses.At(0).Find("type").String("IPAddress") == "IPAddress";
}

std::string GatewayServiceName(const ConfigObject& gateway, const GatewayClass& gateway_class) {
  return AnnotationOr(gateway, kNameOverride, DefaultName(gateway, gateway_class));
}

std::string GatewayServiceAccount(const ConfigObject& gateway, const GatewayClass& gateway_class) {
  if (!IsManaged(gateway)) return "";
  return AnnotationOr(gateway, kServiceAccount, DefaultName(gateway, gateway_class));
}

GatewayAddress AddressOf(const ConfigObject& gateway, const GatewayClass& gateway_class,
                         std::string_view domain) {
  const auto host = [&](std::string_view name) {
    return StrCat(name, ".", gateway.ns().str(), ".svc.", domain);
  };
  GatewayAddress found;
  if (IsManaged(gateway)) {
    found.services.push_back(host(GatewayServiceName(gateway, gateway_class)));
    return found;
  }
  std::vector<std::string_view> skipped;
  for (Node address : AddressesOf(gateway).elements()) {
    const std::string_view value = address.Find("value").text();
    if (address.Find("type").String("Hostname") != "Hostname") {
      skipped.push_back(value);
    } else {
      found.services.push_back(value.find('.') == std::string_view::npos ? host(value) : std::string(value));
    }
  }
  if (!skipped.empty()) {
    found.error = ConfigError{"UnsupportedAddress",
                              StrCat("only Hostname is supported, ignoring [", Join(skipped, " "), "]")};
  } else if (gateway.meta().annotations.contains(kServiceType)) {
    found.error = ConfigError{
        "DeprecatedField",
        StrCat("annotation ", kServiceType, " is deprecated, use Spec.Infrastructure.Routeability")};
  }
  return found;
}

}  // namespace fairlead::gateway_api
