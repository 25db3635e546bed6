#include "source/mesos/mesos_follower.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

constexpr double kHeartbeats = 5;  // so many that do not come: see Event.HEARTBEAT of master.proto

milliseconds SilenceOf(const MesosOptions& options, double heartbeat_seconds) {
  const double most = static_cast<double>(options.most_silence.count());
  const double wanted = std::clamp(heartbeat_seconds * 1'000 * kHeartbeats, 0.0, most);
  return std::max(options.least_silence, milliseconds(static_cast<int64_t>(wanted)));
}

}  // namespace

MesosFollower::MesosFollower(MesosOptions options)
    : StreamFollower({options.url, options.platform, options.user}, "/api/v1",
                     RetryPause(options.first_backoff, options.most_backoff, options.seed)),
      options_(std::move(options)),
      state_(options_) {}

MesosFollower::~MesosFollower() { End(); }

void MesosFollower::Complete(fetch::Request* request) {
  request->method = "POST";
  request->body = R"({"type":"SUBSCRIBE"})";
  request->headers.emplace_back("Content-Type: application/json");
  request->headers.emplace_back("Accept: application/json");
}

StreamFollower::Reader MesosFollower::MakeReader() {
  stream_ = std::make_shared<MesosStream>(options_.most_record);
  silence_ = options_.silence;
  WatchSilence();
  return [stream = stream_](std::string_view bytes) { return stream->Read(bytes); };
}

void MesosFollower::OnLetGo() { loop_->Drop(&silence_timer_); }

void MesosFollower::WatchSilence() {
  loop_->Drop(&silence_timer_);
  silence_timer_ = loop_->At(stream_->last_byte() + silence_, [this] {
    silence_timer_ = 0;
    if (Clock::now() - stream_->last_byte() < silence_) return WatchSilence();
    Fail(StrCat("nothing came for ", silence_.count(), " ms, no heartbeat either"));
  });
}

void MesosFollower::OnNews() {
  MesosStream::News news = stream_->Take();
  absl::Status status;
  for (MesosEvent& event : news.events) {
    if (status.ok()) status = Apply(std::move(event));
  }
  status.Update(news.broken);
  if (is_good()) {
    Show();
    view_->NoteAnswer();
  }
  if (!status.ok()) return Fail(StrCat("an event: ", FromAbsl(status.message())));
}

absl::Status MesosFollower::Apply(MesosEvent event) {
  const bool all = event.type == MesosEvent::Type::kState;
  if (!all && !is_good()) return absl::InvalidArgumentError("SUBSCRIBED is not the first");
  if (all) silence_ = SilenceOf(options_, event.heartbeat_seconds.value_or(0));
  if (all && !event.heartbeat_seconds) silence_ = options_.silence;
  if (absl::Status status = state_.Apply(std::move(event)); !status.ok()) return status;
  if (!all) return absl::OkStatus();
  NoteGood();
  WatchSilence();
  return absl::OkStatus();
}

void MesosFollower::Show() {
  for (const MesosPlace& place : state_.TakeChanged()) {
    const std::string name = StrCat(place.ns, "/", place.host);
    PlatformPart part = state_.Make(place);
    if (part.objects.empty() && part.diagnostics.empty()) {
      view_->Remove(name);
    } else {
      view_->Put(name, std::move(part));
    }
  }
  trouble_.clear();
  view_->SetComplete();
}

}  // namespace fairlead::source
