#include "push/diagnostic_log.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"

namespace fairlead::push {
namespace {

using config::Diagnostic;
using config::Severity;

LogScope config_log("config");

void SetGauge(const std::vector<Diagnostic>& all, Severity severity, const char* label) {
  metrics::GetGauge("fairlead_diagnostics", "What is wrong with the mesh's objects and files now.",
                    {{"severity", label}})
      .Set(static_cast<double>(CountOf(all, severity)));
}

}  // namespace

size_t CountOf(const std::vector<Diagnostic>& diagnostics, Severity severity) {
  return static_cast<size_t>(std::count_if(diagnostics.begin(), diagnostics.end(),
                                           [&](const Diagnostic& one) { return one.severity == severity; }));
}

void DiagnosticLog::Update(std::vector<Diagnostic> all) {
  std::map<std::string, Diagnostic> now;
  for (Diagnostic& diagnostic : all) now.emplace(config::ToText(diagnostic), std::move(diagnostic));
  for (const auto& [text, diagnostic] : now) {
    if (logged_.contains(text)) continue;
    const std::string line = diagnostic.details.empty() ? text : StrCat(text, "; ", diagnostic.details);
    diagnostic.severity == Severity::kError ? config_log.Error("{}", line) : config_log.Warn("{}", line);
  }
  for (const std::string& text : logged_) {
    if (!now.contains(text)) config_log.Info("no longer: {}", text);
  }
  logged_.clear();
  auto current = std::make_shared<std::vector<Diagnostic>>();
  for (auto& [text, diagnostic] : now) {
    logged_.insert(text);
    current->push_back(std::move(diagnostic));
  }
  SetGauge(*current, Severity::kError, "error");
  SetGauge(*current, Severity::kWarning, "warning");
  std::lock_guard lock(mutex_);
  current_ = std::move(current);
}

DiagnosticList DiagnosticLog::Current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace fairlead::push
