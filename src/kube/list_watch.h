#ifndef FAIRLEAD_KUBE_LIST_WATCH_H_
#define FAIRLEAD_KUBE_LIST_WATCH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "config/read/json_reader.h"
#include "config/tree.h"
#include "kube/list_scanner.h"

namespace fairlead::kube {

// How an answer ended, for ListWatch.
struct AnswerEnd {
  enum class Reason : uint8_t { kWhole, kBroken, kTooLarge };
  Reason reason = Reason::kWhole;
  std::string message = {};  // why it broke, for people
  std::optional<std::chrono::seconds> retry_after = {};
};

// Keeps a copy of one collection of an API server up to date: lists it, then watches it from there on. With
// Options::streaming the list comes as the first events of the watch, where the server can. Does no I/O and
// has no clock: it is fed bytes and the time, says what to ask next, and hands objects to a receiver, those
// of a list while it arrives. One exchange at a time. One thread at a time.
//
// The first list that does not stream is of what the server has in its memory ("Any"), in one answer: that
// costs the server no reading of etcd. Lists after it, and after one that failed for its size or its version,
// come in chunks and are the newest.
//
// What the server says is believed in this much: a list is the whole collection once its last chunk came; a
// version that the server no longer knows (410) is listed anew; what a new list has no more is gone. Failures
// are repeated after a while that doubles, up to Options::most_backoff, with jitter.
// Source: kubernetes.io/docs/reference/using-api/api-concepts (watches, bookmarks, chunks, 410 Gone,
// streaming lists).
class ListWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  using Milliseconds = std::chrono::milliseconds;

