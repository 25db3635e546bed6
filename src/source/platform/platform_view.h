#ifndef FAIRLEAD_SOURCE_PLATFORM_PLATFORM_VIEW_H_
#define FAIRLEAD_SOURCE_PLATFORM_PLATFORM_VIEW_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"

namespace fairlead::source {

// The objects that one thing of a platform stands for: a service of Consul, a key of etcd. Immutable.
struct PlatformPart {
  std::vector<config::ConfigPtr> objects;
  std::vector<config::Diagnostic> diagnostics;
  std::string text = {};  // the manifests that the objects were read from; "": they were made
};
using PlatformPartPtr = std::shared_ptr<const PlatformPart>;

// All that a platform has now, part by part, and what became of the questions to it. Where several parts have
// an object of the same key, the one of the part whose name comes first counts, in whatever order they came.
// One thread at a time; no I/O.
class PlatformView {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // What follows is for who asks the platform.
  void Put(const std::string& name, PlatformPart part);
  void Remove(const std::string& name);
  // The platform has no other parts; of the names for which `is_there` is false.
  void RetainOnly(const std::function<bool(const std::string& name)>& is_there);
  // Every part that the platform had was put once. What an earlier process kept and nobody put goes.
  void SetComplete();
  bool complete() const { return complete_; }
  // An answer came; `lag`: by how much the platform says that it may be out of date.
  void NoteAnswer(Milliseconds lag = Milliseconds(0));
  // A question failed, so many times in a row. `question` tells it from others.
  void NoteTrouble(const std::string& question, const std::string& text, size_t failures);
  // The question was answered, or is not asked any more.
  void ForgetTrouble(const std::string& question);
  // Something that is wrong with the platform as a whole, one of each code; "" for nothing.
  void SetRemark(const std::string& code, const std::string& text);

  // What follows is for the source.
  // What an earlier process kept: counts until a part is put or the view is complete.
  void SetKept(std::map<std::string, PlatformPart> parts, int64_t time);
  std::vector<config::ObjectChange> TakeChanges();
  // `name`: of the source, for people.
  std::vector<config::Diagnostic> Diagnostics(const std::string& name) const;
  uint64_t revision() const { return revision_; }  // rises whenever Diagnostics may say something else
  uint64_t parts_revision() const { return parts_revision_; }  // rises with every part that differs
  const std::map<std::string, PlatformPartPtr>& parts() const { return parts_; }
  size_t objects() const { return holders_.size(); }
  // "" where the platform answers; some failures in a row before that is not so.
  std::string Trouble() const;
  std::string FirstTrouble() const;              // the same from the first failure on
  uint64_t errors() const { return errors_; }    // so far
  uint64_t answers() const { return answers_; }  // so far
  Milliseconds lag() const { return lag_; }      // of the last answer

 private:
  struct Failing {
    std::string text;
    size_t failures;
  };
  using Holders = std::map<std::string, config::ConfigPtr>;  // by the part's name
  void Swap(const std::string& name, PlatformPartPtr part);
  void Hold(const std::string& name, const config::ConfigPtr& object, const config::ObjectKey& key);
  void LetGo(const std::string& name, const config::ObjectKey& key);
  void Tell(const config::ObjectKey& key, const config::ConfigPtr& before);
  const config::ConfigPtr* Counting(const config::ObjectKey& key) const;

  std::map<std::string, PlatformPartPtr> parts_;
  std::map<config::ObjectKey, Holders> holders_;
  std::map<config::ObjectKey, config::ConfigPtr> changes_;  // since they were taken
  size_t contested_ = 0;                                    // keys that several parts have
  std::map<std::string, bool> kept_;                        // parts of an earlier process
  std::optional<int64_t> kept_time_;
  bool complete_ = false;
  std::map<std::string, Failing> troubles_;
  std::map<std::string, std::string> remarks_;  // by code
  uint64_t revision_ = 1, parts_revision_ = 0, errors_ = 0, answers_ = 0;
  Milliseconds lag_{0};
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_PLATFORM_VIEW_H_
