#ifndef FAIRLEAD_BASE_LOG_H_
#define FAIRLEAD_BASE_LOG_H_

#include <fmt/core.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"

// Structured lines: time, level, scope, text. One scope a subject ("ads", "config", …), each with a level of
// its own, as Istio's --log_output_level sets them. Thread-safe. Lines are buffered and written within a
// second by a thread of their own; warnings and errors at once. A text is cut after 4 KiB, and what has an
// effect on terminals is escaped (base/excerpt.h). Where lines go: base/log_output.h.
namespace fairlead {

enum class LogLevel : int { kDebug, kInfo, kWarn, kError, kNone };

// "debug", "info", "warn", "error", "none"; "fatal", which istiod has, too, is "error", "warning" is "warn".
std::optional<LogLevel> ParseLogLevel(std::string_view text);
std::string_view NameOf(LogLevel level);
// What ParseLogLevel takes, for messages: "debug, info, warn, error or none".
std::string_view LogLevelNames();

// A format and where in the sources it is.
template <typename... Args>
struct FormatHere {
  template <typename Text>
  consteval FormatHere(const Text& text, const char* in_file = __builtin_FILE(),  // NOLINT: as a format
                       int at_line = __builtin_LINE())
      : format(text), file(in_file), line(at_line) {}
  fmt::format_string<Args...> format;
  const char* file;
  int line;
};

// Make one static object per subject; it lives as long as the process. Several may have one name, and then
// have one level.
class LogScope {
 public:
  explicit LogScope(const char* name);
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  bool Enabled(LogLevel level) const {
    return static_cast<int>(level) >= level_.load(std::memory_order_relaxed);
  }
  std::string_view name() const { return name_; }
  LogLevel level() const { return static_cast<LogLevel>(level_.load(std::memory_order_relaxed)); }
  bool names_callers() const { return names_callers_.load(std::memory_order_relaxed); }

  template <typename... Args>
  void Debug(FormatHere<std::type_identity_t<Args>...> what, Args&&... args) const {
    Log<Args...>(LogLevel::kDebug, what, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Info(FormatHere<std::type_identity_t<Args>...> what, Args&&... args) const {
    Log<Args...>(LogLevel::kInfo, what, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Warn(FormatHere<std::type_identity_t<Args>...> what, Args&&... args) const {
    Log<Args...>(LogLevel::kWarn, what, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void Error(FormatHere<std::type_identity_t<Args>...> what, Args&&... args) const {
    Log<Args...>(LogLevel::kError, what, std::forward<Args>(args)...);
  }

 private:
  friend struct LogScopeTable;
  template <typename... Args>
  void Log(LogLevel level, FormatHere<std::type_identity_t<Args>...> what, Args&&... args) const {
    if (Enabled(level))
      Write(level, what.file, what.line, fmt::format(what.format, std::forward<Args>(args)...));
  }
  void Write(LogLevel level, const char* file, int line, const std::string& text) const;

  const char* name_;
  std::atomic<int> level_{static_cast<int>(LogLevel::kInfo)};
  std::atomic<bool> names_callers_{false};
};

// Sets levels as Istio's flag spells them: "warn", or "default:info,ads:debug". Holds for scopes made later,
// too. InvalidArgument names the part that cannot be read; nothing is changed then. Source: Istio's
// --log_output_level.
absl::Status SetLogLevels(std::string_view spec);
// Which scopes' lines say where in the sources they are written, by name with commas; "all": every one.
// Source: Istio's --log_caller.
void SetLogCallers(std::string_view scopes);
// The names in a specification of either that no scope has.
std::vector<std::string> UnknownLogScopes(std::string_view spec);

// One scope as it is now.
struct LogScopeInfo {
  std::string name;
  LogLevel level = LogLevel::kInfo;
  bool names_callers = false;
};
// All scopes by name.
std::vector<LogScopeInfo> LogScopes();
// Sets the scopes of that name; false where there is none.
bool SetLogScope(const LogScopeInfo& scope);

// Waits until everything is written, for a second at most.
void FlushLogs();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_H_
