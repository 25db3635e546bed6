#ifndef FAIRLEAD_BASE_LOG_OUTPUT_H_
#define FAIRLEAD_BASE_LOG_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/log.h"

// Where lines of the log go, and what they look like. Thread-safe.
namespace fairlead {

struct LogOutput {
  // A line is a JSON object with the members level, time, scope, caller (where it is named) and msg, as
  // istiod's are; else these with tabs between, the time first.
  bool as_json = false;
  std::vector<std::string> targets = {"stdout"};  // "stdout", "stderr" or files, which are appended to
};

// Changes it for all lines to come. Unavailable, naming the file, where one cannot be opened; nothing is
// changed then. Source: Istio's --log_as_json, --log_target.
absl::Status SetLogOutput(const LogOutput& output);

struct LogLine {
  LogLevel level;
  std::string_view scope;
  std::string_view caller;  // "push/stream/stream.cc:123"; "" where it is not named
  std::string_view text;
};
void WriteLogLine(const LogLine& line);
void FlushLogOutput();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_OUTPUT_H_
