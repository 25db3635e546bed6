#ifndef FAIRLEAD_BASE_LOG_H_
#define FAIRLEAD_BASE_LOG_H_

#include <fmt/core.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

// Structured lines on standard output: time, level, scope, text. One scope a subject ("ads", "config", …),
// each with a level of its own, as Istio's --log_output_level sets them. Thread-safe. Lines are buffered and
// written within a second; warnings and errors, and everything at FlushLogs(), at once.
namespace fairlead {

enum class LogLevel : int { kDebug, kInfo, kWarn, kError, kNone };

// Make one static object per subject; it lives as long as the process.
class LogScope {
 public:
  explicit LogScope(const char* name);
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  bool Enabled(LogLevel level) const {
    return static_cast<int>(level) >= level_.load(std::memory_order_relaxed);
  }
  std::string_view name() const { return name_; }
  void SetLevel(LogLevel level) { level_.store(static_cast<int>(level), std::memory_order_relaxed); }

  template <typename... Args>
  void Debug(fmt::format_string<Args...> format, Args&&... args) const {
    if (Enabled(LogLevel::kDebug)) Write(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Info(fmt::format_string<Args...> format, Args&&... args) const {
    if (Enabled(LogLevel::kInfo)) Write(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (Enabled(LogLevel::kWarn)) Write(LogLevel::kWarn, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Error(fmt::format_string<Args...> format, Args&&... args) const {
    if (Enabled(LogLevel::kError)) Write(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void Write(LogLevel level, const std::string& text) const;

  const char* name_;
  std::atomic<int> level_{static_cast<int>(LogLevel::kInfo)};
};

// Sets levels as Istio's flag spells them: "warn", or "default:info,ads:debug". Holds for scopes made later,
// too. InvalidArgument names the part that cannot be read; nothing is changed then. Source: Istio's
// --log_output_level.
absl::Status SetLogLevels(std::string_view spec);
void FlushLogs();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_H_
