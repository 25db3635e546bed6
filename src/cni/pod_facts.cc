#include "cni/pod_facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

constexpr std::string_view kProxy = "istio-proxy", kInit = "istio-init";
constexpr std::string_view kInject = "sidecar.istio.io/inject";

PodFacts::Texts TextsOf(config::Node mapping) {
  PodFacts::Texts texts;
  for (const config::Node::Entry& entry : mapping.entries())
    texts.emplace(std::string(entry.key), std::string(entry.value.text()));
  return texts;
}

std::optional<PodFacts::InitContainer::End> EndOf(config::Node state) {
  const config::Node ended = state.Find("terminated");
  if (!ended.IsMapping()) return std::nullopt;
  return PodFacts::InitContainer::End{ended.Find("exitCode").Int().value_or(0),
                                      std::string(ended.Find("reason").String()),
                                      std::string(ended.Find("message").String())};
}

void ReadContainer(config::Node container, PodFacts* facts) {
  const std::string_view name = container.Find("name").String();
  facts->containers.emplace(name);
  if (name != kProxy) return;
  for (const config::Node variable : container.Find("env").elements())
    facts->proxy_environment[std::string(variable.Find("name").String())] = variable.Find("value").String();
  const config::Node arguments = container.Find("args");
  if (arguments.size() >= 2 && arguments.At(0).String() == "proxy")
    facts->proxy_type = arguments.At(1).String();
  const config::Node security = container.Find("securityContext");
  facts->proxy_user = security.Find("runAsUser").Int().value_or(0);
  facts->proxy_group = security.Find("runAsGroup").Int().value_or(0);
}

// Whether a variable of the proxy is on; off where it is neither.
bool IsOn(const PodFacts& pod, std::string_view variable) {
  const auto found = pod.proxy_environment.find(variable);
  return found != pod.proxy_environment.end() && ParseGoBool(found->second).value_or(false);
}

std::string WhyNot(const PodFacts& pod) {
  if (pod.containers.count(kInit) != 0) return StrCat("its container ", kInit, " does it");
  if (IsOn(pod, "DISABLE_ENVOY")) return "it has DISABLE_ENVOY";
  if (pod.containers.count(kProxy) == 0) return StrCat("it has no container ", kProxy);
  if (!pod.proxy_type.empty() && pod.proxy_type != "sidecar")
    return StrCat("its proxy is a ", pod.proxy_type);
  const auto label = pod.labels.find(kInject), annotation = pod.annotations.find(kInject);
  const std::string_view inject = label != pod.labels.end()             ? std::string_view(label->second)
                                  : annotation != pod.annotations.end() ? std::string_view(annotation->second)
                                                                        : "";
  if (ParseGoBool(inject) == false) return StrCat(kInject, " is ", inject);
  if (pod.annotations.count("sidecar.istio.io/status") == 0)
    return "it has no annotation sidecar.istio.io/status";
  return "";
}

// What values an annotation may have; "": fine.
using CheckValue = std::string (*)(std::string_view value);

std::string CheckMode(std::string_view value) {
  return value == "REDIRECT" || value == "TPROXY" ? "" : "is neither REDIRECT nor TPROXY";
}

std::string CheckPorts(std::string_view value) {
  if (Trim(value).empty() || value == "*") return "";
  for (std::string_view entry : Split(Trim(value), ',')) {
    entry = Trim(entry);
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), port);
    if (error != std::errc() || end != entry.data() + entry.size())
      return StrCat("has no port \"", entry, "\"");
  }
  return "";
}

std::string CheckRanges(std::string_view value) {
  if (value.empty() || value == "*") return "";
  for (std::string_view entry : Split(value, ',')) {
    if (!IpPrefix::Parse(entry)) return StrCat("has no range \"", entry, "\"");
  }
  return "";
}

std::string CheckSomeRanges(std::string_view value) {
  return value == "*" ? "is no range" : CheckRanges(value);
}

std::string CheckInterfaces(std::string_view value) {
  constexpr size_t kLongest = 15;
  for (const std::string& name : redirect::Entries(value)) {
    if (name.size() > kLongest) return StrCat("has no interface \"", name, "\"");
  }
  return "";
}

struct AnnotationRow {
  std::string_view name;
  std::string redirect::RedirectOptions::*value;
  CheckValue check;
};

