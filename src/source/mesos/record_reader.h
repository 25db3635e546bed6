#ifndef FAIRLEAD_SOURCE_MESOS_RECORD_READER_H_
#define FAIRLEAD_SOURCE_MESOS_RECORD_READER_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/excerpt.h"
#include "base/strings.h"

namespace fairlead::source {

// Reads a stream of records, in pieces of any size: the size in decimal digits, LF, so many bytes. A record
// that the stream ends within is none. One thread. Source: docs/recordio.md of github.com/apache/mesos.
class RecordReader {
 public:
  // `take`: each record, in order; what it returns false for is the last.
  using Take = std::function<bool(std::string_view record)>;
  RecordReader(size_t most_bytes, Take take) : most_bytes_(most_bytes), take_(std::move(take)) {}

  // InvalidArgument where a size is none, ResourceExhausted where it is beyond `most_bytes`; the stream
  // cannot be read on then.
  absl::Status Read(std::string_view bytes) {
    while (!bytes.empty() && !ended_) {
      if (in_record_) {
        const size_t count = std::min(bytes.size(), left_);
        record_.append(bytes.substr(0, count));
        bytes.remove_prefix(count);
        left_ -= count;
        if (left_ > 0) return absl::OkStatus();
        End();
        continue;
      }
      const char c = bytes.front();
      bytes.remove_prefix(1);
      if (c == '\n' && !size_.empty()) {
        if (absl::Status status = Begin(); !status.ok()) return status;
      } else if (c != '\n') {
        size_.push_back(c);
        if (c < '0' || c > '9' || size_.size() > kMostDigits)
          return absl::InvalidArgumentError(
              ToAbsl(StrCat("\"", Excerpt(size_, kMostDigits), "\" is no size of a record")));
      }
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kMostDigits = 20;
  static constexpr size_t kMostKept = 1 << 20;  // bytes of memory from one record to the next

  absl::Status Begin() {
    left_ = 0;
    for (const char c : size_) {
      left_ = left_ * 10 + static_cast<size_t>(c - '0');
      if (left_ > most_bytes_)
        return absl::ResourceExhaustedError(
            ToAbsl(StrCat("a record of ", size_, " bytes is beyond the bound of ", most_bytes_)));
    }
    size_.clear();
    in_record_ = true;
    if (left_ == 0) End();
    return absl::OkStatus();
  }
  void End() {
    in_record_ = false;
    ended_ = !take_(record_);
    record_.clear();
    if (record_.capacity() > kMostKept) record_.shrink_to_fit();
  }

  const size_t most_bytes_;
  const Take take_;
  std::string size_, record_;
  size_t left_ = 0;  // bytes of the record that are still to come
  bool in_record_ = false, ended_ = false;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_RECORD_READER_H_
