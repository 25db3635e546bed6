#include "source/marathon/marathon_follower.h"

#include <algorithm>
#include <utility>

#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;

constexpr char kLists[] = "the lists of apps and pods";
constexpr char kApps[] = "/v2/apps?embed=apps.tasks&embed=apps.readiness&embed=apps.deployments";
constexpr char kPods[] = "/v2/pods::status";
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
    : StreamFollower({options.url, options.platform, options.user}, EventsPath(),
                     RetryPause(options.first_backoff, options.most_backoff, options.seed)),
      options_(std::move(options)),
      list_pause_(options_.first_backoff, options_.most_backoff, options_.seed + 1) {}

MarathonFollower::~MarathonFollower() { End(); }

fetch::Client::Handle MarathonFollower::Ask(const std::string& path,
                                            std::function<void(const fetch::WholeAnswer&)> done) {
  auto post = [this, done = std::move(done)](fetch::WholeAnswer answer) {
    auto shared = std::make_shared<const fetch::WholeAnswer>(std::move(answer));
    loop_->Post([done, shared] { done(*shared); });
  };
  auto request = server_.RequestFor(path);
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

void MarathonFollower::Complete(fetch::Request* request) {
  request->headers.emplace_back("Accept: text/event-stream");
  request->idle_limit = options_.silence;
}

StreamFollower::Reader MarathonFollower::MakeReader() {
  events_ = std::make_shared<MarathonEvents>();
  return [events = events_](std::string_view bytes) { return events->Read(bytes); };
}

void MarathonFollower::OnLetGo() {
  loop_->Drop(&list_retry_);
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

void MarathonFollower::OnAttached() {
  NoteGood();
  lag_ = milliseconds(0);
  List();
}

void MarathonFollower::OnNews() {
  const MarathonEvent news = events_->Take();
  lag_ = milliseconds(news.time == 0 ? 0 : std::max<int64_t>(0, UnixMillis() - news.time));
  view_->NoteAnswer(lag_);
  if (news.all || looks_.size() + news.ids.size() > kMostLooks) return List();
  for (const std::string& id : news.ids) LookAt(id, milliseconds(0));
}

// A list is under way alone: no earlier answer about a single one may come after it.
void MarathonFollower::List() {
  if (!is_good()) return;
  if (list_number_ != 0) {
    list_again_ = true;
    return;
  }
  loop_->Drop(&list_retry_);
  StopLooks();
  list_again_ = false;
  list_answers_ = 0;
  listed_.clear();
  const uint64_t number = list_number_ = ++last_question_;
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
  trouble_ = StrCat(server_.base(), why);
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
  if (!is_good() || list_number_ != 0) {
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
  look.number = ++last_question_;
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
