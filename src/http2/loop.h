#ifndef FAIRLEAD_HTTP2_LOOP_H_
#define FAIRLEAD_HTTP2_LOOP_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http2/connection.h"
#include "http2/counts.h"
#include "http2/guests.h"
#include "http2/mailbox.h"
#include "http2/read_budget.h"
#include "http2/server.h"
#include "http2/socket.h"
#include "http2/transport_metrics.h"

namespace fairlead::http2 {

// What the loops of a server share.
struct ServerShared {
  explicit ServerShared(ServerOptions options);
  const ServedMethods service;
  Guests guests;
  std::vector<std::unique_ptr<ListenerMetrics>> metrics;  // of each listener
  std::atomic<size_t> connections{0};
  std::mutex mutex;
  std::condition_variable gone;  // a connection is

  void NoteGone();
};

// A thread with an epoll: connections' sockets, timers, and the mailbox by which other threads reach its
// streams. Each turn handles what has happened, then lets each connection concerned read and write a bounded
// amount. Start, Stop, Adopt, SendAway and Ask are thread-safe, the rest is for its own thread.
class Loop {
 public:
  explicit Loop(ServerShared* shared);
  ~Loop();
  absl::Status Start();
  void Stop();  // ends all connections at once; joins
  // Accepts connections of a socket and hands them to `place`.
  using Place = std::function<void(File socket, std::string peer, std::string_view address)>;
  void Listen(int socket, Place place);
  void StopListening();
  void Adopt(File socket, Connection::Origin origin);
  void Drain(Clock::time_point end);
  // Ends a connection whose place somebody else takes, if it is still there.
  void SendAway(uint64_t guest);
  void Ask(std::function<void()> task) { mailbox_->PostTask(std::move(task)); }
  size_t load() const { return load_.load(std::memory_order_relaxed); }
  std::vector<ConnectionInfo> Infos() const;  // REQUIRES: in a task of the loop

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }
  Buffers& buffers() { return buffers_; }
  ReadBudget& read_budget() { return read_budget_; }
  void Enqueue(Connection* connection);  // for a turn

 private:
  struct Acceptor {
    int socket;
    Place place;
  };
  void Run();
  void Wait(Clock::time_point next);
  void TakeMail();
  void TakeTimers();
  void Turns();
  void Accept(const Acceptor& acceptor);
  void PauseAccepting(bool pause);
  void Add(File socket, Connection::Origin origin);
  void Settle(Connection* connection, bool more);
  void Remove(Connection* connection);
  void Arm(Connection* connection, Clock::time_point time);
  void NoteYouth(Connection* connection);
  void NoteStanding(Connection* connection);
  void TellMetrics();

  ServerShared* const shared_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  const File epoll_;
  std::atomic<size_t> load_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;

  Buffers buffers_;
  ReadBudget read_budget_;
  Mailbox::Mail mail_;
  Clock::time_point now_ = Clock::now();
  std::list<Acceptor> acceptors_;
  Clock::time_point accept_again_ = Clock::time_point::max();  // after the files had run out
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::unordered_map<uint64_t, Connection*> guests_;  // the same by their numbers
  std::set<std::pair<Clock::time_point, Connection*>> timers_;
  std::vector<Connection*> queue_, turn_;
  std::list<Connection*> handshaking_;  // not yet established, the oldest first
  std::vector<Counts> counts_;          // of each listener
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_LOOP_H_
