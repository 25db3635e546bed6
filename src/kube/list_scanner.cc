#include "kube/list_scanner.h"

#include <array>

namespace fairlead::kube {
namespace {

constexpr std::string_view kItems = "items";

// Bytes at which something begins or ends, outside and inside of strings.
consteval std::array<bool, 256> Stops(std::string_view bytes) {
  std::array<bool, 256> stops{};
  for (const char byte : bytes) stops[static_cast<unsigned char>(byte)] = true;
  return stops;
}
constexpr std::array<bool, 256> kStops = Stops("\"{}[]"), kStringStops = Stops("\"\\");

const char* Skip(const char* at, const char* end, const std::array<bool, 256>& stops) {
  while (at != end && !stops[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

bool IsSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

// Up to and with the string's end, or to where the bytes end.
const char* ListScanner::PassString(const char* at, const char* end) {
  if (at != end && escaped_) {
    escaped_ = false;
    ++at;
  }
  for (; at != end; ++at) {
    at = Skip(at, end, kStringStops);
    if (at == end) break;
    if (*at == '"') {
      in_string_ = false;
      return at + 1;
    }
    if (++at == end) {
      escaped_ = true;
      break;
    }
  }
  return at;
}

ListScanner::Result ListScanner::Feed(std::string_view bytes, OnItem on_item) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  Result result = Result::kMore;
  while (at != end && result == Result::kMore) {
    switch (place_) {
      case Place::kRest:
        result = TakeRest(at, end);
        break;
      case Place::kItems:
        result = TakeItems(at, end);
        break;
      case Place::kItem:
        result = TakeItem(at, end, on_item);
        break;
    }
  }
  return result;
}

ListScanner::Result ListScanner::TakeRest(const char*& at, const char* end) {
  while (at != end && place_ == Place::kRest) {
    if (rest_.size() >= limits_.most_rest_bytes) return Result::kTooLarge;
    NoteRest(*at++);
  }
  return Result::kMore;
}

// One byte of the document outside of its items.
void ListScanner::NoteRest(char byte) {
  rest_ += byte;
  if (in_string_) {
    const bool ends = byte == '"' && !escaped_;
    escaped_ = byte == '\\' && !escaped_;
    if (!ends) return;
    in_string_ = false;
    key_is_items_ = depth_ == 1 && std::string_view(rest_).substr(string_begin_).starts_with(kItems) &&
                    rest_.size() - 1 - string_begin_ == kItems.size();
  } else if (byte == '"') {
    in_string_ = true;
    string_begin_ = rest_.size();
  } else if (byte == '[' && depth_ == 1 && key_is_items_) {
    place_ = Place::kItems;
    key_is_items_ = false;
  } else if (byte == '{' || byte == '[') {
    ++depth_;
  } else if (byte == '}' || byte == ']') {
    depth_ -= depth_ > 0 ? 1 : 0;
  } else if (byte != ':' && !IsSpace(byte)) {
    key_is_items_ = false;
  }
}

ListScanner::Result ListScanner::TakeItems(const char*& at, const char* end) {
  while (at != end && (*at == ',' || IsSpace(*at))) ++at;
  if (at == end) return Result::kMore;
  if (*at == '{') {
    place_ = Place::kItem;
    return Result::kMore;
  }
  if (*at != ']') return Result::kSenseless;
  rest_ += *at++;
  place_ = Place::kRest;
  return Result::kMore;
}

ListScanner::Result ListScanner::TakeItem(const char*& at, const char* end, OnItem on_item) {
  const char* const begin = at;
  bool whole = false;
  while (at != end && !whole) {
    at = in_string_ ? PassString(at, end) : Skip(at, end, kStops);
    if (in_string_ || at == end) break;
    const char byte = *at++;
    if (byte == '"') in_string_ = true;
    if (byte == '{' || byte == '[') ++item_depth_;
    if (byte == '}' || byte == ']') whole = --item_depth_ == 0;
  }
  if (item_.size() + static_cast<size_t>(at - begin) > limits_.most_item_bytes) return Result::kTooLarge;
  if (whole) place_ = Place::kItems;
  if (whole && item_.empty()) return on_item({begin, at}) ? Result::kMore : Result::kStopped;
  item_.append(begin, at);
  if (!whole) return Result::kMore;
  const bool more = on_item(item_);
  item_.clear();
  return more ? Result::kMore : Result::kStopped;
}

}  // namespace fairlead::kube
