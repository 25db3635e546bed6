#ifndef FAIRLEAD_DNS_TCP_CLIENTS_H_
#define FAIRLEAD_DNS_TCP_CLIENTS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "dns/poller.h"
#include "dns/socket_address.h"

namespace fairlead::dns {

// The connections of TCP clients. A connection carries queries one after another and gets the answers in any
// order. Their number, time without queries, waiting queries and unread bytes are bounded. Beyond the number
// the connection that has been silent for longest ends. One thread. Source: RFC 7766.
class TcpClients {
 public:
  struct Options {
    size_t most = 256;
    std::chrono::milliseconds idle{8'000};
  };
  // The answer to a message, in `answer`; false: none, or later by Send with the connection's number.
  using Handle =
      std::function<bool(std::string_view message, uint64_t connection, uint16_t port, std::string* answer)>;

  TcpClients(Options options, Poller* poller, Handle handle);
  ~TcpClients();
  // Unavailable where it cannot listen.
  absl::Status Listen(const SocketAddress& address);
  // Nothing happens where the connection is gone.
  void Send(uint64_t connection, std::string_view answer);
  void Expire(Clock::time_point now);
  Clock::time_point next() const;

 private:
  class Listener;
  class Client;

  void Accept(http2::File socket);
  bool MakeRoom();
  void Bury(Client* client);
  void Touch(Client* client);
  void Pause(bool paused);

  const Options options_;
  Poller* const poller_;
  const Handle handle_;
  std::list<std::unique_ptr<Listener>> listeners_;
  std::list<std::unique_ptr<Client>> clients_;  // the longest silent one first
  absl::flat_hash_map<uint64_t, Client*> by_number_;
  uint64_t last_number_ = 0;
  Clock::time_point paused_until_{};  // nothing is accepted: the process has no file left
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_TCP_CLIENTS_H_
