#include "kube/list_watch.h"

#include <algorithm>
#include <utility>

#include "base/excerpt.h"
#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

using config::JsonFields;
using config::Node;
using Trouble = ListWatch::Trouble;

constexpr size_t kMostRefusalBytes = 64 << 10;
constexpr size_t kLongestVersion = 256;
constexpr size_t kLongestContinue = 16 << 10;
constexpr size_t kFewestObjects = 10;
constexpr size_t kMostStuck = 5;
// Of the bookmark that ends a streaming list.
constexpr char kEndMark[] = "k8s.io/initial-events-end";
constexpr char kEndlessList[] = "the list has no end";

// RFC 3986: what is not unreserved is escaped.
JsonFields Below(std::string_view key, const JsonFields* fields) {
  JsonFields all;
  if (fields != nullptr) all.below[std::string(key)] = *fields;
  return all;
}

// What of an object is not read may have the mark of a list's end.
void ReadEndMark(JsonFields* object) {
  const auto [metadata, made] = object->below.try_emplace("metadata");
  if (made) metadata->second.rest = object->rest;
  JsonFields& fields = metadata->second;
  const auto annotations = fields.below.find("annotations");
  const bool known = annotations != fields.below.end();
  if (known ? annotations->second.read : fields.rest == JsonFields::Rest::kRead) return;
  JsonFields& mark = fields.below["annotations"];
  mark.read = true;
  mark.rest = JsonFields::Rest::kSkipped;
  mark.below[kEndMark];
}

// What a server answers that has no streaming lists.
bool RefusesStreaming(int http_status) {
  return http_status == 400 || http_status == 405 || http_status == 406 || http_status == 422;
}

Trouble TroubleOf(int http_status) {
  switch (http_status) {
    case 401:
      return Trouble::kUnauthorized;
    case 403:
      return Trouble::kForbidden;
    case 404:
      return Trouble::kNotServed;
    default:
      return Trouble::kServer;
  }
}

// "403: pods is forbidden: …": of the server's Status.
std::string RefusalText(int code, std::string_view message) {
  constexpr size_t kLongest = 300;
  return StrCat(code, message.empty() ? "" : ": ", message.substr(0, kLongest));
}

}  // namespace

ListWatch::ListWatch(Options options, config::JsonReader* reader, Receiver* receiver)
    : options_(std::move(options)),
      event_fields_(Below("object", options_.fields)),
      reader_(reader),
      receiver_(receiver),
      random_(options_.seed),
      phase_(options_.streaming ? Phase::kStream : Phase::kList),
      streaming_(options_.streaming),
      chunk_(options_.chunk) {
  if (streaming_) ReadEndMark(&event_fields_.below["object"]);
}

ListWatch::Milliseconds ListWatch::Random(Milliseconds from, Milliseconds to) {
  return Milliseconds(
      std::uniform_int_distribution<Milliseconds::rep>(from.count(), std::max(from, to).count())(random_));
}

// Between a half and the whole of what doubles with each failure.
ListWatch::Milliseconds ListWatch::Backoff() {
  Milliseconds most = options_.first_backoff;
  for (size_t i = 1; i < failures_ && most < options_.most_backoff; ++i) most *= 2;
  most = std::min(most, options_.most_backoff);
  return Random(most / 2, most);
}

ListWatch::Target ListWatch::ListTarget() const {
  std::string query;
  const bool from_memory = from_memory_ && continue_.empty();
  if (from_memory) query = "&resourceVersion=0";
  if (chunk_ > 0) StrAppend(&query, "&limit=", chunk_);
  if (!continue_.empty()) StrAppend(&query, "&continue=", PercentEncoded(continue_));
  if (!options_.selector.empty()) StrAppend(&query, "&", options_.selector);
  if (!query.empty()) query.front() = '?';
  const bool whole = from_memory || chunk_ == 0;
  return {options_.path + query, whole ? Target::What::kWholeList : Target::What::kChunk};
}