using O = redirect::RedirectOptions;
const AnnotationRow kAnnotations[] = {
    {"sidecar.istio.io/interceptionMode", &O::mode, CheckMode},
    {"traffic.sidecar.istio.io/includeOutboundIPRanges", &O::ranges, CheckRanges},
    {"traffic.sidecar.istio.io/excludeOutboundIPRanges", &O::excluded_ranges, CheckSomeRanges},
    {"traffic.sidecar.istio.io/includeInboundPorts", &O::inbound_ports, CheckPorts},
    {"traffic.sidecar.istio.io/excludeInboundPorts", &O::excluded_inbound_ports, CheckPorts},
    {"traffic.sidecar.istio.io/includeOutboundPorts", &O::outbound_ports, CheckPorts},
    {"traffic.sidecar.istio.io/excludeOutboundPorts", &O::excluded_outbound_ports, CheckPorts},
    {"traffic.sidecar.istio.io/excludeInterfaces", &O::excluded_interfaces, CheckInterfaces},
    // The latter wins.
    {"traffic.sidecar.istio.io/kubevirtInterfaces", &O::virtual_interfaces, CheckInterfaces},
    {"istio.io/reroute-virtual-interfaces", &O::virtual_interfaces, CheckInterfaces},
};

// Ports of probes and metrics besides: these connections are not the proxy's to take.
void SkipOwnPorts(std::string* ports) {
  std::vector<std::string> all = redirect::Entries(*ports);
  for (const char* port : {"15020", "15021", "15090"}) all.emplace_back(port);
  std::vector<std::string> once;
  for (std::string& port : all) {
    if (std::find(once.begin(), once.end(), port) == once.end()) once.push_back(std::move(port));
  }
  *ports = Join(once, ",");
}

}  // namespace

PodFacts ReadPodFacts(config::Node pod) {
  PodFacts facts;
  const config::Node metadata = pod.Find("metadata"), spec = pod.Find("spec"), status = pod.Find("status");
  facts.name = metadata.Find("name").String();
  facts.ns = metadata.Find("namespace").String();
  facts.uid = metadata.Find("uid").String();
  facts.version = metadata.Find("resourceVersion").String();
  facts.address = status.Find("podIP").String();
  facts.labels = TextsOf(metadata.Find("labels"));
  facts.annotations = TextsOf(metadata.Find("annotations"));
  for (const config::Node container : spec.Find("initContainers").elements())
    ReadContainer(container, &facts);
  for (const config::Node container : spec.Find("containers").elements()) ReadContainer(container, &facts);
  for (const config::Node container : status.Find("initContainerStatuses").elements()) {
    facts.init_containers.push_back({std::string(container.Find("name").String()),
                                     EndOf(container.Find("state")), EndOf(container.Find("lastState"))});
  }
  return facts;
}

absl::StatusOr<PodVerdict> JudgePod(const PodFacts& pod) {
  PodVerdict verdict;
  verdict.why_not = WhyNot(pod);
  if (!verdict.why_not.empty()) return verdict;
  redirect::RedirectOptions& options = verdict.options;
  options.mode = "REDIRECT";
  options.ranges = options.inbound_ports = "*";
  options.excluded_inbound_ports = options.excluded_outbound_ports = "15020";
  for (const AnnotationRow& row : kAnnotations) {
    const auto found = pod.annotations.find(row.name);
    if (found == pod.annotations.end()) continue;
    if (const std::string wrong = row.check(found->second); !wrong.empty())
      return absl::InvalidArgumentError(
          StrCat("the Pod's annotation ", row.name, ": \"", found->second, "\" ", wrong));
    options.*row.value = found->second;
  }
  SkipOwnPorts(&options.excluded_inbound_ports);
  options.proxy_users = pod.proxy_user > 0 ? StrCat(pod.proxy_user) : "1337";
  options.proxy_groups = pod.proxy_group > 0 ? StrCat(pod.proxy_group) : "1337";
  options.redirect_dns = options.capture_all_dns = IsOn(pod, "ISTIO_META_DNS_CAPTURE");
  options.dual_stack = IsOn(pod, "ISTIO_DUAL_STACK");
  options.drop_invalid = IsOn(pod, "INVALID_DROP");
  return verdict;
}

}  // namespace fairlead::cni
