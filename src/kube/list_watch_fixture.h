#ifndef FAIRLEAD_KUBE_LIST_WATCH_FIXTURE_H_
#define FAIRLEAD_KUBE_LIST_WATCH_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/list_watch.h"

namespace fairlead::kube {

inline std::string Object(std::string_view name, std::string_view version) {
  return StrCat(R"({"metadata":{"name":")", name, R"(","resourceVersion":")", version, R"("}})");
}

inline std::string List(std::string_view version, const std::vector<std::string>& objects,
                        std::string_view next = "") {
  return StrCat(R"({"kind":"PodList","metadata":{"resourceVersion":")", version, R"(","continue":")", next,
                R"("},"items":[)", Join(objects, ","), "]}");
}

inline std::string Event(std::string_view type, const std::string& object) {
  return StrCat(R"({"type":")", type, R"(","object":)", object, "}\n");
}

inline std::string Error(int code, std::string_view more = "") {
  return Event("ERROR", StrCat(R"({"kind":"Status","code":)", code, R"(,"message":"too old")", more, "}"));
}

// A copy as a source keeps one.
class ListWatchCopy : public ListWatch::Receiver {
 public:
  void OnListBegin() override {
    listed_.clear();
    ++lists;
  }
  void OnObject(config::Node object) override {
    const config::Node metadata = object.Find("metadata");
    const std::string name(metadata.Find("name").String());
    objects[name] = metadata.Find("resourceVersion").String();
    listed_.insert(name);
  }
  void OnListEnd() override {
    std::erase_if(objects, [this](const auto& entry) { return !listed_.contains(entry.first); });
  }
  void OnGone(config::Node object) override {
    objects.erase(std::string(object.Find("metadata").Find("name").String()));
  }

  std::map<std::string, std::string> objects;
  int lists = 0;

 private:
  std::set<std::string> listed_;
};

class ListWatchTest : public ::testing::Test {
 protected:
  ListWatchTest() { options_.path = "/api/v1/pods"; }

  ListWatch& Watch() {
    if (watch_ == nullptr) watch_ = std::make_unique<ListWatch>(options_, &reader_, &copy_);
    return *watch_;
  }
  // The request that goes out now or, where it has to wait, then.
  std::string Request() {
    EXPECT_FALSE(Watch().TakeCancel()) << "nobody asked for it";
    if (auto request = Watch().TakeRequest(now_)) return request->path;
    waited_ = std::chrono::duration_cast<std::chrono::milliseconds>(Watch().NextTick() - now_);
    now_ = Watch().NextTick();
    return Watch().TakeRequest(now_).value_or(ListWatch::Target{"none"}).path;
  }
  void Answer(int status, std::string_view body, const AnswerEnd& end = {}) {
    Watch().OnStatus(now_, status);
    if (!body.empty()) Watch().OnBytes(now_, body);
    Watch().OnEnd(now_, end);
  }
  // Lists a and b at version 10 and begins to watch.
  void Begin() {
    Request();
    Answer(200, List("10", {Object("a", "8"), Object("b", "9")}));
    EXPECT_THAT(Request(), ::testing::HasSubstr("resourceVersion=10&"));
    Watch().OnStatus(now_, 200);
  }
  void Send(const std::string& bytes) { Watch().OnBytes(now_, bytes); }
  void Pass(std::chrono::milliseconds time) {
    now_ += time;
    Watch().Tick(now_);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, version] : copy_.objects) names.push_back(name);
    return names;
  }

  ListWatch::Options options_;
  config::JsonReader reader_;
  ListWatchCopy copy_;
  ListWatch::Time now_{std::chrono::hours(1)};
  std::chrono::milliseconds waited_{0};
  std::unique_ptr<ListWatch> watch_;
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_LIST_WATCH_FIXTURE_H_
