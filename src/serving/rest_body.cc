#include "serving/rest_body.h"

#include <algorithm>

#include "base/strings.h"

namespace fairlead::serving {
namespace {

// As protobuf's parser has it.
constexpr size_t kDeepest = 100;
constexpr size_t kJsonPerByte = 2;
// Members of the request itself, and of a name's.
constexpr size_t kFewValues = 100;

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  size_t bytes = 0;    // but for those of names
  size_t values = 0;   // likewise
  size_t deepest = 0;  // of arrays and objects inside of each other

  void Run() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        TakeString();
      } else if (c == '{' || c == '[') {
        if (++depth_ > deepest) deepest = depth_;
        in_names_ = in_names_ || (c == '[' && depth_ == 2 && IsNames(last_));
        ++values;
      } else if (c == '}' || c == ']') {
        if (depth_ > 0) --depth_;
        if (depth_ < 2) in_names_ = false;
      } else if (c == ',' && !OfNames()) {
        ++values;
      }
      if (!OfNames()) ++bytes;
    }
  }

 private:
  // An element of the list of names itself.
  bool OfNames() const { return in_names_ && depth_ == 2; }
  static bool IsNames(std::string_view key) { return key == "resource_names" || key == "resourceNames"; }

  void TakeString() {
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    if (!OfNames()) {
      bytes += end - start + 1;
      last_ = text_.substr(start, end - start);
    }
  }

  const std::string_view text_;
  size_t at_ = 0, depth_ = 0;
  bool in_names_ = false;
  std::string_view last_;  // the last string
};

}  // namespace

absl::Status CheckRestBody(std::string_view body, const model::NodeLimits& limits) {
  Scan scan(body);
  scan.Run();
  if (scan.bytes > limits.bytes * kJsonPerByte) {
    return absl::InvalidArgumentError(StrCat(
        "the request has ", scan.bytes, " bytes beside names, of at most ", limits.bytes * kJsonPerByte));
  }
  if (scan.values > limits.values + kFewValues)
    return absl::InvalidArgumentError(StrCat("the node has more than ", limits.values, " values"));
  if (scan.deepest > kDeepest)
    return absl::InvalidArgumentError(StrCat("the request is nested deeper than ", kDeepest, " levels"));
  return absl::OkStatus();
}

}  // namespace fairlead::serving
