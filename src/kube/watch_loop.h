#ifndef FAIRLEAD_KUBE_WATCH_LOOP_H_
#define FAIRLEAD_KUBE_WATCH_LOOP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/read/json_reader.h"
#include "fetch/client.h"
#include "kube/credentials.h"
#include "kube/list_watch.h"

namespace fairlead::kube {

// Runs ListWatches of one server over an HTTP client: takes their requests out, feeds them what comes and the
// time. All of it on the thread that calls Run, but for Stop and Wake, which any thread may call.
class WatchLoop {
 public:
  using Id = uint64_t;
  struct Options {
    // Of all answers that wait to be read. A list that comes at once is held up at a quarter of it, all
    // others, on whose connections there is more, at the whole; until an eighth is left.
    size_t most_waiting_bytes = 32 << 20;
    // Whether lists may come packed: that spares a long way to the server, and costs it time.
    bool compressed = false;
    uint64_t seed = 0;           // of the jitter
    ListWatch::Options watches;  // but for path, selector, fields and seed
  };

  // The client must outlive this.
  WatchLoop(Options options, ServerAccess access, fetch::Client* client);
  ~WatchLoop();  // no callback of the client's comes after it
  WatchLoop(const WatchLoop&) = delete;
  WatchLoop& operator=(const WatchLoop&) = delete;

  // The receiver must outlive the watch. It may add and remove watches, its own included.
  Id Add(std::string path, const config::JsonFields* fields, ListWatch::Receiver* receiver,
         std::string selector = "");
  void Remove(Id id);
  // Null where there is none.
  const ListWatch* Find(Id id) const;
  void Hurry(Id id);

  // Feeds what came and sends what is due, then waits for more, until `until` at the latest; false once it is
  // stopped.
  bool Run(ListWatch::Time until);
  // A GET whose answer is a JSON document; blocks, at most for half a minute. NotFound, PermissionDenied and
  // Unauthenticated as the server says; Cancelled where it is stopped.
  absl::StatusOr<config::Tree> Get(const std::string& target, const std::string& accept = "");
  void Stop();
  // Run returns soon, as if something had come. Thread-safe.
  void Wake();

  const ServerAccess& access() const { return credentials_.access(); }

 private:
  class Mailbox;
  class Exchange;
  struct Watch;

  void Deliver(ListWatch::Time until);
  void Send();
  void Begin(Watch& watch, const ListWatch::Target& target, ListWatch::Time now);
  void End(Watch& watch);
  void TakeStatus(Watch& watch, int http_status, ListWatch::Time now);
  ListWatch::Time NextTick() const;
  bool MustWait(const Watch& watch, ListWatch::Time now) const;
  void Prepare(Watch& watch, ListWatch::Time now);
  void Learn(const Watch& watch);

  const Options options_;
  ClientCredentials credentials_;
  fetch::Client* const client_;
  const std::shared_ptr<Mailbox> mailbox_;
  config::JsonReader reader_;
  std::map<Id, std::unique_ptr<Watch>> watches_;
  std::vector<std::unique_ptr<Watch>> removed_;  // while what they were fed returns
  Id last_id_ = 0;
  // Whether the server has streaming lists: one watch asks first, and the others wait for what it learns.
  enum class Streaming : uint8_t { kUnknown, kThere, kMissing };
  Streaming streaming_ = Streaming::kUnknown;
  Id asking_ = 0;                  // the watch that asks
  ListWatch::Time asking_ends_{};  // for so long the others wait; zero: nobody has asked
  std::atomic<bool> stopping_{false};
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_WATCH_LOOP_H_
