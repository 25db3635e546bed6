#include "http2/request.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/strings.h"

namespace fairlead::http2 {
namespace {

// What HTTP/2 counts for a field besides its text. Source: RFC 9113, 6.5.2
constexpr size_t kFieldBytes = 32;
constexpr std::string_view kContentType = "application/grpc";
constexpr size_t kMaxTimeoutDigits = 8;
// Longer ones would run over the clock's end.
constexpr std::chrono::hours kLongestTimeout{24 * 365};

}  // namespace

void RequestFields::Add(std::string_view name, std::string_view value) {
  bytes_ += name.size() + value.size() + kFieldBytes;
  if (TooLarge()) {
    metadata_.clear();
    return;
  }
  if (name == ":method") {
    method_ = value;
  } else if (name == ":path") {
    path_ = value;
  } else if (name == ":authority") {
    authority_ = value;
  } else if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-encoding") {
    encoding_ = value;
  } else if (name == "grpc-timeout") {
    timeout_ = value;
  } else if (!name.starts_with(':')) {
    metadata_.emplace_back(name, value);
  }
}

ParsedRequest RequestFields::Plain() const {
  ParsedRequest plain{.method = method_, .target = path_, .headers = {}, .body = {}};
  if (!authority_.empty()) plain.headers["host"] = authority_;
  if (!content_type_.empty()) plain.headers["content-type"] = content_type_;
  for (const auto& [name, value] : metadata_) {
    std::string& kept = plain.headers[name];
    // HTTP/2 may send a cookie in pieces. Source: RFC 9113, 8.2.3
    kept = name == "cookie" && !kept.empty() ? StrCat(kept, "; ", value) : value;
  }
  return plain;
}

std::optional<std::string> RequestFields::Metadata(std::string_view name) const {
  for (auto field = metadata_.rbegin(); field != metadata_.rend(); ++field) {
    if (field->first == name) return field->second;
  }
  return std::nullopt;
}

std::optional<Clock::duration> RequestFields::Timeout() const { return ParseTimeout(timeout_); }

std::optional<RequestFields::Refusal> RequestFields::Check() const {
  if (TooLarge()) {
    return Refusal{.status = absl::ResourceExhaustedError(
                       StrCat("the request's metadata is larger than ", max_bytes_, " bytes"))};
  }
  if (method_ != "POST") return Refusal{.http_status = 405};
  const std::string_view subtype = std::string_view(content_type_).substr(0, kContentType.size());
  const char next = content_type_.size() > kContentType.size() ? content_type_[kContentType.size()] : ';';
  if (subtype != kContentType || (next != ';' && next != '+')) return Refusal{.http_status = 415};
  if (!encoding_.empty() && encoding_ != "identity" && !Compressed()) {
    return Refusal{
        .status = absl::UnimplementedError(StrCat("grpc-encoding \"", encoding_, "\" is not supported"))};
  }
  if (!timeout_.empty() && !Timeout())
    return Refusal{.status = absl::InternalError(StrCat("grpc-timeout \"", timeout_, "\" cannot be read"))};
  return std::nullopt;
}

std::optional<Clock::duration> ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kMaxTimeoutDigits + 1) return std::nullopt;
  int64_t count = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), unit, count);
  if (error != std::errc() || end != unit || text.front() == '-') return std::nullopt;
  switch (*unit) {
    case 'H':
      return std::min(std::chrono::hours(count), kLongestTimeout);
    case 'M':
      return std::min<Clock::duration>(std::chrono::minutes(count), kLongestTimeout);
    case 'S':
      return std::min<Clock::duration>(std::chrono::seconds(count), kLongestTimeout);
    case 'm':
      return std::chrono::milliseconds(count);
    case 'u':
      return std::chrono::microseconds(count);
    case 'n':
      return std::chrono::nanoseconds(count);
    default:
      return std::nullopt;
  }
}

std::string EncodeMessage(std::string_view message) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(message.size());
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      out.push_back(c);
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

std::string DecodeMessage(std::string_view field) {
  std::string out;
  out.reserve(field.size());
  while (!field.empty()) {
    unsigned byte = 0;
    if (field.size() > 2 && field.front() == '%' &&
        std::from_chars(field.data() + 1, field.data() + 3, byte, 16).ptr == field.data() + 3) {
      out.push_back(static_cast<char>(byte));
      field.remove_prefix(3);
    } else {
      out.push_back(field.front());
      field.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace fairlead::http2
