#include "model/node_limits.h"

#include <google/protobuf/descriptor.h>

#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "proto/field_reader.h"

namespace fairlead::model {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// As protobuf's parser has it.
constexpr int kDeepest = 100;

// Counts what a parsed message would have an object for each of.
class Counter {
 public:
  explicit Counter(size_t most) : most_(most) {}

  // False where there are more than the most, or the message is nested too deeply.
  bool Count(std::string_view bytes, const Descriptor& type, int depth) {
    if (depth > kDeepest) return false;
    uint64_t seen = 0;  // singular fields by number
    for (proto::FieldReader reader(bytes); reader.Next();) {
      const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(reader.number()));
      if (IsElement(field, &seen) && ++values_ > most_) return false;
      if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!Count(reader.bytes(), *field->message_type(), depth + 1)) return false;
    }
    return true;
  }

 private:
  // Unknown fields, and singular ones that come again, count as elements do.
  static bool IsElement(const FieldDescriptor* field, uint64_t* seen) {
    if (field == nullptr || field->is_repeated() || field->number() >= 64) return true;
    const uint64_t bit = uint64_t{1} << field->number();
    const bool again = (*seen & bit) != 0;
    *seen |= bit;
    return again;
  }

  const size_t most_;
  size_t values_ = 0;
};

}  // namespace

absl::Status CheckNode(std::string_view encoded, const NodeLimits& limits) {
  if (encoded.size() > limits.bytes) {
    return absl::InvalidArgumentError(
        StrCat("the node has ", encoded.size(), " bytes, of at most ", limits.bytes));
  }
  if (!Counter(limits.values).Count(encoded, *envoy::config::core::v3::Node::descriptor(), 1)) {
    return absl::InvalidArgumentError(StrCat("the node has more than ", limits.values,
                                             " values, or is nested deeper than ", kDeepest, " levels"));
  }
  return absl::OkStatus();
}

}  // namespace fairlead::model
