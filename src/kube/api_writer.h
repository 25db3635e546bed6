#ifndef FAIRLEAD_KUBE_API_WRITER_H_
#define FAIRLEAD_KUBE_API_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "absl/status/status.h"
#include "base/clock.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"
#include "kube/access.h"
#include "kube/api_request.h"
#include "kube/credentials.h"

namespace fairlead::kube {

// Sends requests about single objects to an API server, on a thread of its own, which is the one that runs
// what they end with and what else it is asked to run. So whoever does all on that thread needs no lock.
//
// A server that is busy (429, 5xx) or does not answer is asked again, after what it said or a while that
// doubles, with jitter; meanwhile nothing else that is not urgent goes out where the server said 429. Not
// more than Options::per_second requests go out that are not urgent.
class ApiWriter {
 public:
  using Done = std::function<void(const ApiAnswer&)>;
  using Work = std::function<void()>;

  struct Options {
    size_t most_waiting = 20'000;  // requests; more are refused
    size_t most_at_once = 8;       // that run, urgent ones aside
    size_t most_body = 3 << 20;    // bytes of a request; the API server takes no more
    size_t most_answer = 8 << 20;  // bytes
    double per_second = 80;        // in the long run; 0: no limit
    double burst = 160;            // at once after a quiet time
    std::chrono::milliseconds first_backoff{200}, most_backoff{10'000};
    std::chrono::milliseconds most_retry_after{60'000};  // a server that wants more is asked after that
    uint64_t seed = 0;                                   // of the jitter
  };

  // Something else that answers as an API server does. `done` is called once, on any thread, not before this
  // returns; or never, where whoever answers was stopped.
  using Transport = std::function<void(ApiRequest request, std::function<void(fetch::WholeAnswer)> done)>;

  // Starts the thread. The client must outlive this.
  ApiWriter(Options options, ServerAccess access, fetch::Client* client);
  // The same for something else. What `transport` uses must be stopped before this goes, or outlive it.
  ApiWriter(Options options, Transport transport);
  ~ApiWriter();  // as Stop()
  ApiWriter(const ApiWriter&) = delete;
  ApiWriter& operator=(const ApiWriter&) = delete;

  // `done` is called once, on the writer's thread; where the writer has stopped, here and now. Thread-safe.
  void Send(ApiRequest request, Done done);
  // The same, but blocks; not on the writer's thread.
  ApiAnswer SendAndWait(ApiRequest request);
  // Runs something on the writer's thread, not before `at`. What was not run when the writer stops is not.
  // Thread-safe.
  void Run(Work work, Clock::time_point at = {});
  // Ends what runs, and what waits, with Cancelled. Nothing runs on the thread afterwards. Not on the
  // writer's thread. Thread-safe, but for two calls at a time.
  void Stop();

 private:
  struct Errand {
    ApiRequest request;
    Done done;
    absl::Status refusal = {};  // not OK: it is not even sent
    int tried = 0;
  };
  class Mailbox;

  void Loop();
  void TakeNew();
  void SendDue();
  void Start(Errand errand);
  void Pass(Errand errand);
  void TakeAnswer(uint64_t number, fetch::WholeAnswer answer);
  bool Again(Errand* errand, const ApiAnswer& answer, const fetch::Outcome& outcome);
  void Finish(Errand errand, const ApiAnswer& answer);
  bool RunDue();
  bool TakeToken(Clock::time_point now);
  Clock::time_point NextTime() const;
  std::chrono::milliseconds Backoff(int tried);
  void CancelAll();

  const Options options_;
  fetch::Client* const client_;  // null: transport_ is there
  const Transport transport_;
  const std::shared_ptr<Mailbox> mailbox_;
  // From here on of the thread alone.
  struct Running {
    Errand errand;
    fetch::Client::Handle handle = 0;
  };
  ClientCredentials credentials_;
  std::mt19937_64 random_;
  std::deque<Errand> urgent_, patient_;
  std::multimap<Clock::time_point, Errand> later_;  // that are tried again then
  std::multimap<Clock::time_point, Work> works_;
  std::map<uint64_t, Running> running_;
  uint64_t last_number_ = 0;
  size_t patient_running_ = 0;
  double tokens_;
  Clock::time_point counted_ = Clock::now();  // tokens_ are of then
  Clock::time_point quiet_until_{};           // the server asked for that
  std::thread thread_;
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_API_WRITER_H_
