#ifndef FAIRLEAD_AGENT_BOOTSTRAP_WORKLOAD_ADDRESSES_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_WORKLOAD_ADDRESSES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::agent {

// The workload's addresses: INSTANCE_IP, then those of the interfaces that are up, in the interfaces' order,
// without loopback and links; 127.0.0.1 and ::1 where there are none. An INSTANCE_IP of several addresses,
// with commas, has all of them. `excluded`: names of interfaces, with commas. Source: pilot-agent's
// initProxy.
std::vector<std::string> WorkloadAddresses(std::string_view instance_ip, std::string_view excluded);

// Where the proxy listens and connects, by the families of the workload's addresses.
struct Reach {
  std::string localhost = "127.0.0.1", wildcard = "0.0.0.0";
  std::string lookup_family = "V4_ONLY";
  // Of the other family, besides; "": none.
  std::string other_localhost, other_wildcard;
};
// `dual_stack`: both families where there are addresses of both.
Reach ReachOf(const std::vector<std::string>& addresses, bool dual_stack);

// Whether none of them is of IPv4.
bool AllIpv6(const std::vector<std::string>& addresses);

// Host and port of "host:port", "[v6]:port" or "host", the last with the plaintext xDS port.
std::pair<std::string, int> SplitAddress(const std::string& text, int default_port = 15010);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_WORKLOAD_ADDRESSES_H_
