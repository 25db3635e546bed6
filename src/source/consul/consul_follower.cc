#include "source/consul/consul_follower.h"

#include <algorithm>
#include <utility>

#include "base/percent.h"
#include "base/strings.h"
#include "source/consul/consul_query.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;
using Verdict = ConsulQuery::Verdict;

constexpr milliseconds kLeastTurn{250};
constexpr size_t kMostAwaited = 10;
const char* const kLeaderId = "leader";

}  // namespace

struct ConsulFollower::Asked {
  Id id;
  About about;
  std::string datacenter, service;
  ConsulQuery query;
  fetch::Client::Handle handle = 0;  // of the client's; 0: it was never asked
  uint64_t number = 0;               // of the exchange; 0: there is none
  milliseconds wait{0};              // of the exchange
  bool whole = false;                // the exchange's answer comes at once
  bool queued = false;
  TaskLoop::Timer timer = 0;
  bool settled = false;  // it was answered, or may not be

  // Few, and the others depend on them: they wait for no turn.
  bool goes_first() const { return about != About::kService; }
};

ConsulFollower::ConsulFollower(ConsulOptions options) : options_(std::move(options)) {}

ConsulFollower::~ConsulFollower() { End(); }

void ConsulFollower::Begin(TaskLoop* loop, PlatformView* view) {
  loop_ = loop;
  view_ = view;
  fetch::Client::Options client;
  client.most_exchanges = options_.watches + options_.datacenters.size() + 16;
  client.idle_connections = options_.watches;
  client_ = std::make_unique<fetch::Client>(client);
  if (HasOtherServers()) Add(kLeaderId, About::kLeader, "", "");
  std::vector<std::string> datacenters = options_.datacenters;
  if (datacenters.empty()) datacenters.emplace_back();
  for (const std::string& datacenter : datacenters)
    Add(StrCat("services of ", datacenter.empty() ? "the datacenter" : datacenter), About::kServices,
        datacenter, "");
  Add("service-defaults", About::kServiceDefaults, "", "");
  Add("proxy-defaults", About::kProxyDefaults, "", "");
  if (options_.intentions) Add("service-intentions", About::kIntentions, "", "");
  Fill();
}

void ConsulFollower::End() {
  for (auto& [id, asked] : asked_) Stop(*asked);
  client_.reset();
}

std::vector<std::string> ConsulFollower::Awaited() const {
  std::vector<std::string> awaited;
  size_t more = 0;
  for (const auto& [id, asked] : asked_) {
    if (asked->settled) continue;
    if (awaited.size() == kMostAwaited) {
      ++more;
      continue;
    }
    awaited.push_back(StrCat(id, asked->query.trouble().empty() ? "" : ": ", asked->query.trouble()));
  }
  if (more > 0) awaited.push_back(StrCat("and ", more, " more"));
  return awaited;
}

std::string ConsulFollower::PathOf(About about, const std::string& datacenter,
                                   const std::string& service) const {
  if (about == About::kLeader) return "/v1/status/leader?";
  std::string path = about == About::kServices          ? "/v1/catalog/services?"
                     : about == About::kServiceDefaults ? "/v1/config/service-defaults?"
                     : about == About::kProxyDefaults   ? "/v1/config/proxy-defaults?"
                     : about == About::kIntentions
                         ? "/v1/config/service-intentions?"
                         : StrCat("/v1/health/service/", PercentEncoded(service), "?");
  std::vector<std::string> parameters;
  const auto add = [&parameters](std::string_view name, const std::string& value) {
    if (!value.empty()) parameters.push_back(StrCat(name, "=", PercentEncoded(value)));
  };
  add("dc", datacenter);
  // Defaults of proxies are in the default namespace alone.
  if (about != About::kProxyDefaults) add("ns", options_.ns);
  add("partition", options_.partition);
  if (about == About::kService) add("filter", options_.filter);
  return path + Join(parameters, "&");
}

void ConsulFollower::Add(const Id& id, About about, const std::string& datacenter,
                         const std::string& service) {
  ConsulQuery query(
      PathOf(about, datacenter, service), about == About::kLeader ? "default" : options_.consistency,
      RetryPause(options_.first_backoff, options_.most_backoff, options_.seed * 1'000'003 + ++last_number_));
  auto asked = std::make_unique<Asked>(Asked{id, about, datacenter, service, std::move(query)});
  ++unsettled_;
  if (about == About::kService) ++services_asked_;
  Enqueue(*asked);
  asked_.emplace(id, std::move(asked));
}

