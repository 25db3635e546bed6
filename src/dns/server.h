#ifndef FAIRLEAD_DNS_SERVER_H_
#define FAIRLEAD_DNS_SERVER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "dns/name_table.h"
#include "dns/socket_address.h"

namespace fairlead::dns {

struct DnsServerOptions {
  std::vector<SocketAddress> listen;  // UDP and TCP at each
  std::vector<SocketAddress> resolvers;
  bool parallel = false;                     // all resolvers are asked at once
  std::chrono::milliseconds timeout{5'000};  // of one resolver
  bool forwards_before_table = false;        // otherwise queries fail until a table comes
  size_t most_sockets = 2'048;               // to resolvers
  size_t most_connections = 256;             // of TCP clients
  std::chrono::milliseconds idle{8'000};     // of a connection without queries
};

// Answers DNS over UDP and TCP: from the name table, and by resolvers. It has a thread of its own. A new
// table takes the place of the old one between two queries, so none is lost. Thread-safe. Source:
// pilot-agent.
class DnsServer {
 public:
  explicit DnsServer(DnsServerOptions options);
  ~DnsServer();  // as Stop()
  // Unavailable names the address that is taken.
  absl::Status Start();
  void Stop();
  void SetTable(std::shared_ptr<const NameTable> table);
  std::shared_ptr<const NameTable> table() const;  // null: none has come
  // Where it listens, once started: the system chooses a port for 0.
  std::vector<SocketAddress> listens_at() const;
  // Processor time of its thread.
  std::chrono::nanoseconds cpu_time() const;

 private:
  class Worker;
  const std::unique_ptr<Worker> worker_;
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_SERVER_H_
