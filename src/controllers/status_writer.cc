#include "controllers/status_writer.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "controllers/metrics.h"

namespace fairlead::controllers {
namespace {

using gateway_api::StatusOf;
using kube::ApiRequest;

LogScope status_log("status");

// What is sent must be over before another can lead: see ElectionOptions.
constexpr std::chrono::seconds kLimit{5};

// What an API server has, as the source handed it over; other objects have no place to write to.
bool IsOfServer(const config::ConfigObject& object) {
  return object.origin().file.empty() && object.cluster().empty() && !object.meta().resource_version.empty();
}

std::string Describe(const StatusOf& status) { return config::Describe(config::KeyOf(*status.object)); }

std::string Text(const nlohmann::ordered_json& object, const nlohmann::ordered_json::json_pointer& at) {
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : std::string();
}

}  // namespace

StatusWriter::StatusWriter(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer), soon_(writer, options_.quiet, [this] { Look(); }) {}

void StatusWriter::OnLeading() {
  whole_ = true;
  soon_.Plan();
}

std::string StatusWriter::Now() const {
  if (options_.now) return options_.now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

bool StatusWriter::HasVerdict(const StatusOf& status) const {
  OrderedJson without = status.status;
  gateway_api::RemoveProxyVerdicts(options_.verdicts, &without);
  return without != status.status;
}

void StatusWriter::OnVerdictFound(const config::ConfigPtr& object) {
  const Key key{config::InfoOf(object->kind()).name, object->ns(), object->name()};
  const auto* const now = seen_.Find(key);
  if (now != nullptr && HasVerdict(**now)) return;
  emptied_.insert_or_assign(key, StatusOf{object, OrderedJson::object()});
  waiting_.insert(key);
  Pump();
}

void StatusWriter::Look() {
  Statuses now = options_.statuses();
  const bool whole = whole_.exchange(false);
  if (whole) sent_.clear();
  now.ForEachDifference(whole ? Statuses() : seen_, [this](const Key& key, const auto* was, const auto* is) {
    waiting_.insert(key);
    emptied_.erase(key);
    const bool had = was != nullptr && !HasWholeStatus(*(*was)->object) && HasVerdict(**was);
    if (had && (is == nullptr || !HasVerdict(**is)))
      emptied_.insert_or_assign(key, StatusOf{(is == nullptr ? *was : *is)->object, OrderedJson::object()});
  });
  seen_ = std::move(now);
  Pump();
}

void StatusWriter::Pump() {
  for (auto it = waiting_.begin(); it != waiting_.end() && running_.size() < options_.most_at_once;) {
    const Key key = *it;
    if (running_.contains(key)) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    if (!Begin(key)) emptied_.erase(key);
  }
}

// Whether it has something to do.
bool StatusWriter::Begin(const Key& key) {
  const auto* const found = seen_.Find(key);
  const auto emptied = emptied_.find(key);
  if (found == nullptr && emptied == emptied_.end()) {
    sent_.erase(key);
    return false;
  }
  const StatusOf status = found != nullptr ? **found : emptied->second;
  const bool has_place = options_.has_place ? options_.has_place(*status.object) : IsOfServer(*status.object);
  if (!has_place || !options_.leads(status.object->kind())) return false;
  const bool swept = emptied != emptied_.end();
  if (!swept && IsDone(key, status)) return false;
  if (options_.kept_apart ||
      (!HasWholeStatus(*status.object) && (swept || status.status.contains("conditions")))) {
    ReadFirst(key, status);
    return true;
  }
  const OrderedJson before = StatusOnServer(*status.object);
  const OrderedJson document = WithTimes(status.status, before, Now());
  if (SameJson(document, before)) {
    sent_.erase(key);
    return false;
  }
  Send(key, status, status.object->meta().resource_version, document);
  return true;
}

// The same was sent for this version of the object, or has led to it.
bool StatusWriter::IsDone(const Key& key, const StatusOf& status) const {
  const auto sent = sent_.find(key);
  if (sent == sent_.end() || sent->second.failures > 0) return false;
  const std::string& version = status.object->meta().resource_version;
  return sent->second.wanted == status.status &&
         (version == sent->second.before || version == sent->second.after);
}

// Only as long as this replica leads.
ApiRequest StatusWriter::Held(ApiRequest request, config::Kind kind) const {
  request.limit = kLimit;
  request.valid = [this, kind] { return options_.leads(kind); };
  return request;
}

void StatusWriter::ReadFirst(const Key& key, const StatusOf& status) {
  running_.insert(key);
  ApiRequest request;
  request.path = PathOf(*status.object, "");
  writer_->Send(Held(std::move(request), status.object->kind()),
                [this, key, status](const Answer& answer) { OnRead(key, status, answer); });
}

void StatusWriter::OnRead(const Key& key, const StatusOf& status, const Answer& answer) {
  if (absl::IsNotFound(answer.status)) {
    sent_.erase(key);
    return End(key);
  }
  const auto live = answer.status.ok() ? ParseOrderedJson(answer.body) : std::nullopt;
  if (!live || !live->is_object()) return Again(key, answer);
  const auto found = live->find("status");
  const OrderedJson before = found == live->end() ? OrderedJson() : *found;
  const std::string version = Text(*live, "/metadata/resourceVersion"_json_pointer);
  if (!HasWholeStatus(*status.object)) {
    const OrderedJson document = MergedWith(before, status.status, options_.verdicts, Now());
    OrderedJson after = before.is_object() ? before : OrderedJson::object();
    after.merge_patch(document);
    const bool none = !before.contains("conditions") && document["conditions"].empty();
    if (SameJson(after, before) || (none && document.size() == 1)) {
      sent_.insert_or_assign(key, Sent{status.status, status.object->meta().resource_version, version});
      if (!waiting_.contains(key)) emptied_.erase(key);
      return End(key);
    }
    return Send(key, status, version, document);
  }
  if (options_.kept_apart) return OnReadApart(key, status, version, before);
  // Where it says something else, the object's next version comes, and its status is made of that.
  const int64_t generation = live->value("/metadata/generation"_json_pointer, int64_t{0});
  const OrderedJson known = StatusOnServer(*status.object);
  if (generation != status.object->meta().generation || !SameJson(before, known)) return Again(key, answer);
  Send(key, status, version, WithTimes(status.status, known, Now()));
}

void StatusWriter::OnReadApart(const Key& key, const StatusOf& status, const std::string& version,
                               const OrderedJson& before) {
  const std::string& known = status.object->meta().resource_version;
  if (version != known) return Again(key, Answer());
  const OrderedJson document = WithTimes(status.status, before, Now());
  if (!SameJson(document, before)) return Send(key, status, version, document);
  sent_.insert_or_assign(key, Sent{status.status, known, version});
  End(key);
}

void StatusWriter::Send(const Key& key, const StatusOf& status, const std::string& version,
                        const OrderedJson& document) {
  running_.insert(key);
  writer_->Send(Held(StatusRequest(*status.object, version, document), status.object->kind()),
                [this, key, status, version](const Answer& answer) { OnSent(key, status, version, answer); });
}

void StatusWriter::OnSent(const Key& key, const StatusOf& status, const std::string& version,
                          const Answer& answer) {
  const std::string& known = status.object->meta().resource_version;
  if (answer.status.ok()) {
    ++written_;
    Metrics().statuses.Add();
    const auto object = ParseOrderedJson(answer.body);
    const std::string after = object ? Text(*object, "/metadata/resourceVersion"_json_pointer) : "";
    sent_.insert_or_assign(key, Sent{status.status, known, after});
    if (!waiting_.contains(key)) emptied_.erase(key);
    return End(key);
  }
  if (absl::IsAborted(answer.status)) {
    Metrics().status_conflicts.Add();
    if (version == known) return ReadFirst(key, status);
    return Again(key, answer);
  }
  if (absl::IsCancelled(answer.status) || absl::IsNotFound(answer.status)) return End(key);
  Metrics().status_errors.Add();
  if (absl::IsUnavailable(answer.status) || absl::IsDeadlineExceeded(answer.status) ||
      absl::IsUnauthenticated(answer.status) || absl::IsResourceExhausted(answer.status))
    return Again(key, answer);
  status_log.Warn("the status of {} is not written: {}", Describe(status), FromAbsl(answer.status.message()));
  sent_.insert_or_assign(key, Sent{status.status, known, ""});
  End(key);
}

// After a while, unless something new is said of it before.
void StatusWriter::Again(const Key& key, const Answer& answer) {
  if (absl::IsCancelled(answer.status)) return End(key);
  Sent& sent = sent_[key];
  const auto pause = std::min(options_.first_retry * (1 << std::min(sent.failures, 10)), options_.most_retry);
  if (++sent.failures == 3 && !answer.status.ok())
    status_log.Warn("the status of {} {}/{} waits: {}", key.kind, key.ns.str(), key.name.str(),
                    FromAbsl(answer.status.message()));
  writer_->Run(
      [this, key] {
        waiting_.insert(key);
        Pump();
      },
      Clock::now() + pause);
  End(key);
}

void StatusWriter::End(const Key& key) {
  running_.erase(key);
  Pump();
}

}  // namespace fairlead::controllers
