#ifndef FAIRLEAD_CONFIG_CHECK_NAMES_H_
#define FAIRLEAD_CONFIG_CHECK_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "config/host_name.h"
#include "config/protocol.h"

namespace google::protobuf {
class Duration;
}

// Names and addresses as Istio checks them. The Why… functions say what is wrong with a text, "" where
// nothing is.
namespace fairlead::config::check {

// Letters of both cases, digits and inner "-", at most 63.
bool IsDns1123Label(std::string_view text);
// Such a label that may begin with "*" or "*-", or be "*".
bool IsWildcardDns1123Label(std::string_view text);
// What Kubernetes' objects may be called: lower-case labels with dots between, at most 253 bytes.
bool IsDns1123Subdomain(std::string_view text);

// A domain name that is fully qualified or short; the last label may be empty.
std::string DomainProblem(std::string_view text);
// The same, whose first label may be or begin with "*".
std::string WildcardDomainProblem(std::string_view text);
// A host of a virtual service behind a gateway: of TLS routes also "outbound_.80_._.host".
std::string GatewayDomainProblem(bool sni, std::string_view text);
// "namespace/host" of a Sidecar's egress or a Gateway's server.
std::string NamespacedHostProblem(std::string_view text, bool gateway, bool gateway_api);
std::string WhyPartialWildcard(std::string_view host);
std::string TrustDomainProblem(std::string_view text);

std::string PortProblem(int64_t number);
std::string PortNameProblem(std::string_view name);
std::string ProtocolProblem(std::string_view name);  // "" is one: it is found out
std::string IpAddressProblem(std::string_view text);
std::string IpRangeProblem(std::string_view text);     // an address or CIDR notation
std::string SocketPathProblem(std::string_view path);  // what is behind "unix://"
std::string HostAndPortProblem(std::string_view text);
// Cuts "host:port" as Go's net.SplitHostPort does.
bool SplitHostPort(std::string_view text, std::string_view* host, std::string_view* port);
// An optional sign and digits, as Go's strconv.Atoi reads them.
bool ParseGoInteger(std::string_view text, int64_t* number);

// Kubernetes' rules for a label.
std::string LabelProblem(std::string_view key, std::string_view value);
std::string SubsetNameProblem(std::string_view name);

// At least a millisecond, whole ones only.
std::string DurationProblem(const google::protobuf::Duration& duration);
int64_t Nanoseconds(const google::protobuf::Duration& duration);

// A regular expression for Envoy.
std::string RegexProblem(const std::string& pattern);

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_NAMES_H_
