#include "injection/annotation_checks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/strings.h"
#include "injection/annotations.h"
#include "injection/go_text.h"
#include "injection/ip_prefix.h"
#include "injection/proxy_config.h"
#include "injection/quantity.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/settings.h"

namespace fairlead::injection {
namespace {

absl::Status Wrong(std::string_view text) { return absl::InvalidArgumentError(ToAbsl(text)); }
std::string_view MessageOf(const absl::Status& status) { return FromAbsl(status.message()); }

absl::Status CheckMode(std::string_view mode) {
  if (mode == "REDIRECT" || mode == "TPROXY" || mode == "NONE") return absl::OkStatus();
  return Wrong(StrCat("interceptionMode invalid, use REDIRECT,TPROXY,NONE: ", mode));
}

absl::Status CheckPort(std::string_view text) {
  const absl::Status status = CheckGoUnsigned(Trim(text), 16);
  return status.ok() ? status : Wrong(StrCat("failed parsing port '", text, "': ", MessageOf(status)));
}

absl::Status CheckStatusPort(std::string_view text) {
  const absl::Status status = CheckPort(text);
  return status.ok() ? status : Wrong(StrCat("excludeInboundPorts invalid: ", MessageOf(status)));
}

absl::Status CheckPorts(std::string_view parameter, std::string_view list) {
  list = Trim(list);
  if (list.empty()) return absl::OkStatus();
  for (std::string_view port : Split(list, ',')) {
    if (const absl::Status status = CheckPort(port); !status.ok())
      return Wrong(StrCat(parameter, " invalid: failed parsing port '", port, "': ", MessageOf(status)));
  }
  return absl::OkStatus();
}
absl::Status CheckIncludedInboundPorts(std::string_view list) {
  return list == "*" ? absl::OkStatus() : CheckPorts("includeInboundPorts", list);
}
absl::Status CheckExcludedInboundPorts(std::string_view list) {
  return CheckPorts("excludeInboundPorts", list);
}
absl::Status CheckExcludedOutboundPorts(std::string_view list) {
  return CheckPorts("excludeOutboundPorts", list);
}

absl::Status CheckRanges(std::string_view parameter, std::string_view list) {
  if (list.empty()) return absl::OkStatus();
  for (std::string_view range : Split(list, ',')) {
    if (const absl::Status status = CheckIpPrefix(range); !status.ok())
      return Wrong(StrCat(parameter, " invalid: failed parsing cidr '", range, "': ", MessageOf(status)));
  }
  return absl::OkStatus();
}
absl::Status CheckIncludedRanges(std::string_view list) {
  return list == "*" ? absl::OkStatus() : CheckRanges("includeIPRanges", list);
}
absl::Status CheckExcludedRanges(std::string_view list) { return CheckRanges("excludeIPRanges", list); }

bool IsInterfaceName(std::string_view name) {
  return std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

absl::Status CheckInterfaces(std::string_view list) {
  if (list.empty()) return absl::OkStatus();
  for (std::string_view name : Split(list, ',')) {
    name = Trim(name);
    if (name.empty()) return Wrong("empty interface name");
    if (name.size() > 15) return Wrong(StrCat("interface name ", GoQuote(name), " too long (max 15 chars)"));
    if (!IsInterfaceName(name))
      return Wrong(StrCat("interface name ", GoQuote(name), " contains invalid characters"));
  }
  return absl::OkStatus();
}

absl::Status CheckUnsigned(std::string_view text) { return CheckGoUnsigned(text, 32); }

absl::Status CheckQuantity(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return Wrong("value contains control characters");
  return CanonicalQuantity(text).status();
}

absl::Status CheckProxyConfig(std::string_view text) {
  istio::mesh::v1alpha1::ProxyConfig proxy = model::DefaultMeshConfig()->default_config();
  if (const absl::Status status = ApplyProxyConfig(text, &proxy); !status.ok())
    return Wrong(StrCat("failed to convert to apply proxy config: ", MessageOf(status)));
  const std::vector<std::string> mistakes = ProxyConfigMistakes(proxy);
  return mistakes.empty() ? absl::OkStatus() : Wrong(GoErrorList(mistakes));
}

struct Check {
  std::string_view annotation;
  absl::Status (*check)(std::string_view);
};
constexpr std::array kChecks = {
    Check{kInterceptionMode, CheckMode},
    Check{kStatusPort, CheckStatusPort},
    Check{"readiness.status.sidecar.istio.io/initialDelaySeconds", CheckUnsigned},
    Check{"readiness.status.sidecar.istio.io/periodSeconds", CheckUnsigned},
    Check{"readiness.status.sidecar.istio.io/failureThreshold", CheckUnsigned},
    Check{"traffic.sidecar.istio.io/includeOutboundIPRanges", CheckIncludedRanges},
    Check{"traffic.sidecar.istio.io/excludeOutboundIPRanges", CheckExcludedRanges},
    Check{"traffic.sidecar.istio.io/includeInboundPorts", CheckIncludedInboundPorts},
    Check{"traffic.sidecar.istio.io/excludeInboundPorts", CheckExcludedInboundPorts},
    Check{"traffic.sidecar.istio.io/excludeOutboundPorts", CheckExcludedOutboundPorts},
    Check{"traffic.sidecar.istio.io/excludeInterfaces", CheckInterfaces},
    Check{"traffic.sidecar.istio.io/kubevirtInterfaces", CheckInterfaces},
    Check{"istio.io/reroute-virtual-interfaces", CheckInterfaces},
    Check{kMergeMetrics, CheckGoBool},
    Check{kProxyConfig, CheckProxyConfig},
    Check{"sidecar.istio.io/proxyCPU", CheckQuantity},
    Check{"sidecar.istio.io/proxyMemory", CheckQuantity},
    Check{"sidecar.istio.io/proxyCPULimit", CheckQuantity},
    Check{"sidecar.istio.io/proxyMemoryLimit", CheckQuantity},
};

}  // namespace

absl::Status CheckAnnotations(const nlohmann::json& annotations) {
  std::vector<std::string> errors;
  for (const auto& [name, value] : annotations.items()) {
    const auto row = std::find_if(kChecks.begin(), kChecks.end(),
                                  [&](const Check& check) { return check.annotation == name; });
    const auto* text = value.get_ptr<const std::string*>();
    if (row == kChecks.end() || text == nullptr) continue;
    if (const absl::Status status = row->check(*text); !status.ok())
      errors.push_back(
          StrCat("invalid value '", *text, "' for annotation '", name, "': ", MessageOf(status)));
  }
  return errors.empty() ? absl::OkStatus() : Wrong(GoErrorList(errors));
}

}  // namespace fairlead::injection
