#ifndef FAIRLEAD_CONFIG_SPOT_H_
#define FAIRLEAD_CONFIG_SPOT_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "config/cel/cel.h"
#include "config/object.h"
#include "config/report.h"
#include "config/tree.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::config {

// What a check is about, and where it reports.
struct Subject {
  Report& report;
  Node document;
  const ObjectMeta& meta;
  std::set<std::string>* wrong = nullptr;        // where errors are: their paths are added
  const std::set<std::string>* known = nullptr;  // paths that have errors already: no second one is reported
  CelBudget* cel_budget = nullptr;               // for the rules of a schema; null where there are none
};

// A field of the object that is checked. Costs nothing until something is wrong: the path's text and the line
// are made then. A spot points to its parent, which must outlive it.
class Spot {
 public:
  explicit Spot(const Subject& subject) : subject_(&subject) {}  // the document's root
  Spot(const Spot& parent, std::string_view name)
      : subject_(parent.subject_), parent_(&parent), name_(name) {}
  Spot(const Spot& parent, size_t index)
      : subject_(parent.subject_), parent_(&parent), index_(index), is_index_(true) {}
  Spot(const Spot&) = delete;
  Spot& operator=(const Spot&) = delete;

  Spot Field(std::string_view name) const { return Spot(*this, name); }
  Spot At(size_t index) const { return Spot(*this, index); }

  void Error(std::string_view code, std::string message) const;
  void Warn(std::string_view code, std::string message) const;
  // An error with what is wrong with the value here; nothing where that is nothing ("").
  void Refuse(std::string why) const {
    if (!why.empty()) Error("invalid-value", std::move(why));
  }

  // What the user wrote here, by either name of a field; absent where nothing is.
  Node Written() const { return Resolve().found; }
  // Reads what is written here as a message (see ReadProto), unknown fields with a warning. Its mistakes are
  // reported with paths that begin here.
  bool Read(google::protobuf::Message* message) const;
  // "spec.http[2].route"
  std::string Path() const;
  const ObjectMeta& meta() const { return subject_->meta; }
  CelBudget* cel_budget() const { return subject_->cel_budget; }

 private:
  struct Place {
    Node found;
    int line = 0;  // of what is there, else of the innermost that is
  };
  Place Resolve() const;

  const Subject* subject_;
  const Spot* parent_ = nullptr;
  std::string_view name_;
  size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_SPOT_H_
