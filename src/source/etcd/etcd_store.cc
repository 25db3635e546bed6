#include "source/etcd/etcd_store.h"

#include <pthread.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "source/etcd/etcd_objects.h"
#include "source/etcd/sealed_text.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

LogScope store_log("source");

// A request must be over before its sender gives it up; a member that is cut off answers nothing.
EtcdOptions OptionsOf(EtcdOptions options) {
  options.connect = std::min<std::chrono::milliseconds>(options.connect, 1s);
  options.call = std::min<std::chrono::milliseconds>(options.call, 3s);
  return options;
}

// Whoever waits behind others asks nobody for so long after no member answered.
constexpr auto kDown = 1s;

bool IsDown(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdStore>> EtcdStore::Open(Options options) {
  std::string key;
  if (!options.etcd.ca_key_file.empty()) {
    auto read = ReadSealingKey(options.etcd.ca_key_file);
    if (!read.ok()) return read.status();
    key = *std::move(read);
  }
  options.etcd = OptionsOf(std::move(options.etcd));
  return std::unique_ptr<EtcdStore>(new EtcdStore(std::move(options), std::move(key)));
}

EtcdStore::EtcdStore(Options options, std::string sealing_key)
    : options_(std::move(options)),
      api_(options_.etcd, std::move(sealing_key), options_.entry_seconds),
      urgent_client_(options_.etcd),
      lease_client_(options_.etcd),
      watch_client_(options_.etcd),
      patient_("etcd-store", options_.most_at_once) {
  for (size_t i = 0; i < options_.most_at_once + 2; ++i) {
    clients_.push_back(std::make_unique<EtcdClient>(options_.etcd));
    free_.push_back(clients_.back().get());
  }
  leases_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "etcd-leases");
    KeepLeases();
  });
}

EtcdStore::~EtcdStore() { Stop(); }

void EtcdStore::Stop() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wake_.notify_all();
  for (EtcdClient* one : {&urgent_client_, &lease_client_, &watch_client_}) one->Stop();
  for (const auto& one : clients_) one->Stop();
  urgent_.Stop();
  patient_.Stop();
  leases_.join();
  if (watch_.joinable()) watch_.join();
}

bool EtcdStore::Pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, time, [this] { return stopping_; });
}

EtcdClient* EtcdStore::Borrow() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || !free_.empty(); });
  if (free_.empty()) return nullptr;
  EtcdClient* const client = free_.back();
  free_.pop_back();
  return client;
}

void EtcdStore::Return(EtcdClient* client) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(client);
  }
  wake_.notify_all();
}

kube::ApiAnswer EtcdStore::AnswerWith(EtcdClient& client, const kube::ApiRequest& request) {
  if (!request.urgent) {
    std::lock_guard lock(mutex_);
    if (Clock::now() < down_until_) return {.status = absl::UnavailableError("no member of etcd answers")};
  }
  client.SetDeadline(Clock::now() + request.limit);
  absl::StatusOr<std::string> answer = api_.Answer(client, request);
  if (answer.ok()) return {.status = absl::OkStatus(), .http_status = 200, .body = *std::move(answer)};
  if (IsDown(answer.status())) {
    std::lock_guard lock(mutex_);
    down_until_ = Clock::now() + kDown;
  }
  return {.status = answer.status()};
}

void EtcdStore::Ask(kube::ApiRequest request, std::function<void(fetch::WholeAnswer)> done) {
  const auto tell = [done = std::move(done)](kube::ApiAnswer answer) {
    fetch::WholeAnswer whole;
    whole.outcome.status = answer.status;
    whole.outcome.http_status = answer.http_status;
    whole.body = std::move(answer.body);
    done(std::move(whole));
  };
  if (request.urgent) {
    return urgent_.Submit(Urgency::kUrgent, [this, request = std::move(request), tell] {
      tell(AnswerWith(urgent_client_, request));
    });
  }
  patient_.Submit(Urgency::kPatient,
                  [this, request = std::move(request), tell] { tell(AskAndWait(request)); });
}

kube::ApiAnswer EtcdStore::AskAndWait(const kube::ApiRequest& request) {
  EtcdClient* const client = Borrow();
  if (client == nullptr) return {.status = absl::CancelledError("stopped")};
  kube::ApiAnswer answer = AnswerWith(*client, request);
  Return(client);
  return answer;
}

void EtcdStore::KeepLeases() {
  while (Pause(std::chrono::milliseconds(options_.entry_seconds * 1000 / 5))) {
    lease_client_.SetDeadline(Clock::now() + 10s);
    api_.KeepEntries(lease_client_);
  }
}

absl::StatusOr<std::vector<config::ObjectKey>> EtcdStore::SweepStatuses() {
  EtcdClient* const client = Borrow();
  if (client == nullptr) return absl::CancelledError("stopped");
  client->SetDeadline(Clock::now() + 60s);
  const std::string prefix = StrCat(options_.etcd.ControlPrefix(), "status/");
  absl::StatusOr<EtcdRange> statuses = client->ReadAll(prefix);
  std::vector<config::ObjectKey> left;
  absl::Status failed = statuses.status();
  for (size_t i = 0; statuses.ok() && i < statuses->keys.size(); ++i) {
    const EtcdKey& status = statuses->keys[i];
    const auto object = ObjectOfEtcdKey(status.key, prefix);
    if (!object) continue;
    const std::string key = EtcdKeyOf(*object, options_.etcd.Prefix());
    EtcdWrite absent{key, std::nullopt, 0};
    absent.only_checked = true;
    const auto outcome = client->Write({absent, {status.key, std::nullopt, status.mod_revision}});
    if (!outcome.ok()) failed.Update(outcome.status());
    if (!outcome.ok()) break;
    if (!outcome->succeeded) left.push_back(*object);
  }
  Return(client);
  if (!failed.ok()) return failed;
  return left;
}

void EtcdStore::WatchSecrets(std::function<void()> changed) {
  if (!keeps_authority()) return;
  watch_ = RequireThread([this, changed = std::move(changed)] {
    pthread_setname_np(pthread_self(), "etcd-secrets");
    Watch(changed);
  });
}

// From now on; what was missed is looked at as soon as there is a watch again.
void EtcdStore::Watch(const std::function<void()>& changed) {
  const std::string prefix = StrCat(options_.etcd.ControlPrefix(), "secrets/");
  RetryPause pause(200ms, 15s, options_.etcd.seed);
  do {
    const absl::Status status =
        watch_client_.Watch({prefix, EndOfPrefix(prefix), 0}, [&](const EtcdNews& news) {
          pause.Reset();
          if (news.created || !news.events.empty()) changed();
          return true;
        });
    if (absl::IsCancelled(status)) return;
    if (pause.failures() == 3)
      store_log.Warn("{}: Secrets are not watched: {}", options_.etcd.url.Name(), FromAbsl(status.message()));
  } while (Pause(pause.Next()));
}

}  // namespace fairlead::source
