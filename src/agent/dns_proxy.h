#ifndef FAIRLEAD_AGENT_DNS_PROXY_H_
#define FAIRLEAD_AGENT_DNS_PROXY_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/options.h"
#include "agent/relay_tap.h"
#include "dns/resolver_file.h"
#include "dns/server.h"
#include "server/http_server.h"

namespace fairlead::agent {

// Where the DNS proxy listens and which file names its resolvers. Source: pilot-agent.
struct DnsPlace {
  std::string address;  // HOST:PORT
  std::string resolver_file = "/etc/resolv.conf";
  bool forwards_before_table = false;
  std::string remark;  // what is not done as asked
};
// DNS_PROXY_ADDR, looked at: at port 53 root alone can listen, needs no redirection and has names before the
// control plane answers. `own_file`: whether /var/lib/istio/resolv.conf exists. Pure.
DnsPlace PlaceOfDns(const std::string& address, bool is_root, bool own_file);

// The addresses of "localhost:15053", "127.0.0.1:15053", "[::1]:53" or ":53". localhost has the families of
// the resolvers. InvalidArgument names DNS_PROXY_ADDR. Pure.
absl::StatusOr<std::vector<dns::SocketAddress>> DnsAddresses(const std::string& address,
                                                             const dns::ResolverFile& resolvers);

// Takes out resolvers that are the proxy itself. Pure. `own`: the machine's addresses.
std::vector<dns::SocketAddress> ForeignResolvers(const std::vector<dns::SocketAddress>& resolvers,
                                                 const std::vector<dns::SocketAddress>& listen,
                                                 const std::vector<std::string>& own);

// The agent's DNS proxy (src/dns): its table comes over the relay. Thread-safe.
class DnsProxy {
 public:
  // `relayed`: whether a table can come at all; without one all names are forwarded.
  static absl::StatusOr<std::unique_ptr<DnsProxy>> Start(const Options& options, bool relayed);
  // The proxy must outlive the relay.
  RelayTap Tap();
  // Unavailable until the first table has come.
  absl::Status Check() const;
  // /debug/ndsz: the table with all forms of its names.
  void AddTo(server::HttpServer* server) const;

 private:
  DnsProxy(dns::DnsServerOptions server, dns::SearchPath workload, bool needs_table);
  absl::Status Take(std::string message);

  const dns::SearchPath workload_;
  const bool needs_table_;
  dns::DnsServer server_;
  std::mutex mutex_;
  std::string last_remark_;  // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_DNS_PROXY_H_
