#ifndef FAIRLEAD_GEN_RESOURCE_WARN_ONCE_H_
#define FAIRLEAD_GEN_RESOURCE_WARN_ONCE_H_

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace fairlead::gen {

// Lines that were written lately. A warning that is found again stays known. A warning that was absent for an
// hour is forgotten. If there are too many, the one found longest ago is forgotten. A number of new warnings
// count at once, then one a second. The others count as new when they are found later. Thread-safe.
class WrittenLines {
 public:
  explicit WrittenLines(size_t most = 2000) : most_(most), left_(static_cast<double>(most)) {}
  // Whether the line is to be written now; then it was.
  bool IsNews(const std::string& line, Clock::time_point now);

 private:
  struct Written {
    std::string line;
    Clock::time_point found;
  };

  const size_t most_;
  std::mutex mutex_;
  std::list<Written> lines_;  // the one that was found last comes first
  std::map<std::string_view, std::list<Written>::iterator> known_;
  double left_;  // lines that may be new at `counted_`
  Clock::time_point counted_{};
};

// Writes a warning to the log of a scope, unless it was written lately (see WrittenLines). Every generator
// finds the same mistake of an object, and finds it again at every read. Thread-safe.
void WarnOnce(LogScope& scope, const std::string& line);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_RESOURCE_WARN_ONCE_H_
