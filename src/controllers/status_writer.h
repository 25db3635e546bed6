#ifndef FAIRLEAD_CONTROLLERS_STATUS_WRITER_H_
#define FAIRLEAD_CONTROLLERS_STATUS_WRITER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/kind.h"
#include "controllers/look_soon.h"
#include "controllers/status_patch.h"
#include "gateway_api/status/status_board.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Writes statuses into the API server, as long as this replica leads. Each write is one object's, and counts
// only if the object is as it was when its status was made; so a leader that is lost in the middle leaves
// nothing half, and a second one writes nothing twice. What the server has already is not written. An object
// that changes fast is written once for many changes.
//
// A conflict is no trouble: either the object's next version is on its way, and its status is made anew; or
// something changed that is not read here, and the version of today is asked for.
class StatusWriter {
 public:
  using Statuses = gateway_api::Statuses;
  struct Options {
    std::function<Statuses()> statuses;       // as they are to be, on the writer's thread
    std::function<bool(config::Kind)> leads;  // whether this replica writes statuses of the kind; any thread
    std::vector<gateway_api::VerdictCondition> verdicts;  // see StatusBoard
    // Whether an object has a place to write to; null: it is the API server's.
    std::function<bool(const config::ConfigObject&)> has_place = nullptr;
    bool kept_apart = false;  // statuses are no part of the objects that were read: each is asked for first
    std::function<std::string()> now;                        // RFC 3339; null: the machine's clock
    Clock::duration quiet = std::chrono::milliseconds(100);  // between a change and what is written of it
    size_t most_at_once = 8;
    std::chrono::milliseconds first_retry{1000}, most_retry{30'000};
  };
  // The writer must outlive it, or be stopped before it goes.
  StatusWriter(Options options, kube::ApiWriter* writer);

  // Statuses, or the objects that have them, may have changed. Thread-safe.
  void OnPublished() { soon_.Plan(); }
  // This replica leads in something that it did not: all is looked at. Thread-safe.
  void OnLeading();

  // An object that has a verdict of proxies on the server: it goes, unless there is one now. On the writer's
  // thread.
  void OnVerdictFound(const config::ConfigPtr& object);

  // How often a status was written so far.
  uint64_t written() const { return written_; }

 private:
  using Key = gateway_api::StatusKey;
  using Answer = kube::ApiAnswer;
  // What was last sent of an object.
  struct Sent {
    OrderedJson wanted;         // without times
    std::string before, after;  // the object's version then, and as it came out ("": refused)
    int failures = 0;           // in a row
  };

  void Look();
  void Pump();
  bool Begin(const Key& key);
  void ReadFirst(const Key& key, const gateway_api::StatusOf& status);
  void OnRead(const Key& key, const gateway_api::StatusOf& status, const Answer& answer);
  void OnReadApart(const Key& key, const gateway_api::StatusOf& status, const std::string& version,
                   const OrderedJson& before);
  void Send(const Key& key, const gateway_api::StatusOf& status, const std::string& version,
            const OrderedJson& document);
  void OnSent(const Key& key, const gateway_api::StatusOf& status, const std::string& version,
              const Answer& answer);
  void Again(const Key& key, const Answer& answer);
  void End(const Key& key);
  kube::ApiRequest Held(kube::ApiRequest request, config::Kind kind) const;
  bool IsDone(const Key& key, const gateway_api::StatusOf& status) const;
  bool HasVerdict(const gateway_api::StatusOf& status) const;
  std::string Now() const;

  const Options options_;
  kube::ApiWriter* const writer_;
  LookSoon soon_;
  std::atomic<bool> whole_{true};  // everything is to be looked at
  std::atomic<uint64_t> written_{0};
  // What follows is of the writer's thread.
  Statuses seen_;
  std::set<Key> waiting_, running_;
  std::map<Key, gateway_api::StatusOf> emptied_;  // that had a verdict of proxies, and have none any more
  std::map<Key, Sent> sent_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_STATUS_WRITER_H_