void ConsulFollower::Drop(const Id& id) {
  const auto it = asked_.find(id);
  if (it == asked_.end()) return;
  Forget(*it->second);
  asked_.erase(it);
}

void ConsulFollower::Forget(Asked& asked) {
  Stop(asked);
  view_->ForgetTrouble(asked.id);
  if (!asked.settled) --unsettled_;
  if (asked.about == About::kService) --services_asked_;
}

void ConsulFollower::Stop(Asked& asked) {
  if (loop_ != nullptr) loop_->Drop(&asked.timer);
  if (std::exchange(asked.number, 0) == 0) return;
  if (asked.handle != 0) client_->Cancel(std::exchange(asked.handle, 0));
  LetGo(asked);
}

void ConsulFollower::LetGo(const Asked& asked) {
  if (asked.goes_first()) return;
  --running_;
  if (asked.whole) --whole_running_;
}

void ConsulFollower::Enqueue(Asked& asked) {
  if (std::exchange(asked.queued, true)) return;
  loop_->Drop(&asked.timer);
  if (asked.goes_first()) {
    whole_queue_.push_front(asked.id);
  } else {
    (asked.query.blocks() ? queue_ : whole_queue_).push_back(asked.id);
  }
}

void ConsulFollower::EnqueueAt(Asked& asked, Clock::time_point time) {
  loop_->Drop(&asked.timer);
  asked.timer = loop_->At(time, [this, id = asked.id] {
    const auto it = asked_.find(id);
    if (it == asked_.end()) return;
    it->second->timer = 0;
    Enqueue(*it->second);
    Fill();
  });
}

// Too many for all to wait at once: each waits for so long that all have their turn within a round.
milliseconds ConsulFollower::WaitOf(const Asked& asked) const {
  if (asked.goes_first() || !IsCrowded()) return options_.wait;
  const auto turn = options_.round * options_.watches / services_asked_;
  return std::max(kLeastTurn, std::min(options_.wait, std::chrono::duration_cast<milliseconds>(turn)));
}

// From now on they take turns: those that began when there was room for all give way.
void ConsulFollower::Crowd() {
  if (std::exchange(crowded_, IsCrowded()) || !crowded_) return;
  for (auto& [id, asked] : asked_) {
    if (asked->number == 0 || asked->goes_first() || asked->wait <= WaitOf(*asked)) continue;
    Stop(*asked);
    Enqueue(*asked);
  }
}

// Questions that wait for news are no hurry while there is something to learn at once.
void ConsulFollower::Fill() {
  FillFrom(whole_queue_, true);
  if (whole_queue_.empty()) FillFrom(queue_, false);
}

void ConsulFollower::FillFrom(std::deque<Id>& queue, bool whole) {
  while (!queue.empty()) {
    const auto it = asked_.find(queue.front());
    const bool waits = it != asked_.end() && it->second->queued;
    if (waits && !it->second->goes_first() && !HasRoom(whole)) return;
    queue.pop_front();
    if (waits) Ask(*it->second);
  }
}

bool ConsulFollower::HasRoom(bool whole) const {
  return running_ < options_.watches && (!whole || whole_running_ < options_.whole_at_once);
}

absl::StatusOr<fetch::Request> ConsulFollower::RequestFor(const Asked& asked) const {
  const auto& [host, port] = options_.url.addresses[server_ % options_.url.addresses.size()];
  const PlatformOptions& platform = options_.platform;
  fetch::Request request;
  request.url =
      StrCat(platform.tls ? "https://" : "http://", host, ":", port, asked.query.Target(asked.wait));
  request.bearer_file = platform.token_file;
  request.tls = platform.tls_settings;
  auto certificate = ReadClientCertificate(platform);
  if (!certificate.ok()) return certificate.status();
  request.tls.certificate = std::move(certificate->chain);
  request.tls.key = std::move(certificate->key);
  request.version = platform.tls ? fetch::HttpVersion::kAny : fetch::HttpVersion::k1;
  request.proxy = "";
  request.plaintext = true;
  request.compressed = true;
  request.most_bytes = options_.most_bytes;
  request.whole_limit =
      asked.about == About::kLeader
          ? options_.leader_limit
          : options_.slack + (asked.query.blocks() ? asked.wait + asked.wait / 16 : milliseconds(0));
  return request;
}

