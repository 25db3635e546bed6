#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_QUERY_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_QUERY_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "fetch/whole_answer.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// One thing that Consul is asked for again and again by blocking queries: the first answer comes at once,
// each later one when the thing differs or the wait is over. Does no I/O. One thread at a time. Source:
// developer.hashicorp.com/consul/api-docs/features/blocking
class ConsulQuery {
 public:
  using Milliseconds = std::chrono::milliseconds;
  enum class Verdict : uint8_t { kNews, kSame, kNotFound, kBehind, kFailed };

  // `path`: with its parameters but consistency, index and wait, and a "?". `consistency`: "stale", "default"
  // or "consistent".
  ConsulQuery(std::string path, std::string consistency, RetryPause backoff)
      : path_(std::move(path)), consistency_(std::move(consistency)), backoff_(std::move(backoff)) {}

  const std::string& path() const { return path_; }
  std::string Target(Milliseconds wait) const;
  // Whether the next answer may take as long as the wait.
  bool blocks() const { return index_ > 0; }

  // What an answer means. kNotFound is an answer, and news. kBehind: the server is behind what was known, or
  // began anew; the answer does not count, and the next question is for the leader. After kFailed trouble()
  // says why, and Pause() how long to leave the server alone.
  Verdict TakeAnswer(const fetch::WholeAnswer& answer);
  // The answer could be read, or says the same.
  void Accept();
  // It cannot be read: it is asked for again in whole.
  void Reject(std::string why);

  bool answered() const { return answered_; }
  const std::string& trouble() const { return trouble_; }  // "" for none
  size_t failures() const { return backoff_.failures(); }
  Milliseconds Pause() { return pause_; }
  int http_status() const { return http_status_; }  // of the last answer; 0: there was none
  Milliseconds lag() const { return lag_; }         // of the last answer: since its server heard the leader

 private:
  Verdict Fail(std::string why, Milliseconds at_least = Milliseconds(0));

  const std::string path_, consistency_;
  RetryPause backoff_;
  uint64_t index_ = 0;     // the next answer may wait for a later one; 0: it is whole, and comes at once
  uint64_t known_ = 0;     // of the last answer that counted
  bool doubtful_ = false;  // a server said that it has an earlier index than known
  bool answered_ = false;
  int http_status_ = 0;
  std::string trouble_;
  Milliseconds pause_{0}, lag_{0};
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_QUERY_H_
