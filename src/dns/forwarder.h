#ifndef FAIRLEAD_DNS_FORWARDER_H_
#define FAIRLEAD_DNS_FORWARDER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/clock.h"
#include "base/log_rate.h"
#include "dns/poller.h"
#include "dns/reply_path.h"
#include "dns/socket_address.h"

namespace fairlead::dns {

// Asks the resolvers what the table does not know. A query goes on as it came, with another id, over the
// client's transport; an answer counts if id, question and server are right, whatever its code. Each query
// has a socket of its own, so that its port is hard to guess. Resolvers are asked one after another in random
// order, the next one after an error or a timeout, or all at once. One thread. Source: pilot-agent.
class Forwarder {
 public:
  struct Options {
    std::vector<SocketAddress> resolvers;
    bool parallel = false;
    std::chrono::milliseconds timeout{5'000};  // of one resolver
    size_t most_sockets = 2'048;               // beyond it queries fail
  };
  // Gets the answer with the client's own id, which is SERVFAIL where no resolver has answered.
  using Deliver = std::function<void(const ReplyPath& origin, std::string answer)>;

  Forwarder(Options options, Poller* poller, Deliver deliver);
  ~Forwarder();
  // `message` is the client's; it has an id and a question.
  void Ask(std::string_view message, size_t limit, const ReplyPath& origin);
  // Whether a query with this id from this port is one of the forwarder's own: it goes round in circles.
  bool IsOwn(uint16_t id, uint16_t port) const;
  // Ends what has taken too long.
  void Expire(Clock::time_point now);
  // When Expire has something to do; max() for never.
  Clock::time_point next() const;
  size_t sockets() const { return attempts_.size(); }

 private:
  struct Exchange;
  class Attempt;

  void Advance(const std::shared_ptr<Exchange>& exchange);
  void End(const std::shared_ptr<Exchange>& exchange, std::string answer);
  bool Start(const std::shared_ptr<Exchange>& exchange, const SocketAddress& resolver);
  void Bury(Attempt* attempt);
  // Of an attempt: how it ended.
  void OnReply(Attempt* attempt, std::string reply);
  void OnError(Attempt* attempt, const std::string& why);

  const Options options_;
  Poller* const poller_;
  const Deliver deliver_;
  LogRate rate_;
  std::list<std::unique_ptr<Attempt>> attempts_;  // by start, so also by deadline
  absl::flat_hash_set<uint32_t> own_;             // id and port of each attempt
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_FORWARDER_H_
