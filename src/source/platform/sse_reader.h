#ifndef FAIRLEAD_SOURCE_PLATFORM_SSE_READER_H_
#define FAIRLEAD_SOURCE_PLATFORM_SSE_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace fairlead::source {

// Reads a stream of server-sent events, in pieces of any size: "event: NAME", "data: TEXT", an empty line.
// Lines end with CR, LF or both; comments, ids and retry times are passed over. An event that the stream ends
// within is none. One thread. Source: html.spec.whatwg.org, 9.2.6 (interpreting an event stream).
class SseReader {
 public:
  // `data`: of several such lines, joined by LF. An event of more than `most_bytes` comes with `whole` false
  // and without data.
  using Take = std::function<void(std::string_view event, std::string_view data, bool whole)>;
  SseReader(size_t most_bytes, Take take) : most_bytes_(most_bytes), take_(std::move(take)) {}

  void Read(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n' && after_cr_) {
        after_cr_ = false;
        continue;
      }
      after_cr_ = c == '\r';
      if (c == '\r' || c == '\n') {
        EndLine();
      } else if (line_.size() + data_.size() < most_bytes_) {
        line_.push_back(c);
      } else {
        whole_ = false;
      }
    }
  }

 private:
  void EndLine() {
    if (begins_ && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
    begins_ = false;
    if (line_.empty()) return EndEvent();
    const size_t colon = line_.find(':');
    const std::string_view field = std::string_view(line_).substr(0, colon);
    std::string_view value =
        colon == std::string::npos ? std::string_view() : std::string_view(line_).substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") event_ = value;
    if (field == "data") data_.append(value).push_back('\n');
    line_.clear();
  }
  void EndEvent() {
    if (!data_.empty()) data_.pop_back();
    if (!whole_) data_.clear();
    if (!whole_ || !data_.empty()) take_(event_, data_, whole_);
    event_.clear();
    data_.clear();
    whole_ = true;
  }

  const size_t most_bytes_;
  const Take take_;
  std::string line_, event_, data_;
  bool whole_ = true, after_cr_ = false, begins_ = true;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_SSE_READER_H_