std::string ListWatch::WatchTarget() {
  const auto watch = Milliseconds(options_.watch);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Random(watch, 2 * watch));
  ends_ = begun_ + seconds + std::chrono::seconds(30);
  const bool list = phase_ == Phase::kStream;
  return StrCat(options_.path,
                list ? "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=1" : "?watch=1",
                "&allowWatchBookmarks=true&resourceVersion=", list ? std::string() : PercentEncoded(version_),
                "&timeoutSeconds=", seconds.count(), options_.selector.empty() ? "" : "&", options_.selector);
}

std::optional<ListWatch::Target> ListWatch::TakeRequest(Time now) {
  if (running_ || cancel_ || now < due_) return std::nullopt;
  running_ = true;
  begun_ = heard_ = now;
  http_status_ = 0;
  saw_event_ = false;
  ends_ = now + std::chrono::minutes(10);
  if (phase_ != Phase::kList) return Target{WatchTarget()};
  scanner_.emplace(ListScanner::Limits{.most_item_bytes = options_.most_object_bytes});
  list_bytes_ = 0;
  if (continue_.empty()) {
    list_begun_ = false;
    list_objects_ = 0;
  }
  return ListTarget();
}

ListWatch::Time ListWatch::NextTick() const {
  if (!running_) return due_;
  const auto patience = 1 << std::min<size_t>(failures_, 2);
  const Milliseconds silence = phase_ == Phase::kWatch ? options_.silence : options_.list_silence * patience;
  return std::min(heard_ + silence, ends_);
}

void ListWatch::Tick(Time now) {
  if (!running_ || now < NextTick()) return;
  const bool list = phase_ != Phase::kWatch;
  StopStreaming();
  GiveUp(now, list ? "the list came to no end in time" : "the watch was silent for too long");
}

void ListWatch::Hurry(Time now) {
  if (!running_) due_ = std::min(due_, now);
}

void ListWatch::EndExchange() {
  running_ = false;
  searched_ = 0;
  body_ = std::string();
  scanner_.reset();
}

void ListWatch::Fail(Time now, Trouble trouble, std::string text, Milliseconds at_least) {
  EndExchange();
  ++failures_;
  trouble_ = trouble;
  trouble_text_ = Excerpt(text, 400);
  due_ = now + std::max(Backoff(), at_least);
}

// The exchange goes on for the server, not for us.
void ListWatch::GiveUp(Time now, std::string text) {
  cancel_ = true;
  Fail(now, Trouble::kUnreachable, std::move(text));
}

// A server may know nothing of the end of a list, or not come to it.
void ListWatch::StopStreaming() {
  if (phase_ == Phase::kStream) Relist();
}

void ListWatch::ListInstead(Time now) {
  refused_streaming_ = true;
  StopStreaming();
  EndExchange();
  due_ = now;
}

// A streaming list that failed is not tried again.
void ListWatch::Relist() {
  if (phase_ == Phase::kStream) streaming_ = false;
  phase_ = streaming_ ? Phase::kStream : Phase::kList;
  continue_.clear();
  chunks_ = 0;
  stuck_ = 0;
}

void ListWatch::Succeed() {
  failures_ = 0;
  trouble_ = Trouble::kNone;
  trouble_text_.clear();
}

void ListWatch::OnStatus(Time now, int http_status) {
  if (!running_) return;
  heard_ = now;
  http_status_ = http_status;
  if (http_status != 200 || phase_ == Phase::kList) return;
  trouble_ = Trouble::kNone;
  trouble_text_.clear();
  if (phase_ == Phase::kStream) receiver_->OnListBegin();
}

void ListWatch::OnBytes(Time now, std::string_view bytes) {
  if (!running_) return;
  heard_ = now;
  if (http_status_ != 200) {
    body_.append(bytes.substr(0, kMostRefusalBytes - std::min(kMostRefusalBytes, body_.size())));
    return;
  }
  if (phase_ == Phase::kList) return TakeItems(now, bytes);
  body_.append(bytes);
  TakeLines(now);
}

