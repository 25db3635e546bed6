#include "base/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "base/strings.h"

namespace fairlead {
namespace {

// The scopes and the levels asked for by name; `fallback` is what "default" says.
struct Levels {
  std::mutex mutex;
  std::vector<LogScope*> scopes;
  std::map<std::string, LogLevel, std::less<>> by_name;
  LogLevel fallback = LogLevel::kInfo;

  static Levels& Get() {
    static auto* levels = new Levels;
    return *levels;
  }
  LogLevel Of(std::string_view name) const {
    auto it = by_name.find(name);
    return it == by_name.end() ? fallback : it->second;
  }
};

// Standard output by way of its buffer. spdlog's own sink makes a system call of each line.
class BufferedOutput : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  void flush_() override { std::fflush(stdout); }
};

spdlog::logger& Output() {
  static spdlog::logger* output = [] {
    // A line costs a copy into this buffer, not a system call: a push to a thousand streams logs thousands of
    // lines.
    static char buffer[1 << 16];
    std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    auto logger = std::make_shared<spdlog::logger>("fairlead", std::make_shared<BufferedOutput>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ\t%l\t%v", spdlog::pattern_time_type::utc);
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::warn);
    spdlog::register_logger(logger);
    try {
      spdlog::flush_every(std::chrono::seconds(1));
    } catch (const std::system_error&) {  // no thread to do it
      logger->flush_on(spdlog::level::debug);
    }
    static auto* keep = new std::shared_ptr<spdlog::logger>(logger);
    return keep->get();
  }();
  return *output;
}

std::optional<LogLevel> ParseLevel(std::string_view text) {
  static const std::map<std::string, LogLevel, std::less<>> kNames = {
      {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarn},
      {"error", LogLevel::kError}, {"fatal", LogLevel::kError}, {"none", LogLevel::kNone},
  };
  auto it = kNames.find(text);
  if (it == kNames.end()) return std::nullopt;
  return it->second;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

}  // namespace

LogScope::LogScope(const char* name) : name_(name) {
  Levels& levels = Levels::Get();
  std::lock_guard lock(levels.mutex);
  levels.scopes.push_back(this);
  SetLevel(levels.Of(name));
}

void LogScope::Write(LogLevel level, const std::string& text) const {
  Output().log(ToSpdlog(level), "{}\t{}", name_, text);
}

absl::Status SetLogLevels(std::string_view spec) {
  std::map<std::string, LogLevel, std::less<>> wanted;
  std::optional<LogLevel> fallback;
  for (std::string_view part : Split(spec, ',')) {
    part = Trim(part);
    if (part.empty()) continue;
    const size_t colon = part.find(':');
    const std::string_view name = colon == std::string_view::npos ? "default" : part.substr(0, colon);
    const auto level = ParseLevel(colon == std::string_view::npos ? part : part.substr(colon + 1));
    if (!level)
      return absl::InvalidArgumentError(StrCat("log level \"", part, "\" is not SCOPE:LEVEL or LEVEL"));
    if (name == "default" || name == "all") {
      fallback = level;
    } else {
      wanted[std::string(name)] = *level;
    }
  }
  Levels& levels = Levels::Get();
  std::lock_guard lock(levels.mutex);
  for (auto& [name, level] : wanted) levels.by_name[name] = level;
  if (fallback) levels.fallback = *fallback;
  for (LogScope* scope : levels.scopes) scope->SetLevel(levels.Of(scope->name()));
  return absl::OkStatus();
}

void FlushLogs() { Output().flush(); }

}  // namespace fairlead
