#include "base/log.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/log_output.h"
#include "base/strings.h"

namespace fairlead {
namespace {

constexpr std::pair<std::string_view, LogLevel> kLevels[] = {
    {"debug", LogLevel::kDebug},  {"info", LogLevel::kInfo}, {"warn", LogLevel::kWarn},
    {"error", LogLevel::kError},  {"none", LogLevel::kNone}, {"fatal", LogLevel::kError},
    {"warning", LogLevel::kWarn},
};

// What a specification says: by scope, and for all others.
struct LevelSpec {
  std::map<std::string, LogLevel, std::less<>> by_name;
  std::optional<LogLevel> fallback;
};

bool MeansAll(std::string_view name) { return name == "default" || name == "all"; }

absl::Status ParseSpec(std::string_view spec, LevelSpec* out) {
  for (std::string_view part : Split(spec, ',')) {
    part = Trim(part);
    if (part.empty()) continue;
    const size_t colon = part.find(':');
    const std::string_view name = colon == std::string_view::npos ? "default" : part.substr(0, colon);
    const auto level = ParseLogLevel(colon == std::string_view::npos ? part : part.substr(colon + 1));
    if (!level) {
      return absl::InvalidArgumentError(
          StrCat("log level \"", part, "\" is not SCOPE:LEVEL or LEVEL; a level is ", LogLevelNames()));
    }
    if (MeansAll(name)) {
      out->fallback = level;
    } else {
      out->by_name[std::string(name)] = *level;
    }
  }
  return absl::OkStatus();
}

// The path below src/, as the folders of the sources are named.
std::string_view ShortPath(std::string_view file) {
  const size_t at = file.rfind("src/");
  return at == std::string_view::npos ? file : file.substr(at + 4);
}

}  // namespace

// The scopes and what was asked for by name; `fallback` is what "default" says.
struct LogScopeTable {
  std::mutex mutex;
  std::vector<LogScope*> scopes;
  std::map<std::string, LogLevel, std::less<>> levels;
  LogLevel fallback = LogLevel::kInfo;
  std::set<std::string, std::less<>> callers;

  static LogScopeTable& Get() {
    static auto* table = new LogScopeTable;
    return *table;
  }
  bool Known(std::string_view name) const {
    return std::any_of(scopes.begin(), scopes.end(),
                       [&](const LogScope* one) { return one->name() == name; });
  }
  void Apply(LogScope* scope) const {
    const auto level = levels.find(scope->name());
    scope->level_ = static_cast<int>(level == levels.end() ? fallback : level->second);
    scope->names_callers_ = callers.contains("all") || callers.contains(scope->name());
  }
  void ApplyAll() const {
    for (LogScope* scope : scopes) Apply(scope);
  }
};

std::optional<LogLevel> ParseLogLevel(std::string_view text) {
  for (const auto& [name, level] : kLevels) {
    if (name == text) return level;
  }
  return std::nullopt;
}

std::string_view NameOf(LogLevel level) { return kLevels[static_cast<size_t>(level)].first; }

std::string_view LogLevelNames() { return "debug, info, warn, error or none"; }

LogScope::LogScope(const char* name) : name_(name) {
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  table.scopes.push_back(this);
  table.Apply(this);
}

void LogScope::Write(LogLevel level, const char* file, int line, const std::string& text) const {
  const std::string caller = names_callers() ? StrCat(ShortPath(file), ":", line) : "";
  WriteLogLine({level, name_, caller, text});
}

absl::Status SetLogLevels(std::string_view spec) {
  LevelSpec wanted;
  if (absl::Status status = ParseSpec(spec, &wanted); !status.ok()) return status;
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  for (auto& [name, level] : wanted.by_name) table.levels[name] = level;
  if (wanted.fallback) table.fallback = *wanted.fallback;
  table.ApplyAll();
  return absl::OkStatus();
}

void SetLogCallers(std::string_view scopes) {
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  table.callers.clear();
  for (const std::string_view name : Split(scopes, ','))
    table.callers.emplace(MeansAll(Trim(name)) ? "all" : Trim(name));
  table.ApplyAll();
}

std::vector<std::string> UnknownLogScopes(std::string_view spec) {
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  std::vector<std::string> unknown;
  for (std::string_view part : Split(spec, ',')) {
    const std::string_view name = Trim(part.substr(0, part.find(':')));
    if (name.empty() || MeansAll(name) || ParseLogLevel(name) || table.Known(name)) continue;
    unknown.emplace_back(name);
  }
  return unknown;
}

std::vector<LogScopeInfo> LogScopes() {
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  std::map<std::string, LogScopeInfo> by_name;
  for (const LogScope* scope : table.scopes)
    by_name[std::string(scope->name())] = {std::string(scope->name()), scope->level(),
                                           scope->names_callers()};
  std::vector<LogScopeInfo> all;
  all.reserve(by_name.size());
  for (auto& [name, info] : by_name) all.push_back(std::move(info));
  return all;
}

bool SetLogScope(const LogScopeInfo& scope) {
  LogScopeTable& table = LogScopeTable::Get();
  std::lock_guard lock(table.mutex);
  if (!table.Known(scope.name)) return false;
  table.levels[scope.name] = scope.level;
  if (table.callers.erase("all") != 0) {
    for (const LogScope* one : table.scopes) table.callers.emplace(one->name());
  }
  table.callers.erase(scope.name);
  if (scope.names_callers) table.callers.insert(scope.name);
  table.ApplyAll();
  return true;
}

void FlushLogs() { FlushLogOutput(); }

}  // namespace fairlead
