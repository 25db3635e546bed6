#ifndef FAIRLEAD_PUSH_STREAM_REJECTIONS_H_
#define FAIRLEAD_PUSH_STREAM_REJECTIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/proxy.h"
#include "push/stream/answer_observer.h"
#include "push/stream/stream_report.h"

namespace fairlead::push {

// A resource that a proxy does not take.
struct RejectedResource {
  std::string name;
  std::string reason;    // one line, cut
  WallTime since{};      // when the proxy refused a version first, and has taken none since
  bool unnamed = false;  // the reason does not name it: another one of the response may be at fault
  // What the proxy does instead.
  enum class Running : uint8_t {
    kNothing,  // it has no version
    kOlder,    // it goes on with an older one
    kUnknown,  // it had a version when it connected, which is not known here
  };
  Running running = Running::kNothing;
  Hash128 wanted_version, running_version;  // the latter of kOlder, and of kUnknown where it is known
  cache::Origins origins;                   // of the version that it should have
  // Those that the version that it runs was not made from, or other versions of them, when the proxy refused
  // first; where that is not known, all.
  cache::Origins changed;
  // Those that do not count at the proxy as they are now, or that are gone and count there still.
  cache::Origins missing, lingering;
};

// What one proxy does not take of one type.
struct Rejection {
  uint64_t stream = 0;
  model::ProxyPtr proxy;
  std::string track;  // that its stream follows
  xds::TypeId type = xds::TypeId::kCluster;
  WallTime since{};
  std::string error;                        // of the last rejection, one line, cut
  std::vector<RejectedResource> resources;  // by name, the first kMostResources
  size_t more = 0;                          // resources beside them
};

// What connected proxies refuse now: from a rejection until a good version is taken, or the stream ends. A
// proxy that answers as it should costs a look at a number. Thread-safe.
class Rejections : public AnswerObserver {
 public:
  static constexpr size_t kMostResources = 100;  // of a stream and type
  // `changed` is called after each change, on any thread, under locks: it must not block, nor ask this.
  explicit Rejections(std::function<void()> changed = [] {}) : changed_(std::move(changed)) {}

  void OnAnswer(const ProxyAnswer& answer) override;
  void OnClosed(uint64_t stream) override;
  // By proxy and type.
  std::vector<Rejection> Current() const;
  bool empty() const { return count_ == 0; }

 private:
  using Key = std::pair<uint64_t, xds::TypeId>;
  const std::function<void()> changed_;
  std::atomic<size_t> count_{0};  // of rejections_
  mutable std::mutex mutex_;
  std::map<Key, Rejection> rejections_;  // guarded by mutex_
};

// A proxy's text on one line of at most `most` bytes: what cannot be shown is escaped.
std::string OneLine(std::string_view text, size_t most);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_REJECTIONS_H_
