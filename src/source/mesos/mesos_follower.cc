#include "source/mesos/mesos_follower.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "source/platform/streamed_answer.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

constexpr char kStream[] = "the stream of events";
constexpr milliseconds kLongStream{10'000};
constexpr double kHeartbeats = 5;  // so many that do not come: see Event.HEARTBEAT of master.proto

milliseconds SilenceOf(const MesosOptions& options, double heartbeat_seconds) {
  const double most = static_cast<double>(options.most_silence.count());
  const double wanted = std::clamp(heartbeat_seconds * 1'000 * kHeartbeats, 0.0, most);
  return std::max(options.least_silence, milliseconds(static_cast<int64_t>(wanted)));
}

}  // namespace

MesosFollower::MesosFollower(MesosOptions options)
    : options_(std::move(options)),
      pause_(options_.first_backoff, options_.most_backoff, options_.seed),
      master_({options_.url, options_.platform, options_.user}),
      state_(options_) {}

MesosFollower::~MesosFollower() { End(); }

void MesosFollower::Begin(TaskLoop* loop, PlatformView* view) {
  loop_ = loop;
  view_ = view;
  client_ = std::make_unique<fetch::Client>();
  Subscribe();
}

void MesosFollower::End() { client_.reset(); }

std::vector<std::string> MesosFollower::Awaited() const {
  if (view_ != nullptr && view_->complete()) return {};
  return {StrCat(options_.url.Name(), trouble_.empty() ? "" : ": ", trouble_)};
}

void MesosFollower::Subscribe() {
  LetGo();
  auto request = master_.RequestFor("/api/v1");
  if (!request.ok()) return Fail(std::string(FromAbsl(request.status().message())));
  request->method = "POST";
  request->body = R"({"type":"SUBSCRIBE"})";
  request->headers.emplace_back("Content-Type: application/json");
  request->headers.emplace_back("Accept: application/json");
  request->own_connection = true;
  request->most_bytes = fetch::Request::kUnlimited;
  const uint64_t number = number_ = ++last_number_;
  stream_ = std::make_shared<MesosStream>(options_.most_record);
  silence_ = options_.silence;
  StreamedAnswer::Told told;
  told.headers = [this, number](int status, const std::string& location) {
    OnHeaders(number, status, location);
  };
  told.done = [this, number](const fetch::Outcome& outcome, const std::string& body) {
    OnDone(number, outcome, body);
  };
  told.read = [this, number, stream = stream_](std::string_view bytes) {
    if (stream->Read(bytes)) loop_->Post([this, number] { OnNews(number); });
  };
  handle_ = client_->Start(*std::move(request), std::make_unique<StreamedAnswer>(loop_, std::move(told)));
  WatchSilence();
}

void MesosFollower::LetGo() {
  loop_->Drop(&retry_);
  loop_->Drop(&silence_timer_);
  shown_ = false;
  number_ = 0;
  if (handle_ != 0) client_->Cancel(std::exchange(handle_, 0));
}

void MesosFollower::WatchSilence() {
  loop_->Drop(&silence_timer_);
  silence_timer_ = loop_->At(stream_->last_byte() + silence_, [this] {
    silence_timer_ = 0;
    if (Clock::now() - stream_->last_byte() < silence_) return WatchSilence();
    Fail(StrCat("nothing came for ", silence_.count(), " ms, no heartbeat either"));
  });
}

void MesosFollower::OnHeaders(uint64_t number, int status, const std::string& location) {
  if (number != number_) return;
  if (IsRedirect(status)) {
    const absl::Status followed = master_.Follow(location);
    return followed.ok() ? Subscribe() : Fail(std::string(FromAbsl(followed.message())));
  }
  if (status == 200) master_.Found();  // the end of others says why
}

void MesosFollower::OnDone(uint64_t number, const fetch::Outcome& outcome, const std::string& body) {
  if (number != number_) return;
  const bool ended = outcome.status.ok() && outcome.http_status == 200;
  Fail(ended ? "it has ended" : WhyItFailed(outcome, body));
}

// The next master of the URL knows who leads now.
void MesosFollower::Fail(const std::string& why) {
  if (shown_ && Clock::now() - shown_at_ > kLongStream) pause_.Reset();
  LetGo();
  trouble_ = StrCat(master_.base(), ": ", why);
  const auto wait = pause_.Next();
  view_->NoteTrouble(kStream, trouble_, pause_.failures());
  master_.TryNext();
  retry_ = loop_->At(Clock::now() + wait, [this] {
    retry_ = 0;
    Subscribe();
  });
}

void MesosFollower::OnNews(uint64_t number) {
  if (number != number_) return;
  MesosStream::News news = stream_->Take();
  absl::Status status;
  for (MesosEvent& event : news.events) {
    if (status.ok()) status = Apply(std::move(event));
  }
  status.Update(news.broken);
  if (shown_) {
    Show();
    view_->NoteAnswer();
  }
  if (!status.ok()) return Fail(StrCat("an event: ", FromAbsl(status.message())));
}

absl::Status MesosFollower::Apply(MesosEvent event) {
  const bool all = event.type == MesosEvent::Type::kState;
  if (!all && !shown_) return absl::InvalidArgumentError("SUBSCRIBED is not the first");
  if (all) silence_ = SilenceOf(options_, event.heartbeat_seconds.value_or(0));
  if (all && !event.heartbeat_seconds) silence_ = options_.silence;
  if (absl::Status status = state_.Apply(std::move(event)); !status.ok()) return status;
  if (!all) return absl::OkStatus();
  shown_ = true;
  shown_at_ = Clock::now();
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
  view_->ForgetTrouble(kStream);
  view_->SetComplete();
}

}  // namespace fairlead::source