// The objects that are whole now.
void ListWatch::TakeItems(Time now, std::string_view bytes) {
  list_bytes_ += bytes.size();
  if (list_bytes_ > options_.most_list_bytes) {
    cancel_ = true;
    return OnEnd(now, {AnswerEnd::Reason::kTooLarge});
  }
  std::string trouble;
  const auto result = scanner_->Feed(bytes, [&](std::string_view item) {
    trouble = TakeItem(item);
    return trouble.empty();
  });
  if (result == ListScanner::Result::kSenseless) trouble = "the answer is no list";
  if (result == ListScanner::Result::kTooLarge) trouble = "an object of the list is too large";
  if (!trouble.empty()) GiveUp(now, std::move(trouble));
}

// What is wrong with it; "": nothing.
std::string ListWatch::TakeItem(std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader_->Read(text, options_.fields);
  if (!tree.ok()) return std::string(FromAbsl(tree.status().message()));
  if (++list_objects_ > options_.most_chunks * options_.chunk) {
    Relist();
    return kEndlessList;
  }
  BeginList();
  receiver_->OnObject(tree->root());
  return "";
}

void ListWatch::BeginList() {
  if (!std::exchange(list_begun_, true)) receiver_->OnListBegin();
}

// Smaller ones, where it did that already: the objects are large.
void ListWatch::AskForChunks() {
  if (std::exchange(from_memory_, false)) return;
  chunk_ = std::max(kFewestObjects, (chunk_ == 0 ? options_.chunk : chunk_) / 4);
}

void ListWatch::OnEnd(Time now, const AnswerEnd& end) {
  if (!running_) return;
  if (end.reason == AnswerEnd::Reason::kBroken && http_status_ == 0)
    return Fail(now, Trouble::kUnreachable, end.message);
  if (http_status_ != 200) return OnRefusal(now, end);
  if (phase_ != Phase::kList) return EndWatch(now, end);
  if (end.reason == AnswerEnd::Reason::kTooLarge) {
    AskForChunks();
    return Fail(now, Trouble::kServer, "the list is too large");
  }
  if (end.reason == AnswerEnd::Reason::kBroken) return Fail(now, Trouble::kUnreachable, end.message);
  TakeListEnd(now);
}

void ListWatch::OnGoneVersion(Time now, std::string text) {
  from_memory_ = false;
  if (phase_ == Phase::kList && !continue_.empty()) {
    // A server that forgets too fast for chunks is asked for all at once.
    if (++expired_lists_ >= 2) chunk_ = 0;
  }
  Relist();
  Fail(now, Trouble::kServer, std::move(text));
}

void ListWatch::OnRefusal(Time now, const AnswerEnd& end) {
  if (phase_ == Phase::kStream && RefusesStreaming(http_status_)) return ListInstead(now);
  std::string message;
  if (const auto status = reader_->Read(body_); status.ok()) message = status->Find("message").String();
  std::string text = RefusalText(http_status_, message);
  const bool senseless = (phase_ == Phase::kWatch || from_memory_) && http_status_ == 400;
  if (http_status_ == 410 || senseless) return OnGoneVersion(now, std::move(text));
  if (phase_ != Phase::kList && http_status_ >= 500 && ++stuck_ >= kMostStuck) Relist();
  Milliseconds at_least{0};
  if (end.retry_after) at_least = std::min(Milliseconds(*end.retry_after), options_.most_retry_after);
  at_least += Random(Milliseconds(0), at_least / 10);
  Fail(now, TroubleOf(http_status_), std::move(text), at_least);
}

void ListWatch::TakeListEnd(Time now) {
  const absl::StatusOr<config::Tree> tree = reader_->Read(scanner_->rest());
  if (!tree.ok()) return Fail(now, Trouble::kUnreachable, std::string(FromAbsl(tree.status().message())));
  const Node metadata = tree->Find("metadata"), items = tree->Find("items");
  const std::string_view version = metadata.Find("resourceVersion").String();
  const std::string_view next = metadata.Find("continue").String();
  if (version.empty() || version.size() > kLongestVersion || next.size() > kLongestContinue ||
      (items && !items.IsSequence() && !items.IsNull()))
    return Fail(now, Trouble::kUnreachable, "the answer is no list");
  if (++chunks_ > options_.most_chunks || (!next.empty() && next == continue_)) {
    Relist();
    return Fail(now, Trouble::kUnreachable, kEndlessList);
  }
  EndExchange();
  BeginList();
  Succeed();
  due_ = now;
  continue_ = next;
  if (!continue_.empty()) return;
  EndList(version);
}

