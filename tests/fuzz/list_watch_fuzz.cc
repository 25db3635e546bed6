// A server of collections that says whatever it likes, byte by byte; then one that is proper: the copy is its
// objects, and nothing of before is left.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/strings.h"
#include "kube/list_watch.h"
#include "tests/fuzz/choices.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;
using fuzz::Choices;
using fuzz::Require;
using fuzz::Trace;
using kube::AnswerEnd;
using kube::ListWatch;

// A copy as a source keeps one.
class Copy : public ListWatch::Receiver {
 public:
  void OnListBegin() override {
    listing_ = true;
    listed_.clear();
  }
  void OnObject(config::Node object) override {
    const std::string name(object.Find("metadata").Find("name").String());
    names.insert(name);
    if (listing_) listed_.insert(name);
  }
  void OnListEnd() override {
    Require(listing_, "a list ends that has not begun");
    listing_ = false;
    names = std::move(listed_);
    listed_.clear();
  }
  void OnGone(config::Node object) override {
    names.erase(std::string(object.Find("metadata").Find("name").String()));
  }
  std::set<std::string> names;

 private:
  bool listing_ = false;
  std::set<std::string> listed_;
};

std::string Name(Choices& choices) { return std::string(1, static_cast<char>('a' + choices.Below(4))); }

std::string Object(const std::string& name, unsigned version) {
  return StrCat(R"({"metadata":{"name":")", name, R"(","resourceVersion":")", version, R"("}})");
}

std::string List(Choices& choices) {
  std::string text =
      StrCat(R"({"metadata":{"resourceVersion":")", choices.Below(4) == 0 ? "" : "7", R"(","continue":")",
             choices.Below(3) == 0 ? Name(choices) : "", R"("},"items":[)");
  const unsigned count = choices.Below(4);
  for (unsigned i = 0; i < count; ++i) StrAppend(&text, i == 0 ? "" : ",", Object(Name(choices), i));
  return text + (choices.Below(8) == 0 ? "" : "]}");
}

std::string Event(Choices& choices) {
  constexpr const char* kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "NEW", ""};
  const char* const type = kTypes[choices.Below(7)];
  if (std::string_view(type) != "ERROR")
    return StrCat(R"({"type":")", type, R"(","object":)", Object(Name(choices), choices.Below(9)), "}\n");
  constexpr int kCodes[] = {410, 500, 429, 403, 0, -7};
  return StrCat(R"({"type":"ERROR","object":{"code":)", kCodes[choices.Below(6)],
                R"(,"message":"m","details":{)", R"("retryAfterSeconds":)", choices.Below(250), "}}}\n");
}

// Bytes of no meaning, of the input itself.
std::string Noise(Choices& choices) {
  std::string bytes;
  const unsigned count = choices.Below(32);
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<char>(choices.Below(256)));
  return bytes;
}

// Feeds a text in pieces, as a network does.
void Feed(Choices& choices, ListWatch::Time now, std::string_view text, ListWatch* watch) {
  while (!text.empty()) {
    const size_t size = 1 + choices.Below(64);
    watch->OnBytes(now, text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
}

class Script {
 public:
  explicit Script(Choices* choices) : choices_(*choices) {}

  void Run() {
    for (int step = 0; step < 400 && !choices_.Done(); ++step) Step();
    BeProper();
  }

 private:
  static ListWatch::Options Options() {
    ListWatch::Options options;
    options.path = "/p";
    options.chunk = 2;
    options.most_list_bytes = 400;
    options.most_object_bytes = 200;
    options.most_chunks = 5;
    return options;
  }
  void Step() {
    now_ += std::chrono::milliseconds(choices_.Below(200) * 100);
    watch_.Tick(now_);
    Ask();
    switch (choices_.Below(7)) {
      case 0: {
        constexpr int kStatuses[] = {200, 200, 200, 410, 404, 429, 500, 400};
        return watch_.OnStatus(now_, kStatuses[choices_.Below(8)]);
      }
      case 1:
        return Feed(choices_, now_, List(choices_), &watch_);
      case 2:
      case 3:
        return Feed(choices_, now_, Event(choices_), &watch_);
      case 4:
        return Feed(choices_, now_, Noise(choices_), &watch_);
      case 5: {
        const auto reason = static_cast<AnswerEnd::Reason>(choices_.Below(3));
        asked_.reset();
        const unsigned wait = choices_.Below(4);
        return watch_.OnEnd(
            now_,
            {reason, "broke", wait == 0 ? std::nullopt : std::optional(std::chrono::seconds(wait * 900))});
      }
      default:
        return watch_.Hurry(now_);
    }
  }
  void Ask() {
    if (watch_.TakeCancel()) asked_.reset();
    const auto request = watch_.TakeRequest(now_);
    if (!request) return CheckDue();
    Trace("asks for ", request->path);
    Require(request->path.starts_with("/p"), "it asks for ", request->path);
    Require(!watch_.TakeRequest(now_), "two exchanges at a time");
    Require(watch_.synced() || request->path.find("watch=1") == std::string::npos,
            "a watch of nothing that is known");
    asked_ = request->path;
  }
  // A wait has an end.
  void CheckDue() const {
    Require(watch_.NextTick() <= now_ + 11min, "it waits for ever");
    Require(watch_.version().size() <= 256 && watch_.trouble_text().size() <= 500,
            "what a server says is kept");
  }
  // Whatever came before: once a server does as it should, the copy is what it has.
  void BeProper() {
    watch_.OnEnd(now_, {AnswerEnd::Reason::kBroken, "cut"});
    for (int round = 0; round < 40; ++round) {
      (void)watch_.TakeCancel();
      now_ = std::max(now_, watch_.NextTick());
      const auto request = watch_.TakeRequest(now_);
      Require(request.has_value(), "it does not ask when it is due");
      const bool list = request->path.find("watch=1") == std::string::npos;
      if (!list && listed_) {
        Require(copy_.names == std::set<std::string>{"x", "y"}, "something of before is left");
        return Watch();
      }
      // One that does not know the version: all is listed anew.
      watch_.OnStatus(now_, list && request->path.find("continue") == std::string::npos ? 200 : 410);
      const std::string all = StrCat(R"({"metadata":{"resourceVersion":"9"},"items":[)", Object("x", 8), ",",
                                     Object("y", 9), "]}");
      watch_.OnBytes(now_, list ? all : "{}");
      watch_.OnEnd(now_, {});
      listed_ = watch_.synced() && watch_.version() == "9" && watch_.failures() == 0;
    }
    Require(false, "a proper server is never understood");
  }
  void Watch() {
    watch_.OnStatus(now_, 200);
    watch_.OnBytes(now_, StrCat(R"({"type":"DELETED","object":)", Object("x", 10), "}\n",
                                R"({"type":"ADDED","object":)", Object("z", 11), "}\n"));
    Require(copy_.names == std::set<std::string>{"y", "z"}, "the events of a watch do not count");
    Require(watch_.version() == "11" && watch_.trouble() == ListWatch::Trouble::kNone,
            "it goes on from another version");
  }

  Choices& choices_;
  config::JsonReader reader_;
  Copy copy_;
  ListWatch watch_{Options(), &reader_, &copy_};
  ListWatch::Time now_{1h};
  std::optional<std::string> asked_;
  bool listed_ = false;
};

}  // namespace
}  // namespace fairlead

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fairlead::fuzz::Choices choices(data, size);
  fairlead::Script(&choices).Run();
  return 0;
}