  // Nodes are valid during the call alone.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // A list begins: what of before is not in it is gone when it ends. Again where it had to begin anew; then
    // some of its objects may have come already.
    virtual void OnListBegin() = 0;
    virtual void OnObject(config::Node object) = 0;  // it is there now, new or changed or neither
    virtual void OnListEnd() = 0;
    virtual void OnGone(config::Node object) = 0;  // deleted; `object` is the last that was known of it
  };

  struct Options {
    std::string path;                            // "/api/v1/pods"
    std::string selector = {};                   // "fieldSelector=type!%3Da"; "": all objects
    const config::JsonFields* fields = nullptr;  // of an object; null: all. Must outlive this
    bool streaming = false;                      // whether to ask for a streaming list first
    size_t chunk = 500;                          // objects asked for at once
    size_t most_list_bytes = size_t{4} << 30;    // of one answer
    size_t most_object_bytes = 16 << 20;         // of one object of a list or one event of a watch
    size_t most_chunks = 20'000;        // of one list; of each no more than `chunk` objects on average
    std::chrono::seconds watch{300};    // how long to watch at once: up to twice that
    Milliseconds silence{150'000};      // a watch without a byte for so long is given up
    Milliseconds list_silence{15'000};  // the same of a list; up to four times that after failures
    Milliseconds first_backoff{500}, most_backoff{30'000};
    Milliseconds most_retry_after{300'000};  // a server that wants to be left alone for longer is not heeded
    uint64_t seed = 0;                       // of the jitter
  };
  // Why it has no news now.
  enum class Trouble : uint8_t {
    kNone,
    kUnreachable,   // no connection, no or a senseless answer, a time-out
    kUnauthorized,  // 401
    kForbidden,     // 403
    kNotServed,     // 404: there is no such collection
    kServer,        // another status
  };

  // `reader` and `receiver` must outlive this; a reader may serve many.
  ListWatch(Options options, config::JsonReader* reader, Receiver* receiver);

  struct Target {
    std::string path;  // and query
    enum class What : uint8_t { kWatch, kChunk, kWholeList } what = What::kWatch;
  };
  // What to ask for now, once; nothing while an exchange runs or has to wait.
  std::optional<Target> TakeRequest(Time now);
  // Whether the exchange that runs is to be cancelled, once: its bytes are not wanted any more.
  bool TakeCancel() { return std::exchange(cancel_, false); }
  // When to call Tick; not needed before.
  Time NextTick() const;
  void Tick(Time now);

  // Of the exchange that runs. Without one they do nothing.
  void OnStatus(Time now, int http_status);
  void OnBytes(Time now, std::string_view bytes);
  void OnEnd(Time now, const AnswerEnd& end);
  // What was waited for may be there: the next request goes out at once.
  void Hurry(Time now);

  // Whether the request that TakeRequest would give asks for a streaming list.
  bool WouldStream(Time now) const {
    return phase_ == Phase::kStream && !running_ && !cancel_ && now >= due_;
  }
  // Whether such a request runs, or the list that it brings.
  bool streams() const { return phase_ == Phase::kStream && running_; }
  // Whether the server said that it has none.
  bool refused_streaming() const { return refused_streaming_; }
  // The server is known to have none: a list that has not begun does not ask for one.
  void StopStreaming();

  bool synced() const { return synced_; }  // a list came to its end
  Trouble trouble() const { return trouble_; }
  const std::string& trouble_text() const { return trouble_text_; }  // for people
  size_t failures() const { return failures_; }                      // in a row
  const std::string& version() const { return version_; }            // resourceVersion that is known

 private:
  void EndExchange();
  void Fail(Time now, Trouble trouble, std::string text, Milliseconds at_least = {});
  void GiveUp(Time now, std::string text);
  void Relist();
  void ListInstead(Time now);
  Milliseconds Backoff();
  Milliseconds Random(Milliseconds from, Milliseconds to);
  void OnRefusal(Time now, const AnswerEnd& end);
  void OnGoneVersion(Time now, std::string text);
  void TakeItems(Time now, std::string_view bytes);
  std::string TakeItem(std::string_view text);
  void BeginList();
  void TakeListEnd(Time now);
  void AskForChunks();
  void TakeLines(Time now);
  void TakeEvent(Time now, std::string_view line);
  void TakeError(Time now, config::Node status);
  bool IsEndOfList(config::Node object) const;
  void EndList(std::string_view version);
  void EndWatch(Time now, const AnswerEnd& end);
  Target ListTarget() const;
  std::string WatchTarget();
  void Succeed();

  const Options options_;
  config::JsonFields event_fields_;
  config::JsonReader* const reader_;
  Receiver* const receiver_;
  std::mt19937_64 random_;

  // kStream: a list is awaited as the first events of a watch.
  enum class Phase : uint8_t { kList, kStream, kWatch };
  Phase phase_ = Phase::kList;
  bool streaming_;  // whether the server may have streaming lists
  bool refused_streaming_ = false;
  bool running_ = false, cancel_ = false, synced_ = false;
  Time due_{};                       // when the next request may go out
  Time begun_{}, heard_{}, ends_{};  // of the exchange: its start, its last byte, its end at the latest
  int http_status_ = 0;
  std::string body_;     // of a refusal; of a watch the line that is not whole yet
  size_t searched_ = 0;  // of body_, for the end of the line
  bool saw_event_ = false;

  std::optional<ListScanner> scanner_;  // of the list that runs
  size_t list_bytes_ = 0, list_objects_ = 0;
  bool list_begun_ = false;  // the receiver knows of it
  bool from_memory_ = true;  // the next list is of what the server has in memory
  size_t chunk_;             // objects to ask for; 0: all at once
  size_t chunks_ = 0;        // of this list
  std::string continue_;     // where the next chunk begins; "": at the start
  std::string version_;
  size_t expired_lists_ = 0;  // lists in a row that the server forgot before their end
  size_t failures_ = 0;       // in a row
  size_t stuck_ = 0;          // watches in a row that failed at this version
  Trouble trouble_ = Trouble::kNone;
  std::string trouble_text_;
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_LIST_WATCH_H_
