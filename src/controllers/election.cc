#include "controllers/election.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "controllers/metrics.h"

namespace fairlead::controllers {
namespace {

using kube::ApiRequest;
using Json = nlohmann::json;
using Milliseconds = std::chrono::milliseconds;
using Verb = ApiRequest::Verb;

LogScope leader_log("leader");

// A holder that wants more is not heeded.
constexpr std::chrono::minutes kLongestLease{10};
constexpr double kJitter = 1.2;
// The keys of replicas that serve the cluster from another one begin so. Source: Istio's remoteIstiodPrefix.
constexpr char kRemote = '^';
// Its label istio.io/rev is the default revision. Source: Istio's pkg/revisions.
constexpr char kWebhooks[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr char kDefaultTag[] = "istio-revision-tag-default";
constexpr char kUsualNamespace[] = "istio-system";

std::string LockName(const ElectionOptions& options) {
  return options.per_revision ? StrCat(options.lock, "-", options.revision) : options.lock;
}

// For metrics and people.
std::string NameOf(const std::string& lock, const ElectionOptions& options) {
  return options.other_cluster.empty() ? lock : StrCat(lock, "@", options.other_cluster);
}

std::string RevisionOfTag(const std::string& body) {
  const auto webhook = ParseJson(body);
  if (!webhook) return "";
  const Json labels = webhook->value("/metadata/labels"_json_pointer, Json());
  return JsonString(labels, "istio.io/rev");
}

}  // namespace

Election::Election(ElectionOptions options, kube::ApiWriter* writer, Callbacks callbacks)
    : options_(std::move(options)),
      lock_(LockName(options_)),
      named_(NameOf(lock_, options_)),
      writer_(writer),
      callbacks_(std::move(callbacks)),
      gauge_(LeaderGauge(named_)),
      random_(options_.seed) {}

void Election::Start() {
  gauge_.Set(0);
  writer_->Run([this] {
    if (options_.enabled) return Step();
    Lead(Clock::time_point::max() - options_.renew_limit);
  });
}

bool Election::Leads() const {
  const auto until = leads_until_.load();
  return until != 0 && Clock::now().time_since_epoch().count() < until;
}

ApiRequest Election::Request(Verb verb) const {
  const std::string collection = LocksPath(options_.object, options_.ns);
  ApiRequest request;
  request.verb = verb;
  request.path = verb == Verb::kCreate ? collection : kube::ObjectPath(collection, lock_);
  request.urgent = true;
  request.tries = 1;  // the next step is the next try
  request.limit = std::max(Milliseconds(100), options_.renew_limit - options_.retry);
  return request;
}

void Election::Step() {
  if (released_) return;
  if (leading_ && !Leads()) Lose("it could not be renewed in time");
  if (!lease_) return Read();
  if (leading_) return Take();
  Read();
}

void Election::Later() {
  Milliseconds pause = options_.retry;
  if (!leading_) {
    const auto most = static_cast<int64_t>(static_cast<double>(pause.count()) * kJitter);
    pause += Milliseconds(std::uniform_int_distribution<int64_t>(0, most)(random_));
  }
  writer_->Run([this] { Step(); }, Clock::now() + pause);
}

void Election::Note(std::string trouble) {
  if (trouble != trouble_ && !trouble.empty()) leader_log.Warn("lock {}: {}", named_, trouble);
  trouble_ = std::move(trouble);
}

void Election::Read() {
  writer_->Send(Request(Verb::kGet), [this](const Answer& answer) { OnRead(answer); });
}

void Election::OnRead(const Answer& answer) {
  if (absl::IsCancelled(answer.status) || released_) return;
  if (absl::IsNotFound(answer.status)) {
    lease_.reset();
    seen_ = {};
    return Take();
  }
  std::optional<Json> lease = answer.status.ok() ? ParseJson(answer.body) : std::nullopt;
  if (!lease || !lease->is_object()) {
    Note(answer.status.ok() ? std::string("what the API server has is no lock")
                            : std::string(FromAbsl(answer.status.message())));
    return Later();
  }
  Note("");
  Observe(*std::move(lease));
  Judge();
}

// What does not change is not renewed, whatever its times say.
void Election::Observe(Json lease) {
  LeaseRecord record = RecordOf(options_.object, lease);
  if (!lease_ || record != seen_) {
    seen_ = std::move(record);
    seen_at_ = Clock::now();
  }
  lease_ = std::move(lease);
}

bool Election::HeldByOther() const {
  if (seen_.holder.empty() || seen_.holder == options_.identity) return false;
  const auto holds =
      std::min<Milliseconds>(std::chrono::seconds(std::max<int64_t>(seen_.seconds, 0)), kLongestLease);
  return Clock::now() < seen_at_ + holds;
}

void Election::Judge() {
  const bool ours = seen_.holder == options_.identity;
  if (leading_ && !ours) Lose(StrCat(seen_.holder.empty() ? "nobody" : seen_.holder, " holds it"));
  if (!HeldByOther()) return Take();
  if (options_.per_revision) return Later();
  if (seen_.key == StrCat(kRemote, options_.revision))
    return options_.other_cluster.empty() ? Take() : Later();
  if (seen_.key == options_.revision) return Later();
  AskDefaultRevision();
}

void Election::AskDefaultRevision() {
  ApiRequest request = Request(Verb::kGet);
  request.path = kube::ObjectPath(
      kWebhooks, options_.ns == kUsualNamespace ? kDefaultTag : StrCat(kDefaultTag, "-", options_.ns));
  writer_->Send(std::move(request), [this](const Answer& answer) {
    if (absl::IsCancelled(answer.status) || released_) return;
    if (!answer.status.ok() || RevisionOfTag(answer.body) != options_.revision) return Later();
    leader_log.Info("lock {}: taken from {}, as {} is the default revision", named_, seen_.holder,
                    options_.revision);
    Take();
  });
}

void Election::Take() {
  const std::string now = MicroTimeText(std::chrono::system_clock::now());
  LeaseRecord record;
  record.holder = options_.identity;
  if (!options_.per_revision) record.key = options_.revision;
  if (!options_.other_cluster.empty()) record.key = StrCat(kRemote, options_.revision);
  record.seconds = std::chrono::ceil<std::chrono::seconds>(options_.lease).count();
  record.renewed = record.acquired = now;
  const bool held = lease_ && seen_.holder == options_.identity;
  if (held) record.acquired = seen_.acquired;
  if (lease_) record.transitions = seen_.transitions + (held ? 0 : 1);
  Put(std::move(record), !lease_.has_value());
}

void Election::Put(LeaseRecord record, bool create) {
  Json lease = create ? NewLock(options_.object, options_.ns, lock_) : *lease_;
  SetRecord(options_.object, record, &lease);
  ApiRequest request = Request(create ? Verb::kCreate : Verb::kUpdate);
  request.body = JsonText(lease);
  writer_->Send(std::move(request), [this, record = std::move(record), sent = Clock::now()](
                                        const Answer& answer) { OnPut(record, sent, answer); });
}

// A renewal counts from when it was sent: others see it later.
void Election::OnPut(const LeaseRecord& record, Clock::time_point sent, const Answer& answer) {
  if (absl::IsCancelled(answer.status) || released_) return;
  if (!answer.status.ok()) {
    const bool raced = absl::IsAborted(answer.status) || absl::IsAlreadyExists(answer.status) ||
                       absl::IsNotFound(answer.status);
    Note(raced ? "" : std::string(FromAbsl(answer.status.message())));
    if (raced) lease_.reset();
    return raced && leading_ ? Read() : Later();
  }
  Note("");
  std::optional<Json> lease = ParseJson(answer.body);
  if (lease && lease->is_object()) {
    lease_ = std::move(lease);
    seen_ = RecordOf(options_.object, *lease_);
  } else {
    lease_.reset();
    seen_ = record;
  }
  seen_at_ = Clock::now();
  Lead(sent);
  Later();
}

void Election::Lead(Clock::time_point since) {
  leads_until_ = (since + options_.renew_limit).time_since_epoch().count();
  if (!Leads() || std::exchange(leading_, true)) return;
  ++terms_;
  gauge_.Set(1);
  leader_log.Info("lock {}: obtained by {}", named_, options_.identity);
  if (callbacks_.won) callbacks_.won();
}

void Election::Lose(std::string_view why) {
  leads_until_ = 0;
  leading_ = false;
  gauge_.Set(0);
  leader_log.Info("lock {}: lost: {}", named_, why);
  if (callbacks_.lost) callbacks_.lost();
}

void Election::Release(std::function<void()> done) {
  const bool led = Leads();
  released_ = true;
  leads_until_ = 0;
  gauge_.Set(0);
  if (!led || !options_.enabled) return done();
  ApiRequest read = Request(Verb::kGet);
  read.limit = Milliseconds(1000);
  writer_->Send(std::move(read),
                [this, done = std::move(done)](const Answer& answer) { GiveBack(answer, done); });
}

void Election::GiveBack(const Answer& read, const std::function<void()>& done) {
  std::optional<Json> lease = read.status.ok() ? ParseJson(read.body) : std::nullopt;
  if (!lease || !lease->is_object()) return done();
  LeaseRecord record = RecordOf(options_.object, *lease);
  if (record.holder != options_.identity) return done();
  const std::string now = MicroTimeText(std::chrono::system_clock::now());
  record = {"", "", now, now, 1, record.transitions};
  SetRecord(options_.object, record, &*lease);
  ApiRequest write = Request(Verb::kUpdate);
  write.limit = Milliseconds(1000);
  write.body = JsonText(*lease);
  writer_->Send(std::move(write), [done](const Answer& /*answer*/) { done(); });
}

}  // namespace fairlead::controllers
