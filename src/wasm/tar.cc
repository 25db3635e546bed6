#include "wasm/tar.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace fairlead::wasm {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMagic = 257;
constexpr uint64_t kMostAboutNext = 64 << 10;  // of a long name, or of an extended header

// Text up to its field's end or a zero.
std::string_view Field(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

// A number in octal digits, or, where the first bit is set, in bytes (GNU).
std::optional<uint64_t> Number(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = 0; i < size; ++i) {
      if (value >> 56 != 0) return std::nullopt;
      value = value << 8 | (static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7f : 0xff));
    }
    return value;
  }
  const std::string_view digits = Trim(field.substr(0, field.find('\0')));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The sum of a header's bytes, those of the sum itself taken for spaces.
bool HasItsChecksum(std::string_view header) {
  constexpr size_t kAt = 148, kSize = 8;
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i)
    sum += i >= kAt && i < kAt + kSize ? ' ' : static_cast<unsigned char>(header[i]);
  return Number(header, kAt, kSize) == sum;
}

}  // namespace

bool TarReader::IsTar(std::string_view bytes) {
  return bytes.size() >= kBlock && bytes.substr(kMagic, 5) == "ustar";
}

absl::StatusOr<std::string_view> TarReader::Take(uint64_t size) {
  if (size > rest_.size()) return absl::InvalidArgumentError("the archive is cut off");
  const std::string_view content = rest_.substr(0, size);
  rest_.remove_prefix(std::min<size_t>(rest_.size(), (size + kBlock - 1) / kBlock * kBlock));
  return content;
}

// Records "LENGTH KEY=VALUE\n", the length that of the record.
void TarReader::ReadPax(std::string_view records) {
  while (!records.empty()) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 2) return;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : record.substr(equals + 1);
    if (key == "path") long_name_ = value;
    uint64_t size = 0;
    if (key == "size" && std::from_chars(value.data(), value.data() + value.size(), size).ec == std::errc())
      long_size_ = size;
    records.remove_prefix(length);
  }
}

absl::StatusOr<std::optional<TarReader::File>> TarReader::Next() {
  while (rest_.size() >= kBlock) {
    const std::string_view header = rest_.substr(0, kBlock);
    if (header.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
    const auto size = Number(header, 124, 12);
    if (!size || !HasItsChecksum(header)) return absl::InvalidArgumentError("this is no tar archive");
    rest_.remove_prefix(kBlock);
    const char type = header[156];
    const bool about_next = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    if (about_next && *size > kMostAboutNext)
      return absl::InvalidArgumentError("the archive has a name that is too long");
    const auto content = Take(about_next ? *size : long_size_.value_or(*size));
    if (!content.ok()) return content.status();
    if (type == 'x') ReadPax(*content);
    if (type == 'L') long_name_ = content->substr(0, content->find('\0'));
    if (about_next) continue;
    const std::string_view prefix = TarReader::IsTar(header) ? Field(header, 345, 155) : std::string_view();
    std::string name = StrCat(prefix, prefix.empty() ? "" : "/", Field(header, 0, 100));
    if (!long_name_.empty()) name = long_name_;
    long_name_.clear();
    long_size_.reset();
    if (type == '0' || type == '\0' || type == '7') return File{std::move(name), *content};
  }
  return std::nullopt;
}

}  // namespace fairlead::wasm
