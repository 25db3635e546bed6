#ifndef FAIRLEAD_SOURCE_SRV_SRV_FOLLOWER_H_
#define FAIRLEAD_SOURCE_SRV_SRV_FOLLOWER_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "http2/socket.h"
#include "source/platform/asking_thread.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"
#include "source/srv/srv_options.h"
#include "source/srv/srv_resolver.h"

namespace fairlead::source {

// Looks names up in DNS, and again when the TTL of a name is over: DNS has no other way to tell of a change.
// A thread of its own asks. A part of the view is a name. A name without an answer keeps its last one.
class SrvFollower : public PlatformFollower {
 public:
  explicit SrvFollower(SrvOptions options);
  ~SrvFollower() override;

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  struct Asked;
  class Wake;
  // Of the thread that asks.
  void Run();
  bool UseResolvers();
  void LookAll(Clock::time_point now);
  void OnFound(size_t name, const absl::StatusOr<SrvFound>& found);
  // Of the source's thread.
  void Put(size_t name, const std::vector<SrvInstance>& instances);
  void NoteTrouble(size_t name, const std::string& why, size_t failures);

  const SrvOptions options_;
  const http2::File wake_;
  TaskLoop* loop_ = nullptr;
  PlatformView* view_ = nullptr;
  AskingThread thread_;
  // Of the thread that asks.
  std::unique_ptr<dns::Poller> poller_;
  std::unique_ptr<SrvResolver> resolver_;
  std::vector<dns::SocketAddress> resolvers_;
  std::vector<std::unique_ptr<Asked>> asked_;
  bool stopping_ = false;
  // Of the source's thread.
  std::set<size_t> settled_;
  std::vector<std::string> troubles_;  // of each name; "": none
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SRV_SRV_FOLLOWER_H_
