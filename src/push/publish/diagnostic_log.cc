#include "push/publish/diagnostic_log.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"

namespace fairlead::push {
namespace {

using config::Diagnostic;
using config::Severity;

LogScope config_log("config");

bool Same(const Diagnostic& a, const Diagnostic& b) {
  const auto parts = [](const Diagnostic& one) {
    return std::tie(one.severity, one.line, one.object, one.code, one.file, one.path, one.message,
                    one.details);
  };
  return parts(a) == parts(b);
}

void SetGauge(const char* severity, size_t count) {
  metrics::GetGauge("fairlead_diagnostics", "What is wrong with the mesh's objects and files now.",
                    {{"severity", severity}})
      .Set(static_cast<double>(count));
}

}  // namespace

size_t CountOf(const std::vector<Diagnostic>& diagnostics, Severity severity) {
  return static_cast<size_t>(std::count_if(diagnostics.begin(), diagnostics.end(),
                                           [&](const Diagnostic& one) { return one.severity == severity; }));
}

DiagnosticLog::DiagnosticLog() {
  SetGauge("error", 0);
  SetGauge("warning", 0);
}

// Texts are made of what lies between the parts that both lists begin and end with.
void DiagnosticLog::Set(const std::string& account, DiagnosticList now) {
  static const DiagnosticList none = std::make_shared<const std::vector<Diagnostic>>();
  DiagnosticList& known = accounts_.try_emplace(account, none).first->second;
  if (known == now) return;
  const DiagnosticList before = std::exchange(known, std::move(now));
  const auto [old_begin, new_begin] =
      std::mismatch(before->begin(), before->end(), known->begin(), known->end(), Same);
  auto old_end = before->end(), new_end = known->end();
  while (old_end != old_begin && new_end != new_begin && Same(*std::prev(old_end), *std::prev(new_end))) {
    --old_end;
    --new_end;
  }
  std::lock_guard lock(mutex_);
  for (auto one = old_begin; one != old_end; ++one) Remove(*one);
  for (auto one = new_begin; one != new_end; ++one) Add(*one);
}

// REQUIRES: mutex_ is held.
void DiagnosticLog::Add(const Diagnostic& diagnostic) {
  const std::string text = config::ToText(diagnostic);
  Known& known = known_[text];
  known.diagnostic = diagnostic;
  ++known.times;
  touched_.insert(text);
}

// REQUIRES: mutex_ is held.
void DiagnosticLog::Remove(const Diagnostic& diagnostic) {
  std::string text = config::ToText(diagnostic);
  --known_.at(text).times;
  touched_.insert(std::move(text));
}

void DiagnosticLog::Tell() {
  std::lock_guard lock(mutex_);
  if (touched_.empty()) return;
  const auto count_of = [this](const Diagnostic& one) -> size_t& {
    return one.severity == Severity::kError ? errors_ : warnings_;
  };
  for (const std::string& text : touched_) {
    Known& known = known_.at(text);
    if (known.times == 0 || known.logged) continue;
    const Diagnostic& diagnostic = known.diagnostic;
    const std::string line = diagnostic.details.empty() ? text : StrCat(text, "; ", diagnostic.details);
    diagnostic.severity == Severity::kError ? config_log.Error("{}", line) : config_log.Warn("{}", line);
    ++count_of(diagnostic);
    known.logged = true;
  }
  for (const std::string& text : touched_) {
    const auto known = known_.find(text);
    if (known->second.times > 0) continue;
    if (known->second.logged) {
      config_log.Info("no longer: {}", text);
      --count_of(known->second.diagnostic);
    }
    known_.erase(known);
  }
  touched_.clear();
  current_ = nullptr;
  SetGauge("error", errors_);
  SetGauge("warning", warnings_);
}

DiagnosticList DiagnosticLog::Current() const {
  std::lock_guard lock(mutex_);
  if (current_ != nullptr) return current_;
  auto all = std::make_shared<std::vector<Diagnostic>>();
  for (const auto& [text, known] : known_) {
    if (known.logged && known.times > 0) all->push_back(known.diagnostic);
  }
  return current_ = std::move(all);
}

}  // namespace fairlead::push
