#include "config/read/json_reader.h"

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/tree_builder.h"

namespace fairlead::config {
namespace {

namespace json = simdjson::ondemand;

constexpr size_t kDeepest = 200;

// An integer that 64 bits can hold.
bool IsInteger(std::string_view text) {
  const char* end = text.data() + text.size();
  int64_t number = 0;
  uint64_t large = 0;
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && at == end) return true;
  const auto [large_at, large_error] = std::from_chars(text.data(), end, large);
  return large_error == std::errc() && large_at == end;
}

class TreeWriter {
 public:
  explicit TreeWriter(TreeBuilder& builder) : builder_(builder) {}

  // Of a document or of a value within one.
  template <typename Value>
  simdjson::error_code Write(Value& value, const JsonFields* fields) {
    json::json_type type;
    if (const auto error = value.type().get(type)) return error;
    switch (type) {
      case json::json_type::object:
        return WriteObject(value, fields);
      case json::json_type::array:
        return WriteArray(value, fields);
      case json::json_type::string:
        return WriteString(value);
      case json::json_type::number:
        return WriteNumber(value);
      case json::json_type::boolean:
        return WriteBool(value);
      case json::json_type::null:
        break;
    }
    bool null = false;
    if (const auto error = value.is_null().get(null)) return error;
    if (!null) return simdjson::N_ATOM_ERROR;
    builder_.Scalar(NodeType::kNull, "", 0);
    return simdjson::SUCCESS;
  }

 private:
  template <typename Value>
  simdjson::error_code WriteObject(Value& value, const JsonFields* fields) {
    if (builder_.depth() >= kDeepest) return simdjson::DEPTH_ERROR;
    json::object object;
    if (const auto error = value.get_object().get(object)) return error;
    builder_.BeginMapping(0);
    for (auto entry : object) {
      json::field field;
      if (const auto error = std::move(entry).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      bool skipped = false;
      const JsonFields* below = fields == nullptr ? nullptr : fields->Find(key, &skipped);
      if (skipped) continue;
      builder_.Key(key, 0);
      if (const auto error = Write(field.value(), below)) return error;
    }
    builder_.End();
    return simdjson::SUCCESS;
  }

  template <typename Value>
  simdjson::error_code WriteArray(Value& value, const JsonFields* fields) {
    if (builder_.depth() >= kDeepest) return simdjson::DEPTH_ERROR;
    json::array array;
    if (const auto error = value.get_array().get(array)) return error;
    builder_.BeginSequence(0);
    for (auto element : array) {
      json::value item;
      if (const auto error = std::move(element).get(item)) return error;
      if (const auto error = Write(item, fields)) return error;
    }
    builder_.End();
    return simdjson::SUCCESS;
  }

  template <typename Value>
  simdjson::error_code WriteString(Value& value) {
    std::string_view text;
    if (const auto error = value.get_string().get(text)) return error;
    builder_.Scalar(NodeType::kString, text, 0);
    return simdjson::SUCCESS;
  }

  template <typename Value>
  simdjson::error_code WriteBool(Value& value) {
    bool truth = false;
    if (const auto error = value.get_bool().get(truth)) return error;
    builder_.Scalar(NodeType::kBool, truth ? "true" : "false", 0);
    return simdjson::SUCCESS;
  }

  // The token is looked at before it is checked: reading a scalar ends a document.
  template <typename Value>
  simdjson::error_code WriteNumber(Value& value) {
    std::string_view token;
    if (const auto error = simdjson::simdjson_result<std::string_view>(value.raw_json_token()).get(token))
      return error;
    const std::string_view text = Trim(token.substr(0, token.find('\0')));
    double number = 0;
    if (const auto error = value.get_double().get(number)) return error;
    if (text == "-0") {
      builder_.Scalar(NodeType::kInt, "0", 0);
    } else {
      builder_.Scalar(IsInteger(text) ? NodeType::kInt : NodeType::kFloat, text, 0);
    }
    return simdjson::SUCCESS;
  }

  TreeBuilder& builder_;
};

}  // namespace

class JsonReader::Impl {
 public:
  absl::StatusOr<Tree> Read(std::string_view text, const JsonFields* fields) {
    buffer_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    buffer_.assign(text);
    json::document document;
    builder_.Clear();
    auto error = parser_.iterate(buffer_.data(), buffer_.size(), buffer_.capacity()).get(document);
    if (!error) error = TreeWriter(builder_).Write(document, fields);
    const char* rest = nullptr;
    if (!error && document.current_location().get(rest) == simdjson::SUCCESS)
      error = simdjson::TRAILING_CONTENT;
    Shrink();
    if (error) return absl::InvalidArgumentError(StrCat("this is no JSON: ", simdjson::error_message(error)));
    return builder_.Build();
  }

 private:
  // One large text leaves no large buffers behind.
  void Shrink() {
    constexpr size_t kKept = 4 << 20;
    if (buffer_.capacity() <= kKept) return;
    buffer_ = std::string();
    parser_ = json::parser();
  }

  json::parser parser_;
  std::string buffer_;
  TreeBuilder builder_;
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

absl::StatusOr<Tree> JsonReader::Read(std::string_view text, const JsonFields* fields) {
  return impl_->Read(text, fields);
}

}  // namespace fairlead::config
