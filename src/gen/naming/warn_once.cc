#include "gen/naming/warn_once.h"

#include <mutex>
#include <set>

namespace fairlead::gen {
namespace {

constexpr size_t kMostLines = 2000;

// False for all when there were too many.
bool IsNews(const std::string& line) {
  static auto* const mutex = new std::mutex;
  static auto* const written = new std::set<std::string>;
  std::lock_guard lock(*mutex);
  return written->size() < kMostLines && written->insert(line).second;
}

}  // namespace

void WarnOnce(LogScope& scope, const std::string& line) {
  if (IsNews(line)) scope.Warn("{}", line);
}

}  // namespace fairlead::gen
