#include "controllers/watch_thread.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace fairlead::controllers {
namespace {

using Trouble = kube::ListWatch::Trouble;

constexpr size_t kFewestFailures = 3;  // before a server counts as unreachable

}  // namespace

WatchThread::WatchThread(Options options, kube::ServerAccess access, fetch::Client* client,
                         std::vector<Collection> collections)
    : options_(std::move(options)), loop_(options_.loop, std::move(access), client) {
  for (Collection& one : collections) {
    const kube::WatchLoop::Id id = loop_.Add(one.path, one.fields, one.receiver.get(), one.selector);
    watched_.push_back({std::move(one), id, ""});
  }
}

WatchThread::~WatchThread() { Stop(); }

void WatchThread::Start() {
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), options_.name);
    Run();
  });
}

void WatchThread::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

void WatchThread::Run() {
  while (loop_.Run(kube::ListWatch::Time::max())) {
    for (Watched& one : watched_) NoteTrouble(&one);
    if (options_.turned) options_.turned();
  }
}

bool WatchThread::Listed() const {
  return std::all_of(watched_.begin(), watched_.end(), [this](const Watched& one) {
    const kube::ListWatch* watch = loop_.Find(one.id);
    return watch->synced() || watch->trouble() == Trouble::kForbidden ||
           watch->trouble() == Trouble::kNotServed;
  });
}

void WatchThread::NoteTrouble(Watched* watched) const {
  const kube::ListWatch* watch = loop_.Find(watched->id);
  const bool bad = watch->trouble() == Trouble::kForbidden ||
                   (watch->trouble() != Trouble::kNone && watch->failures() >= kFewestFailures);
  std::string trouble = bad ? watch->trouble_text() : "";
  if (trouble.empty() == watched->trouble.empty()) return;
  if (!trouble.empty())
    options_.log->Warn("{} cannot be read, so {}: {}", watched->collection.name, options_.so_what, trouble);
  watched->trouble = std::move(trouble);
}

}  // namespace fairlead::controllers
