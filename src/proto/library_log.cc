#include "proto/library_log.h"

#include <google/protobuf/stubs/logging.h>

#include <string>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/log_rate.h"

namespace fairlead::proto {
namespace {

LogScope protobuf_log("protobuf");

void Say(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/, const std::string& message) {
  static auto* const rate = new LogRate;
  const auto more = rate->Admit("protobuf");
  if (!more) return;
  if (level == google::protobuf::LOGLEVEL_FATAL) {
    protobuf_log.Error("{}", message);
    FlushLogs();
  } else {
    protobuf_log.Warn("{}{}", Excerpt(message), *more);
  }
}

}  // namespace

void LogWhatTheLibrarySays() { google::protobuf::SetLogHandler(Say); }

}  // namespace fairlead::proto
