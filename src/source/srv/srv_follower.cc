#include "source/srv/srv_follower.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "dns/resolver_file.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

LogScope srv_log("source");

constexpr milliseconds kLongestWait{60'000};

}  // namespace

struct SrvFollower::Asked {
  RetryPause pause;
  Clock::time_point due{};
  bool looking = false, known = false;
  size_t absent = 0;  // answers in a row
};

// Ends a wait of the poller's.
class SrvFollower::Wake final : public dns::Watcher {
 public:
  explicit Wake(SrvFollower* owner) : owner_(owner) {}
  void OnReady(uint32_t /*events*/) override { owner_->stopping_ = true; }

 private:
  SrvFollower* const owner_;
};

SrvFollower::SrvFollower(SrvOptions options)
    : options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      troubles_(options_.names.size()) {
  for (size_t i = 0; i < options_.names.size(); ++i)
    asked_.push_back(std::make_unique<Asked>(
        Asked{RetryPause(options_.first_backoff, options_.most_backoff, options_.seed + i)}));
}

SrvFollower::~SrvFollower() { End(); }

void SrvFollower::Begin(TaskLoop* loop, PlatformView* view) {
  loop_ = loop;
  view_ = view;
  thread_.Start("srv", loop, [this] { Run(); });
}

void SrvFollower::End() {
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
  thread_.Stop();
}

std::vector<std::string> SrvFollower::Awaited() const {
  std::vector<std::string> awaited;
  for (size_t i = 0; i < options_.names.size(); ++i) {
    if (settled_.contains(i)) continue;
    awaited.push_back(StrCat(options_.names[i].name, troubles_[i].empty() ? "" : ": ", troubles_[i]));
  }
  return awaited;
}

void SrvFollower::Run() {
  Wake wake(this);
  poller_ = std::make_unique<dns::Poller>();
  if (!poller_->Add(wake_.get(), EPOLLIN, &wake)) return;
  while (!stopping_) {
    const auto now = Clock::now();
    if (resolver_ != nullptr) resolver_->Expire(now);
    LookAll(now);
    Clock::time_point next = Clock::now() + kLongestWait;
    if (resolver_ != nullptr) next = std::min(next, resolver_->next());
    for (const auto& asked : asked_) {
      if (!asked->looking) next = std::min(next, asked->due);
    }
    const auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
    poller_->Wait(std::max(wait, milliseconds(0)));
  }
  resolver_.reset();
  poller_.reset();
}

// The file of the machine's resolvers may change at any time. Questions under way end first.
bool SrvFollower::UseResolvers() {
  std::vector<dns::SocketAddress> resolvers = options_.resolvers;
  if (resolvers.empty()) {
    const auto file = dns::ReadResolverFile(options_.resolver_file);
    if (file.ok()) resolvers = file->servers;
  }
  if (resolver_ != nullptr && (!resolver_->at_rest() || resolvers == resolvers_ || resolvers.empty()))
    return true;
  resolvers_ = std::move(resolvers);
  if (resolvers_.empty()) return false;
  resolver_ = std::make_unique<SrvResolver>(
      SrvResolver::Options{resolvers_, options_.answer}, poller_.get(),
      [this](size_t name, const absl::StatusOr<SrvFound>& found) { OnFound(name, found); });
  return true;
}

void SrvFollower::LookAll(Clock::time_point now) {
  for (size_t i = 0; i < asked_.size() && !stopping_; ++i) {
    Asked& asked = *asked_[i];
    if (asked.looking || asked.due > now) continue;
    if (!UseResolvers()) {
      OnFound(i, absl::UnavailableError(ToAbsl(StrCat(options_.resolver_file, " has no nameserver"))));
      continue;
    }
    asked.looking = true;
    resolver_->Look(i, options_.names[i].name);
  }
}

// An answer without records may be a mistake of a moment: a service that is known goes with the second one.
void SrvFollower::OnFound(size_t name, const absl::StatusOr<SrvFound>& found) {
  Asked& asked = *asked_[name];
  asked.looking = false;
  if (!found.ok()) {
    asked.due = Clock::now() + asked.pause.Next();
    const bool handed =
        thread_.HandOver([this, name, why = std::string(FromAbsl(found.status().message())),
                          failures = asked.pause.failures()] { NoteTrouble(name, why, failures); });
    if (!handed) stopping_ = true;
    return;
  }
  asked.pause.Reset();
  asked.absent = found->instances.empty() ? asked.absent + 1 : 0;
  const bool doubtful = asked.known && asked.absent > 0 && asked.absent < options_.absences;
  asked.due = Clock::now() + (doubtful ? options_.least
                                       : std::clamp<milliseconds>(found->ttl, options_.least, options_.most));
  if (doubtful) return;
  if (asked.absent == 1 || (asked.known && asked.absent > 0))
    srv_log.Warn("{}: no record leads to an address", options_.names[name].name);
  asked.known = !found->instances.empty();
  if (!thread_.HandOver([this, name, &found] { Put(name, found->instances); })) stopping_ = true;
}

void SrvFollower::Put(size_t name, const std::vector<SrvInstance>& instances) {
  const SrvName& asked = options_.names[name];
  troubles_[name].clear();
  view_->ForgetTrouble(asked.name);
  view_->NoteAnswer();
  PlatformPart part = MakeSrvEntries(options_, asked, instances);
  if (part.objects.empty() && part.diagnostics.empty()) {
    view_->Remove(asked.name);
  } else {
    view_->Put(asked.name, std::move(part));
  }
  settled_.insert(name);
  if (settled_.size() == options_.names.size()) view_->SetComplete();
}

void SrvFollower::NoteTrouble(size_t name, const std::string& why, size_t failures) {
  troubles_[name] = why;
  view_->NoteTrouble(options_.names[name].name, why, failures);
}

}  // namespace fairlead::source
