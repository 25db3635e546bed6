#include "source/platform/stream_follower.h"

#include <utility>

#include "base/strings.h"
#include "source/platform/streamed_answer.h"

namespace fairlead::source {
namespace {

constexpr char kStream[] = "the stream of events";
constexpr std::chrono::milliseconds kLongStream{10'000};

}  // namespace

StreamFollower::StreamFollower(const LeadingServer::Options& servers, std::string path, RetryPause pause)
    : server_(servers), name_(servers.url.Name()), path_(std::move(path)), pause_(pause) {}

void StreamFollower::Begin(TaskLoop* loop, PlatformView* view) {
  loop_ = loop;
  view_ = view;
  client_ = std::make_unique<fetch::Client>();
  Attach();
}

void StreamFollower::End() { client_.reset(); }

std::vector<std::string> StreamFollower::Awaited() const {
  if (view_ != nullptr && view_->complete()) return {};
  return {StrCat(name_, trouble_.empty() ? "" : ": ", trouble_)};
}

void StreamFollower::Attach() {
  LetGo();
  auto request = server_.RequestFor(path_);
  if (!request.ok()) return Fail(std::string(FromAbsl(request.status().message())));
  request->own_connection = true;
  request->most_bytes = fetch::Request::kUnlimited;
  Complete(&*request);
  const uint64_t number = number_ = ++last_number_;
  StreamedAnswer::Told told;
  told.headers = [this, number](int status, const std::string& location) {
    OnHeaders(number, status, location);
  };
  told.done = [this, number](const fetch::Outcome& outcome, const std::string& body) {
    OnDone(number, outcome, body);
  };
  told.read = [this, number, read = MakeReader()](std::string_view bytes) {
    if (!read(bytes)) return;
    loop_->Post([this, number] {
      if (number == number_) OnNews();
    });
  };
  handle_ = client_->Start(*std::move(request), std::make_unique<StreamedAnswer>(loop_, std::move(told)));
}

void StreamFollower::LetGo() {
  loop_->Drop(&retry_);
  good_ = false;
  number_ = 0;
  if (handle_ != 0) client_->Cancel(std::exchange(handle_, 0));
  OnLetGo();
}

void StreamFollower::OnHeaders(uint64_t number, int status, const std::string& location) {
  if (number != number_) return;
  if (IsRedirect(status)) {
    const absl::Status followed = server_.Follow(location);
    return followed.ok() ? Attach() : Fail(std::string(FromAbsl(followed.message())));
  }
  if (status != 200) return;  // its end says why
  server_.Found();
  OnAttached();
}

void StreamFollower::OnDone(uint64_t number, const fetch::Outcome& outcome, const std::string& body) {
  if (number != number_) return;
  const bool ended = outcome.status.ok() && outcome.http_status == 200;
  Fail(ended ? "it has ended" : WhyItFailed(outcome, body));
}

// The next server of the URL knows who leads now.
void StreamFollower::Fail(const std::string& why) {
  if (good_ && Clock::now() - good_since_ > kLongStream) pause_.Reset();
  LetGo();
  trouble_ = StrCat(server_.base(), ": ", why);
  const auto wait = pause_.Next();
  view_->NoteTrouble(kStream, trouble_, pause_.failures());
  server_.TryNext();
  retry_ = loop_->At(Clock::now() + wait, [this] {
    retry_ = 0;
    Attach();
  });
}

void StreamFollower::NoteGood() {
  good_ = true;
  good_since_ = Clock::now();
  view_->ForgetTrouble(kStream);
}

}  // namespace fairlead::source