void ConsulFollower::Ask(Asked& asked) {
  asked.queued = false;
  asked.wait = WaitOf(asked);
  asked.number = ++last_number_;
  asked.whole = !asked.query.blocks();
  if (!asked.goes_first()) {
    ++running_;
    if (asked.whole) ++whole_running_;
  }
  auto done = [this, id = asked.id, number = asked.number](fetch::WholeAnswer answer) {
    auto shared = std::make_shared<const fetch::WholeAnswer>(std::move(answer));
    loop_->Post([this, id, number, shared] { OnAnswer(id, number, *shared); });
  };
  absl::StatusOr<fetch::Request> request = RequestFor(asked);
  if (!request.ok()) return done({.outcome = {.status = request.status()}});
  asked.handle = fetch::Ask(*client_, *std::move(request), std::move(done));
}

void ConsulFollower::OnAnswer(const Id& id, uint64_t number, const fetch::WholeAnswer& answer) {
  const auto it = asked_.find(id);
  if (it == asked_.end() || it->second->number != number) return;
  Asked& asked = *it->second;
  asked.handle = 0;
  asked.number = 0;
  LetGo(asked);
  const bool failed_before = !asked.query.trouble().empty();
  const bool good = Take(asked, answer);
  if (good && failed_before && asked.goes_first()) Recover();
  if (!good && asked.about == About::kLeader) LeaveServer();
  if (good && !std::exchange(asked.settled, true)) --unsettled_;
  EnqueueAt(asked, Clock::now() + std::max(PauseOf(asked, good), options_.least_interval));
  if (!good) AskForLeader();
  NoteComplete();
  Crowd();
  Fill();
}

// Whether it is an answer.
bool ConsulFollower::Take(Asked& asked, const fetch::WholeAnswer& answer) {
  ConsulQuery& query = asked.query;
  const Verdict verdict = query.TakeAnswer(answer);
  const bool optional = asked.about == About::kServiceDefaults || asked.about == About::kProxyDefaults;
  if (verdict == Verdict::kFailed && optional && query.http_status() == 403) {
    view_->SetRemark("forbidden-defaults", StrCat(asked.id, " cannot be read (", query.trouble(),
                                                  "): protocols come from tags and metadata alone"));
    view_->ForgetTrouble(asked.id);
    return true;
  }
  if (verdict == Verdict::kBehind) return false;
  if (verdict != Verdict::kFailed) {
    absl::Status status;
    if (verdict == Verdict::kNews) status = Read(asked, answer.body);
    if (verdict == Verdict::kNotFound && !optional) status = absl::NotFoundError("status 404");
    if (status.ok()) {
      query.Accept();
    } else {
      query.Reject(std::string(FromAbsl(status.message())));
    }
  }
  if (!query.trouble().empty()) {
    view_->NoteTrouble(asked.id, query.trouble(), query.failures());
    return false;
  }
  view_->ForgetTrouble(asked.id);
  view_->NoteAnswer(query.lag());
  return true;
}

absl::Status ConsulFollower::Read(Asked& asked, const std::string& body) {
  switch (asked.about) {
    case About::kLeader:
      return CheckConsulLeader(body);
    case About::kServices: {
      auto names = ReadConsulServices(reader_, body);
      if (names.ok()) SetServices(asked.datacenter, *names);
      return names.status();
    }
    case About::kService: {
      auto instances = ReadConsulInstances(reader_, body);
      if (!instances.ok()) return instances.status();
      services_[asked.service].instances[asked.datacenter] = *std::move(instances);
      Make(asked.service);
      return absl::OkStatus();
    }
    case About::kServiceDefaults: {
      auto protocols = ReadServiceProtocols(reader_, body);
      if (protocols.ok() && *protocols != protocols_) {
        protocols_ = *std::move(protocols);
        MakeAll();
      }
      return protocols.status();
    }
    case About::kProxyDefaults: {
      auto protocol = ReadDefaultProtocol(reader_, body);
      if (protocol.ok() && *protocol != default_protocol_) {
        default_protocol_ = *std::move(protocol);
        MakeAll();
      }
      return protocol.status();
    }
    case About::kIntentions: {
      auto intentions = ReadConsulIntentions(reader_, body);
      if (intentions.ok()) SetIntentions(*std::move(intentions));
      return intentions.status();
    }
  }
  return absl::OkStatus();
}

