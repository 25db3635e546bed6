#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "injection/annotation_checks.h"
#include "injection/go_text.h"
#include "injection/proxy_config.h"

namespace fairlead::injection {
namespace {

using Errors = std::vector<std::string>;

std::string WhyNoPort(int64_t port) {
  return port >= 1 && port <= 65535 ? "" : StrCat("port number ", port, " must be in the range 1..65535");
}

std::string WhyNoProxyAddress(std::string_view address) {
  std::string_view host, port;
  if (!config::check::SplitHostPort(address, &host, &port)) {
    const std::string_view why = address.find(':') == std::string_view::npos ? "missing port in address"
                                                                             : "too many colons in address";
    return StrCat("unable to split ", GoQuote(address), ": address ", address, ": ", why);
  }
  const auto number = ParseGoInt(port);
  if (!number)
    return StrCat("port (", port, ") is not a number: strconv.Atoi: parsing ", GoQuote(port),
                  ": invalid syntax");
  if (std::string why = WhyNoPort(*number); !why.empty()) return why;
  if (config::check::DomainProblem(host).empty() || IsIpAddress(host)) return "";
  return StrCat(GoQuote(host), " is not a valid hostname or an IP address");
}

// Of an agent on the node, whose address Kubernetes puts in.
std::string WhyNoCollector(const std::string& address) {
  constexpr std::string_view kNode = "$(HOST_IP)";
  const size_t at = address.find(kNode);
  if (at == std::string::npos) return WhyNoProxyAddress(address);
  return WhyNoProxyAddress(StrCat(address.substr(0, at), "127.0.0.1", address.substr(at + kNode.size())));
}

void Add(std::string_view prefix, const std::string& why, Errors* errors) {
  if (!why.empty()) errors->push_back(StrCat(prefix, " ", why));
}

void CheckDrain(const ProxyConfig& proxy, Errors* errors) {
  const int64_t nanoseconds = config::check::Nanoseconds(proxy.drain_duration());
  constexpr int64_t kMillisecond = 1'000'000;
  if (nanoseconds < kMillisecond) {
    errors->emplace_back("invalid drain duration: duration must be greater than 1ms");
  } else if (nanoseconds % kMillisecond != 0) {
    errors->emplace_back("invalid drain duration: only durations to ms precision are supported");
  } else if (nanoseconds % (1000 * kMillisecond) != 0) {
    errors->emplace_back("drain time only supports durations to seconds precision");
  }
}

void CheckTracing(const ProxyConfig& proxy, Errors* errors) {
  const auto& tracing = proxy.tracing();
  if (tracing.has_zipkin()) Add("invalid zipkin config:", WhyNoCollector(tracing.zipkin().address()), errors);
  if (tracing.has_datadog())
    Add("invalid datadog config:", WhyNoCollector(tracing.datadog().address()), errors);
  using Tls = istio::networking::v1alpha3::ClientTLSSettings;
  if (!tracing.has_tls_settings() || tracing.tls_settings().mode() != Tls::MUTUAL) return;
  if (tracing.tls_settings().client_certificate().empty())
    errors->emplace_back("invalid tracing TLS config: client certificate required for mutual tls");
  if (tracing.tls_settings().private_key().empty())
    errors->emplace_back("invalid tracing TLS config: private key required for mutual tls");
}

void CheckServices(const ProxyConfig& proxy, Errors* errors) {
  if (!proxy.statsd_udp_address().empty())
    Add(StrCat("invalid statsd udp address ", GoQuote(proxy.statsd_udp_address()), ":"),
        WhyNoProxyAddress(proxy.statsd_udp_address()), errors);
  const std::string& metrics = proxy.envoy_metrics_service().address();
  if (!metrics.empty())
    Add(StrCat("invalid envoy metrics service address ", GoQuote(metrics), ":"), WhyNoProxyAddress(metrics),
        errors);
  const std::string& logs = proxy.envoy_access_log_service().address();
  if (!logs.empty())
    Add(StrCat("invalid envoy access log service address ", GoQuote(logs), ":"), WhyNoProxyAddress(logs),
        errors);
}

void CheckKeyProvider(const ProxyConfig& proxy, Errors* errors) {
  if (!proxy.has_private_key_provider()) return;
  constexpr std::string_view kPrefix = "invalid private key provider configuration:";
  const auto& provider = proxy.private_key_provider();
  if (!provider.has_cryptomb() && !provider.has_qat()) {
    errors->push_back(StrCat(kPrefix, " private key provider configuration is required"));
    errors->push_back(StrCat(kPrefix, " unknown private key provider"));
    return;
  }
  const bool given =
      provider.has_cryptomb() ? provider.cryptomb().has_poll_delay() : provider.qat().has_poll_delay();
  const auto& delay =
      provider.has_cryptomb() ? provider.cryptomb().poll_delay() : provider.qat().poll_delay();
  if (!given) {
    errors->push_back(StrCat(kPrefix, " pollDelay is required"));
  } else if (delay.seconds() == 0 && delay.nanos() == 0) {
    errors->push_back(StrCat(kPrefix, " pollDelay must be non zero"));
  }
}

}  // namespace

std::vector<std::string> ProxyConfigMistakes(const ProxyConfig& proxy) {
  Errors errors;
  if (proxy.config_path().empty()) errors.emplace_back("config path must be set");
  if (proxy.binary_path().empty()) errors.emplace_back("binary path must be set");
  if (proxy.cluster_name_case() == ProxyConfig::kServiceCluster && proxy.service_cluster().empty())
    errors.emplace_back("service cluster must be specified");
  if (proxy.cluster_name_case() == ProxyConfig::CLUSTER_NAME_NOT_SET)
    errors.emplace_back("oneof service cluster or tracing service name must be specified");
  CheckDrain(proxy, &errors);
  if (proxy.discovery_address().empty()) {
    errors.emplace_back("discovery address must be set to the proxy discovery service");
  } else {
    Add("invalid discovery address:", WhyNoProxyAddress(proxy.discovery_address()), &errors);
  }
  CheckTracing(proxy, &errors);
  CheckServices(proxy, &errors);
  Add("invalid proxy admin port:", WhyNoPort(proxy.proxy_admin_port()), &errors);
  Add("invalid status port:", WhyNoPort(proxy.status_port()), &errors);
  CheckKeyProvider(proxy, &errors);
  return errors;
}

}  // namespace fairlead::injection
