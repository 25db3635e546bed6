#include "source/platform/platform_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

// A platform that is busy for a moment is nobody's concern.
constexpr size_t kFewestFailures = 3;

bool SameObjects(const PlatformPart& a, const PlatformPart& b) {
  return std::equal(a.objects.begin(), a.objects.end(), b.objects.begin(), b.objects.end(),
                    [](const config::ConfigPtr& left, const config::ConfigPtr& right) {
                      return config::KeyOf(*left) == config::KeyOf(*right) &&
                             left->content_hash() == right->content_hash();
                    });
}

config::Diagnostic PlatformDiagnostic(config::Severity severity, std::string code, std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  return diagnostic;
}

}  // namespace

void PlatformView::Put(const std::string& name, PlatformPart part) {
  kept_.erase(name);
  const auto known = parts_.find(name);
  const bool same = known != parts_.end() && SameObjects(*known->second, part);
  const bool silent =
      part.diagnostics.empty() && (known == parts_.end() || known->second->diagnostics.empty());
  if (same && silent) return;
  ++revision_;
  // What did not change keeps its pointers.
  if (same) part.objects = known->second->objects;
  Swap(name, std::make_shared<const PlatformPart>(std::move(part)));
}

void PlatformView::Remove(const std::string& name) {
  kept_.erase(name);
  if (!parts_.contains(name)) return;
  ++revision_;
  Swap(name, nullptr);
}

void PlatformView::Swap(const std::string& name, PlatformPartPtr part) {
  ++parts_revision_;
  const PlatformPartPtr before = std::exchange(parts_[name], part);
  std::set<config::ObjectKey> now;
  if (part != nullptr) {
    for (const config::ConfigPtr& object : part->objects) {
      config::ObjectKey key = config::KeyOf(*object);
      if (now.insert(key).second) Hold(name, object, key);
    }
  } else {
    parts_.erase(name);
  }
  if (before == nullptr) return;
  for (const config::ConfigPtr& object : before->objects) {
    const config::ObjectKey key = config::KeyOf(*object);
    if (!now.contains(key)) LetGo(name, key);
  }
}

const config::ConfigPtr* PlatformView::Counting(const config::ObjectKey& key) const {
  const auto it = holders_.find(key);
  return it == holders_.end() ? nullptr : &it->second.begin()->second;
}

void PlatformView::Hold(const std::string& name, const config::ConfigPtr& object,
                        const config::ObjectKey& key) {
  const config::ConfigPtr* counting = Counting(key);
  const config::ConfigPtr before = counting == nullptr ? nullptr : *counting;
  Holders& holders = holders_[key];
  const size_t others = holders.size();
  holders[name] = object;
  if (others == 1 && holders.size() == 2) ++contested_;
  Tell(key, before);
}

void PlatformView::LetGo(const std::string& name, const config::ObjectKey& key) {
  const auto it = holders_.find(key);
  if (it == holders_.end()) return;
  const config::ConfigPtr before = it->second.begin()->second;
  if (it->second.erase(name) == 0) return;
  if (it->second.size() == 1) --contested_;
  if (it->second.empty()) holders_.erase(it);
  Tell(key, before);
}

void PlatformView::Tell(const config::ObjectKey& key, const config::ConfigPtr& before) {
  const config::ConfigPtr* counting = Counting(key);
  if (counting == nullptr) {
    changes_[key] = nullptr;
  } else if (before == nullptr || before->content_hash() != (*counting)->content_hash()) {
    changes_[key] = *counting;
  }
}

void PlatformView::RetainOnly(const std::function<bool(const std::string& name)>& is_there) {
  std::vector<std::string> gone;
  for (const auto& [name, part] : parts_) {
    if (!is_there(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) Remove(name);
}

void PlatformView::SetComplete() {
  if (std::exchange(complete_, true)) return;
  ++revision_;
  kept_time_.reset();
  for (const auto& [name, kept] : std::exchange(kept_, {})) Remove(name);
}

void PlatformView::SetKept(std::map<std::string, PlatformPart> parts, int64_t time) {
  kept_time_ = time;
  ++revision_;
  for (auto& [name, part] : parts) {
    if (parts_.contains(name)) continue;
    Swap(name, std::make_shared<const PlatformPart>(std::move(part)));
    kept_.emplace(name, true);
  }
}

void PlatformView::NoteAnswer(Milliseconds lag) {
  ++answers_;
  lag_ = lag;
}

void PlatformView::NoteTrouble(const std::string& question, const std::string& text, size_t failures) {
  ++errors_;
  const std::string before = Trouble();
  troubles_[question] = {text, failures};
  if (Trouble() != before) ++revision_;
}

void PlatformView::ForgetTrouble(const std::string& question) {
  const auto it = troubles_.find(question);
  if (it == troubles_.end()) return;
  const std::string before = Trouble();
  troubles_.erase(it);
  if (Trouble() != before) ++revision_;
}

void PlatformView::SetRemark(const std::string& code, const std::string& text) {
  if (text.empty()) {
    if (remarks_.erase(code) > 0) ++revision_;
    return;
  }
  if (std::exchange(remarks_[code], text) != text) ++revision_;
}

std::string PlatformView::Trouble() const {
  for (const auto& [question, failing] : troubles_) {
    if (failing.failures >= kFewestFailures || !complete_) return StrCat(question, ": ", failing.text);
  }
  return "";
}

std::string PlatformView::FirstTrouble() const {
  if (troubles_.empty()) return "";
  return StrCat(troubles_.begin()->first, ": ", troubles_.begin()->second.text);
}

std::vector<config::ObjectChange> PlatformView::TakeChanges() {
  std::vector<config::ObjectChange> changes;
  changes.reserve(changes_.size());
  for (auto& [key, object] : changes_) changes.push_back({key, std::move(object)});
  changes_.clear();
  return changes;
}

std::vector<config::Diagnostic> PlatformView::Diagnostics(const std::string& name) const {
  std::vector<config::Diagnostic> all;
  const std::string trouble = Trouble();
  if (!trouble.empty()) {
    all.push_back(PlatformDiagnostic(
        config::Severity::kError, "unreachable-source",
        StrCat(name, " has no news: ", trouble, parts_.empty() ? "" : "; its last good view is in effect")));
  }
  if (kept_time_) {
    all.push_back(PlatformDiagnostic(config::Severity::kWarning, "kept-source",
                                     StrCat(name, " has not answered since the start: its view of ",
                                            config::UtcText(*kept_time_), " is in effect")));
  }
  for (const auto& [code, text] : remarks_)
    all.push_back(PlatformDiagnostic(config::Severity::kWarning, code, StrCat(name, ": ", text)));
  for (const auto& [part_name, part] : parts_)
    all.insert(all.end(), part->diagnostics.begin(), part->diagnostics.end());
  if (contested_ == 0) return all;
  for (const auto& [key, holders] : holders_) {
    for (auto it = std::next(holders.begin()); it != holders.end(); ++it) {
      config::Diagnostic& diagnostic = all.emplace_back(
          PlatformDiagnostic(config::Severity::kWarning, "duplicate-object",
                             StrCat("is not used: ", holders.begin()->second->origin().file.str(),
                                    " stands for the same object, and comes first")));
      diagnostic.file = it->second->origin().file.str();
      diagnostic.line = it->second->origin().line;
      diagnostic.object = key;
    }
  }
  return all;
}

}  // namespace fairlead::source
