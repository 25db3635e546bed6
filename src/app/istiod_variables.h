#ifndef FAIRLEAD_APP_ISTIOD_VARIABLES_H_
#define FAIRLEAD_APP_ISTIOD_VARIABLES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::app {

// A variable of istiod's that is not honoured. Those that are honoured are in EnvironmentTable.
// Source: Istio 1.31, pilot/pkg/features.
struct IstiodVariable {
  enum class Fate {
    kIdle,     // it has no meaning here: nothing of what proxies are sent depends on it
    kRefused,  // it would change what proxies are sent, and does not
  };
  std::string_view name;
  std::string_view fallback;  // istiod's default
  Fate fate;
  std::string_view why;  // what is done instead, or why it has no meaning
};
// By name.
std::span<const IstiodVariable> IstiodVariables();

// What is to be said of the settings of a process ("NAME=value") at its start, a line each: variables that
// are not honoured and say something else than istiod's default; those without meaning, on one line; names
// that begin with PILOT_ or ISTIO_GPRC_ and that neither istiod nor Fairlead has.
std::vector<std::string> RemarksOn(const std::vector<std::string>& settings);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_ISTIOD_VARIABLES_H_
