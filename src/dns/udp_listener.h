#ifndef FAIRLEAD_DNS_UDP_LISTENER_H_
#define FAIRLEAD_DNS_UDP_LISTENER_H_

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dns/poller.h"
#include "dns/reply_path.h"
#include "dns/socket_address.h"

namespace fairlead::dns {

// A socket of UDP clients. Messages are read and answers are written many at a time. Answers that the system
// does not take yet wait, up to a bound. One thread.
class UdpListener final : public Watcher {
 public:
  // The answer to a message, in `answer`; false: none, or later by Send. `peer` is its sender.
  using Handle = std::function<bool(std::string_view message, const UdpPeer& peer, std::string* answer)>;
  // Called for each batch of messages with their number, before its answers leave.
  using OnBatch = std::function<void(size_t messages)>;

  // Unavailable where it cannot listen.
  static absl::StatusOr<std::unique_ptr<UdpListener>> Open(const SocketAddress& address, Poller* poller,
                                                           Handle handle, OnBatch on_batch);
  ~UdpListener() override;
  void Send(const UdpPeer& peer, std::string answer);
  SocketAddress address() const;
  void OnReady(uint32_t events) override;

 private:
  struct Batch;
  struct Waiting {
    UdpPeer peer;
    std::string answer;
  };

  UdpListener(http2::File socket, Poller* poller, Handle handle, OnBatch on_batch);
  // Messages that were there.
  size_t ReadBatch();
  void SendBatch(size_t count);
  void SendWaiting();
  void Keep(const UdpPeer& peer, std::string_view answer);

  const http2::File socket_;
  Poller* const poller_;
  const Handle handle_;
  const OnBatch on_batch_;
  const std::unique_ptr<Batch> batch_;
  std::deque<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_UDP_LISTENER_H_
