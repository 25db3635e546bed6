#include "gen/route/scope_memo.h"

#include "gen/route/collect.h"

namespace fairlead::gen::route {

cache::ResourcePtr ScopeMemo::Scope::Find(const Question& question) const {
  std::lock_guard lock(mutex_);
  const auto found = answers_.find(question);
  return found == answers_.end() ? nullptr : found->second;
}

void ScopeMemo::Scope::Keep(Question question, cache::ResourcePtr answer) {
  std::lock_guard lock(mutex_);
  answers_.insert_or_assign(std::move(question), std::move(answer));
}

ScopeMemo::ScopePtr ScopeMemo::For(const mesh::SidecarScopePtr& scope) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[scope];
  if (entry.answers == nullptr) entry.answers = std::make_shared<Scope>(LabelsMatter(*scope));
  entry.used = true;
  return entry.answers;
}

void ScopeMemo::Sweep() {
  std::lock_guard lock(mutex_);
  absl::erase_if(entries_, [](const auto& entry) { return !entry.second.used; });
  for (auto& [scope, entry] : entries_) entry.used = false;
}

}  // namespace fairlead::gen::route
