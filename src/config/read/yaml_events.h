#ifndef FAIRLEAD_CONFIG_READ_YAML_EVENTS_H_
#define FAIRLEAD_CONFIG_READ_YAML_EVENTS_H_

#include <yaml.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace fairlead::config {

// libyaml's parser and its current event, freed in time. The only file that knows how libyaml is called.
// libyaml was taken by measurement (10-100 MB of manifests): 60 MB/s of events against libfyaml's 42 and
// yaml-cpp's 7; and Go's YAML library, which kubectl uses, is its port, so both accept the same texts.
class YamlEvents {
 public:
  // `first_line`: the number of the text's first line.
  YamlEvents(std::string_view text, int first_line) : text_(text), first_line_(first_line) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  ~YamlEvents() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  // False on an error: then error() and error_line() say which. Not to be called again after one, nor after
  // the end.
  bool Next() {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser_, &event_) != 0;
  }
  const yaml_event_t& event() const { return event_; }
  int line() const { return first_line_ + static_cast<int>(event_.start_mark.line); }

  std::string_view value() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  std::string error() const {
    std::string text = parser_.problem ? parser_.problem : "the text cannot be read";
    if (parser_.context != nullptr) text = std::string(parser_.context) + ": " + text;
    return text;
  }
  int error_line() const {
    if (parser_.error != YAML_READER_ERROR) return first_line_ + static_cast<int>(parser_.problem_mark.line);
    // What is no text at all (bytes that are not UTF-8, control characters) has an offset instead of a mark.
    const std::string_view before = text_.substr(0, parser_.problem_offset);
    return first_line_ + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }

 private:
  yaml_parser_t parser_;
  yaml_event_t event_{};
  std::string_view text_;
  int first_line_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_YAML_EVENTS_H_