void ListWatch::EndList(std::string_view version) {
  version_ = version;
  synced_ = true;
  from_memory_ = false;
  expired_lists_ = stuck_ = 0;
  chunks_ = 0;
  if (chunk_ == 0) chunk_ = options_.chunk;
  phase_ = Phase::kWatch;
  receiver_->OnListEnd();
}

bool ListWatch::IsEndOfList(Node object) const {
  return phase_ == Phase::kStream &&
         object.Find("metadata").Find("annotations").Find(kEndMark).String() == "true";
}

void ListWatch::TakeLines(Time now) {
  size_t begin = 0;
  for (;;) {
    const size_t end = body_.find('\n', std::max(begin, searched_));
    if (end == std::string::npos) break;
    const std::string_view line = Trim(std::string_view(body_).substr(begin, end - begin));
    begin = end + 1;
    searched_ = begin;
    if (!line.empty()) TakeEvent(now, line);
    if (!running_) return;  // it ended by the event
  }
  body_.erase(0, begin);
  searched_ = body_.size();
  if (body_.size() <= options_.most_object_bytes) return;
  cancel_ = true;
  Relist();
  Fail(now, Trouble::kServer, "an event of the watch is too large");
}

void ListWatch::TakeEvent(Time now, std::string_view line) {
  const absl::StatusOr<config::Tree> tree = reader_->Read(line, &event_fields_);
  const Node object = tree.ok() ? tree->Find("object") : Node();
  const std::string_view type = tree.ok() ? tree->Find("type").String() : "";
  if (!object.IsMapping() || type.empty()) {
    cancel_ = true;
    Relist();
    return Fail(now, Trouble::kUnreachable, "an event of the watch is none");
  }
  if (type == "ERROR") return TakeError(now, object);
  if (type == "ADDED" || type == "MODIFIED") receiver_->OnObject(object);
  if (type == "DELETED") receiver_->OnGone(object);
  const std::string_view version = object.Find("metadata").Find("resourceVersion").String();
  if (!version.empty() && version.size() <= kLongestVersion) {
    version_ = version;
    if (type == "BOOKMARK" && IsEndOfList(object)) EndList(version);
  }
  saw_event_ = true;
  stuck_ = 0;
  Succeed();
}

// A Status inside of the stream, after which nothing comes.
void ListWatch::TakeError(Time now, Node status) {
  const auto code = static_cast<int>(std::clamp<int64_t>(status.Find("code").Int().value_or(500), 0, 999));
  std::string text = RefusalText(code, status.Find("message").String());
  const int64_t seconds = status.Find("details").Find("retryAfterSeconds").Int().value_or(0);
  const auto retry = std::chrono::seconds(std::clamp<int64_t>(seconds, 0, 86'400));
  cancel_ = true;
  // A server whose etcd does not report progress says so as the first event.
  if (phase_ == Phase::kStream && !saw_event_ && code == 500) return ListInstead(now);
  if (code == 410) return OnGoneVersion(now, std::move(text));
  if (code >= 500 && ++stuck_ >= kMostStuck) Relist();
  Fail(now, TroubleOf(code), std::move(text), std::min(Milliseconds(retry), options_.most_retry_after));
}

// Servers end watches after their time. One that ends at once and has said nothing is no success.
void ListWatch::EndWatch(Time now, const AnswerEnd& end) {
  const bool short_lived = now - begun_ < std::chrono::seconds(1) && !saw_event_;
  if (phase_ == Phase::kStream) {
    StopStreaming();
    return Fail(now, Trouble::kUnreachable, "the streaming list came to no end");
  }
  if (end.reason != AnswerEnd::Reason::kWhole || short_lived) {
    return Fail(now, Trouble::kUnreachable, end.message.empty() ? "the watch ended at once" : end.message);
  }
  EndExchange();
  Succeed();
  due_ = now;
}

}  // namespace fairlead::kube
