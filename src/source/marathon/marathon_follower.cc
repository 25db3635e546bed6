#include "source/marathon/marathon_follower.h"

#include <algorithm>
#include <utility>

#include "base/percent.h"
#include "base/strings.h"
#include "source/platform/streamed_answer.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

constexpr char kStream[] = "the stream of events", kLists[] = "the lists of apps and pods";
constexpr char kApps[] = "/v2/apps?embed=apps.tasks&embed=apps.readiness&embed=apps.deployments";
constexpr char kPods[] = "/v2/pods::status";
constexpr milliseconds kLongStream{10'000};
constexpr size_t kMostLooks = 200;  // beyond that, all are listed

std::string EventsPath() {
  std::string path = "/v2/events";
  char before = '?';
  for (const std::string& type : MarathonEventTypes()) {
    StrAppend(&path, std::string(1, before), "event_type=", type);
    before = '&';
  }
  return path;
}

int64_t UnixMillis() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

MarathonFollower::MarathonFollower(MarathonOptions options)
    : options_(std::move(options)),
      stream_pause_(options_.first_backoff, options_.most_backoff, options_.seed),
      list_pause_(options_.first_backoff, options_.most_backoff, options_.seed + 1),
      master_({options_.url, options_.platform, options_.user}) {}

MarathonFollower::~MarathonFollower() { End(); }

void MarathonFollower::Begin(TaskLoop* loop, PlatformView* view) {
  loop_ = loop;
  view_ = view;
  client_ = std::make_unique<fetch::Client>();
  Attach();
}

void MarathonFollower::End() { client_.reset(); }

std::vector<std::string> MarathonFollower::Awaited() const {
  if (view_ != nullptr && view_->complete()) return {};
  return {StrCat(options_.url.Name(), trouble_.empty() ? "" : ": ", trouble_)};
}

fetch::Client::Handle MarathonFollower::Ask(const std::string& path,
                                            std::function<void(const fetch::WholeAnswer&)> done) {
  auto post = [this, done = std::move(done)](fetch::WholeAnswer answer) {
    auto shared = std::make_shared<const fetch::WholeAnswer>(std::move(answer));
    loop_->Post([done, shared] { done(*shared); });
  };
  auto request = master_.RequestFor(path);
  if (!request.ok()) {
    post({.outcome = {.status = request.status()}});
    return 0;
  }
  request->headers.emplace_back("Accept: application/json");
  request->compressed = true;
  request->most_bytes = options_.most_bytes;
  request->whole_limit = options_.answer;
  return fetch::Ask(*client_, *std::move(request), std::move(post));
}

void MarathonFollower::Attach() {
  LetGo();
  auto request = master_.RequestFor(EventsPath());
  if (!request.ok()) return FailStream(std::string(FromAbsl(request.status().message())));
  request->headers.emplace_back("Accept: text/event-stream");
  request->own_connection = true;
  request->idle_limit = options_.silence;
  request->most_bytes = fetch::Request::kUnlimited;
  const uint64_t number = stream_number_ = ++last_number_;
  events_ = std::make_shared<MarathonEvents>();
  StreamedAnswer::Told told;
  told.headers = [this, number](int status, const std::string& location) {
    OnStreamHeaders(number, status, location);
  };
  told.done = [this, number](const fetch::Outcome& outcome, const std::string& body) {
    OnStreamDone(number, outcome, body);
  };
  told.read = [this, number, events = events_](std::string_view bytes) {
    if (events->Read(bytes)) loop_->Post([this, number] { OnNews(number); });
  };
  stream_ = client_->Start(*std::move(request), std::make_unique<StreamedAnswer>(loop_, std::move(told)));
}

void MarathonFollower::LetGo() {
  loop_->Drop(&retry_);
  loop_->Drop(&list_retry_);
  attached_ = false;
  stream_number_ = 0;
  if (stream_ != 0) client_->Cancel(std::exchange(stream_, 0));
  list_number_ = 0;
  for (const auto handle : std::exchange(list_handles_, {})) client_->Cancel(handle);
  StopLooks();
}

void MarathonFollower::StopLooks() {
  for (auto& [id, look] : looks_) {
    loop_->Drop(&look.timer);
    if (look.handle != 0) client_->Cancel(look.handle);
  }
  looks_.clear();
  waiting_.clear();
  looking_ = 0;
}

void MarathonFollower::OnStreamHeaders(uint64_t number, int status, const std::string& location) {
  if (number != stream_number_) return;
  if (IsRedirect(status)) {
    const absl::Status followed = master_.Follow(location);
    return followed.ok() ? Attach() : FailStream(std::string(FromAbsl(followed.message())));
  }
  if (status != 200) return;  // its end says why
  attached_ = true;
  lag_ = milliseconds(0);
  attached_at_ = Clock::now();
  master_.Found();
  view_->ForgetTrouble(kStream);
  List();
}

void MarathonFollower::OnStreamDone(uint64_t number, const fetch::Outcome& outcome, const std::string& body) {
  if (number != stream_number_) return;
  const bool ended = outcome.status.ok() && outcome.http_status == 200;
  FailStream(ended ? "it has ended" : WhyItFailed(outcome, body));
}

// The next master of the URL knows who leads now.
void MarathonFollower::FailStream(const std::string& why) {
  if (attached_ && Clock::now() - attached_at_ > kLongStream) stream_pause_.Reset();
  LetGo();
  trouble_ = StrCat(master_.base(), ": ", why);
  const auto wait = stream_pause_.Next();
  view_->NoteTrouble(kStream, trouble_, stream_pause_.failures());
  master_.TryNext();
  retry_ = loop_->At(Clock::now() + wait, [this] {
    retry_ = 0;
    Attach();
  });
}

void MarathonFollower::OnNews(uint64_t number) {
  if (number != stream_number_ || events_ == nullptr) return;
  const MarathonEvent news = events_->Take();
  lag_ = milliseconds(news.time == 0 ? 0 : std::max<int64_t>(0, UnixMillis() - news.time));
  view_->NoteAnswer(lag_);
  if (news.all || looks_.size() + news.ids.size() > kMostLooks) return List();
  for (const std::string& id : news.ids) LookAt(id, milliseconds(0));
}

// A list is under way alone: no earlier answer about a single one may come after it.
void MarathonFollower::List() {
  if (!attached_) return;
  if (list_number_ != 0) {
    list_again_ = true;
    return;
  }
  loop_->Drop(&list_retry_);
  StopLooks();
  list_again_ = false;
  list_answers_ = 0;
  listed_.clear();
  const uint64_t number = list_number_ = ++last_number_;
  for (const bool pods : {false, true}) {
    const auto handle = Ask(pods ? kPods : kApps, [this, number, pods](const fetch::WholeAnswer& answer) {
      OnList(number, pods, answer);
    });
    if (handle != 0) list_handles_.push_back(handle);
  }
}

// A version before 1.4 has no pods.
absl::Status MarathonFollower::ReadList(bool pods, const fetch::WholeAnswer& answer) {
  if (pods && answer.outcome.status.ok() && answer.outcome.http_status == 404) return absl::OkStatus();
  if (!answer.outcome.status.ok() || answer.outcome.http_status != 200)
    return absl::UnavailableError(ToAbsl(WhyItFailed(answer.outcome, answer.body)));
  auto services = pods ? ReadMarathonPods(reader_, answer.body) : ReadMarathonApps(reader_, answer.body);
  if (!services.ok()) return services.status();
  for (MarathonService& service : *services) listed_.push_back(std::move(service));
  return absl::OkStatus();
}

void MarathonFollower::OnList(uint64_t number, bool pods, const fetch::WholeAnswer& answer) {
  if (number != list_number_) return;
  if (const absl::Status status = ReadList(pods, answer); !status.ok())
    return FailList(StrCat(pods ? "/v2/pods::status: " : "/v2/apps: ", FromAbsl(status.message())));
  if (++list_answers_ == 2) TakeList();
}

void MarathonFollower::FailList(const std::string& why) {
  list_number_ = 0;
  for (const auto handle : std::exchange(list_handles_, {})) client_->Cancel(handle);
  trouble_ = StrCat(master_.base(), why);
  const auto wait = list_pause_.Next();
  view_->NoteTrouble(kLists, trouble_, list_pause_.failures());
  loop_->Drop(&list_retry_);
  list_retry_ = loop_->At(Clock::now() + wait, [this] {
    list_retry_ = 0;
    List();
  });
}

void MarathonFollower::TakeList() {
  list_number_ = 0;
  list_handles_.clear();
  list_pause_.Reset();
  trouble_.clear();
  view_->ForgetTrouble(kLists);
  view_->NoteAnswer(lag_);
  std::set<std::string> ids;
  for (MarathonService& service : std::exchange(listed_, {})) {
    ids.insert(service.id);
    Put(std::move(service));
  }
  std::erase_if(known_, [&ids](const auto& one) { return !ids.contains(one.first); });
  view_->RetainOnly([&ids](const std::string& name) { return ids.contains(name); });
  view_->SetComplete();
  if (list_again_) List();
}

// What is asked for twice is asked once more after the answer, since that may be older.
void MarathonFollower::LookAt(const std::string& id, milliseconds after) {
  if (!attached_ || list_number_ != 0) {
    list_again_ = true;
    return;
  }
  Look& look = looks_[id];
  if (look.number != 0) {
    look.again = true;
    return;
  }
  const auto now = Clock::now();
  const auto time = std::max(now + after, look.asked + options_.least_interval);
  loop_->Drop(&look.timer);
  look.again = look.again || after == milliseconds(0);
  look.timer = loop_->At(time, [this, id] {
    Look& due = looks_[id];
    due.timer = 0;
    if (looking_ >= options_.most_at_once) {
      waiting_.insert(id);
      return;
    }
    AskAbout(id, due);
  });
}

void MarathonFollower::AskAbout(const std::string& id, Look& look) {
  ++looking_;
  look.asked = Clock::now();
  const auto known = known_.find(id);
  if (known != known_.end()) look.pod = known->second.service.is_pod;
  look.other_too = false;
  look.number = ++last_number_;
  const std::string path = PercentEncoded(id, "-._~/");
  look.handle =
      Ask(look.pod ? StrCat("/v2/pods", path, "::status") : StrCat("/v2/apps", path),
          [this, id, number = look.number](const fetch::WholeAnswer& answer) { OnLook(id, number, answer); });
}

void MarathonFollower::OnLook(const std::string& id, uint64_t number, const fetch::WholeAnswer& answer) {
  const auto it = looks_.find(id);
  if (it == looks_.end() || it->second.number != number) return;
  Look& look = it->second;
  look.number = look.handle = 0;
  --looking_;
  const bool found = answer.outcome.status.ok() && answer.outcome.http_status == 200;
  if (answer.outcome.status.ok() && answer.outcome.http_status == 404) {
    // An app may have become a pod.
    if (!std::exchange(look.other_too, true)) {
      known_.erase(id);
      look.pod = !look.pod;
      AskAbout(id, look);
      look.other_too = true;
      return;
    }
    Drop(id);
  } else if (!found) {
    return FailList(StrCat(id, ": ", WhyItFailed(answer.outcome, answer.body)));
  } else {
    auto service = look.pod ? ReadMarathonPod(reader_, answer.body) : ReadMarathonApp(reader_, answer.body);
    if (service.ok() && service->id != id) service = absl::InvalidArgumentError("it is about another one");
    if (!service.ok()) return FailList(StrCat(id, ": ", FromAbsl(service.status().message())));
    Put(*std::move(service));
  }
  view_->ForgetTrouble(kLists);
  view_->NoteAnswer(lag_);
  const auto known = known_.find(id);
  const bool awaits =
      known != known_.end() && known->second.service.has_readiness_checks && known->second.service.deploying;
  if (std::exchange(look.again, false)) {
    LookAt(id, options_.second_look);
  } else if (awaits) {
    LookAt(id, options_.readiness);
  } else {
    looks_.erase(it);
  }
  if (waiting_.empty()) return;
  const std::string next = *waiting_.begin();
  waiting_.erase(waiting_.begin());
  AskAbout(next, looks_[next]);
}

void MarathonFollower::Put(MarathonService service) {
  const std::string id = service.id;
  Known& known = known_[id];
  known.well = WellMarathonInstances(options_, service, known.well);
  known.service = std::move(service);
  PlatformPart part = MakeMarathonEntries(options_, known.service, known.well);
  if (part.objects.empty() && part.diagnostics.empty()) return view_->Remove(id);
  view_->Put(id, std::move(part));
}

void MarathonFollower::Drop(const std::string& id) {
  known_.erase(id);
  view_->Remove(id);
}

}  // namespace fairlead::source
