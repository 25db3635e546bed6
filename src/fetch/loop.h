#ifndef FAIRLEAD_FETCH_LOOP_H_
#define FAIRLEAD_FETCH_LOOP_H_

#include <curl/curl.h>
#include <sys/epoll.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fetch/client.h"
#include "fetch/one_at_a_time.h"
#include "fetch/reading_pace.h"
#include "fetch/transfer.h"

namespace fairlead::fetch {

// A client's thread: sockets by epoll, libcurl's timer and the time limits of requests. What other threads
// want of it waits in a list, and wakes it.
class Client::Loop {
 public:
  explicit Loop(const Options& options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Any thread: see Client.
  Handle Start(Request request, Transfer::Target target);
  void Cancel(Handle handle);
  void Pause(Handle handle);
  void Resume(Handle handle);
  uint64_t connections() const { return exchanges_.connections; }

 private:
  struct Wish {
    enum What { kCancel, kResume } what;
    Handle handle;
  };
  // What other threads left for this one.
  struct Left {
    std::vector<std::unique_ptr<Transfer>> started;
    std::vector<Wish> wishes;
    bool stopping = false;
  };

  // Connections that may be shared with one another, by libcurl. A request waits for a connection of its host
  // that might become a shared one; libcurl 7.88 lets it wait on where that is another's alone. So requests
  // with a connection of their own have a pool of their own.
  struct Pool {
    CURLM* multi = nullptr;
    int poll = -1;
    std::set<curl_socket_t> sockets = {};
    std::optional<Clock::time_point> timer = {};  // libcurl's
  };

  void Run();
  void Wait();
  int AwaitEvents(epoll_event* events, int most);
  void Gather();
  void SetUp(Pool& pool);
  Pool& PoolOf(const Transfer& transfer) { return transfer.own_connection() ? own_ : shared_; }
  int MillisecondsToWait() const;
  Left TakeLeft();
  void Begin(std::unique_ptr<Transfer> started);
  void Connect(Transfer& transfer);
  void TakeConnected();
  void LeaveTurn(Handle handle);
  void Remove(Transfer& transfer, bool whole);
  void Fulfil(const Wish& wish);
  void TakeEnded();
  void EndLate();
  void End(Transfer& transfer, absl::Status status);
  void Forget(Handle handle);
  void Arm(Transfer& transfer);
  void Disarm(Transfer& transfer);
  void Wake();
  void WakeFor(Wish wish);
  std::shared_ptr<Gate::Pass> PassOf(Handle handle);
  static int SetSocket(CURL*, curl_socket_t socket, int wanted, void* pool, void*);
  static int SetTimer(CURLM*, long milliseconds, void* pool);

  const Options options_;
  Exchanges exchanges_;
  const int poll_, wake_;  // descriptors of epoll and of an eventfd
  Pool shared_, own_;      // the thread's

  std::mutex mutex_;
  Handle last_ = 0;                                       // guarded by mutex_
  std::map<Handle, std::shared_ptr<Gate::Pass>> passes_;  // guarded by mutex_; of all that are not over
  Left left_;                                             // guarded by mutex_

  // The thread's.
  std::map<Handle, std::unique_ptr<Transfer>> transfers_;
  std::set<std::pair<Clock::time_point, Handle>> deadlines_;  // never later than Transfer::Deadline
  OneAtATime turns_;
  ReadingPace pace_;
  std::thread thread_;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_LOOP_H_