// Policies of all services, for what no intention is about is decided, too.
void ConsulFollower::SetIntentions(ConsulIntentions intentions) {
  const ConsulIntentions before = std::exchange(intentions_, std::move(intentions));
  if (std::exchange(intentions_known_, true) && before == intentions_) return;
  std::set<std::string> concerned;
  for (const ConsulIntentions* all : {&before, &std::as_const(intentions_)}) {
    for (const auto& [destination, sources] : *all) concerned.insert(destination);
  }
  for (const auto& [name, service] : services_) concerned.insert(name);
  for (const std::string& name : concerned) MakePolicy(name);
}

void ConsulFollower::MakePolicy(const std::string& service) {
  if (!intentions_known_ || service == "*") return;
  const std::string part = StrCat("intentions of ", service);
  if (!services_.contains(service) && !intentions_.contains(service)) return view_->Remove(part);
  PlatformPart policy = MakeIntentionPolicy(options_, intentions_, service);
  if (policy.objects.empty() && policy.diagnostics.empty()) return view_->Remove(part);
  view_->Put(part, std::move(policy));
}

// The list of a datacenter is whole: what it has no more is gone.
void ConsulFollower::SetServices(const std::string& datacenter, const std::vector<std::string>& names) {
  std::vector<std::pair<Id, std::string>> gone;
  for (const auto& [id, asked] : asked_) {
    if (asked->about == About::kService && asked->datacenter == datacenter &&
        !std::binary_search(names.begin(), names.end(), asked->service))
      gone.emplace_back(id, asked->service);
  }
  for (const auto& [id, service] : gone) {
    Drop(id);
    const auto it = services_.find(service);
    if (it == services_.end()) continue;
    it->second.instances.erase(datacenter);
    Make(service);
    if (!it->second.instances.empty()) continue;
    services_.erase(it);
    MakePolicy(service);
  }
  for (const std::string& name : names) {
    if (name == "consul") continue;  // the servers themselves
    const Id id = StrCat("service ", name, datacenter.empty() ? "" : " of ", datacenter);
    if (asked_.contains(id)) continue;
    services_[name].name = name;
    MakePolicy(name);
    Add(id, About::kService, datacenter, name);
  }
}

// Of several servers the next one is asked at once, until all had their turn.
milliseconds ConsulFollower::PauseOf(Asked& asked, bool good) const {
  if (asked.about != About::kLeader) return asked.query.Pause();
  if (good) return options_.leader_interval;
  return asked.query.failures() < options_.url.addresses.size() ? milliseconds(0) : asked.query.Pause();
}

// A question failed: is it the server?
void ConsulFollower::AskForLeader() {
  const auto it = asked_.find(kLeaderId);
  if (it != asked_.end() && it->second->number == 0 && it->second->query.trouble().empty())
    Enqueue(*it->second);
}

// The server knows no leader, or says nothing: whoever waits for its news would wait in vain.
void ConsulFollower::LeaveServer() {
  ++server_;
  for (auto& [id, asked] : asked_) {
    if (asked->number == 0) continue;
    Stop(*asked);
    Enqueue(*asked);
  }
}

// The platform answers again: nobody waits any longer.
void ConsulFollower::Recover() {
  for (auto& [id, asked] : asked_) {
    if (asked->number == 0 && !asked->query.trouble().empty()) Enqueue(*asked);
  }
}

void ConsulFollower::Make(const std::string& service) {
  const auto it = services_.find(service);
  if (it == services_.end()) return;
  ConsulService& known = it->second;
  const auto protocol = protocols_.find(service);
  known.name = service;
  known.protocol = protocol == protocols_.end() ? default_protocol_ : protocol->second;
  PlatformPart part = MakeConsulEntries(options_, known);
  if (part.objects.empty() && part.diagnostics.empty()) return view_->Remove(service);
  view_->Put(service, std::move(part));
}

void ConsulFollower::MakeAll() {
  for (const auto& [name, service] : services_) {
    if (!service.instances.empty()) Make(name);
  }
}

void ConsulFollower::NoteComplete() {
  if (unsettled_ == 0) view_->SetComplete();
  view_->SetRemark("crowded-source",
                   IsCrowded() ? StrCat("its ", services_asked_, " services take turns in ", options_.watches,
                                        " questions at once: a change may be seen after ",
                                        options_.round.count() / 1000, " s (option watches)")
                               : "");
}

}  // namespace fairlead::source
