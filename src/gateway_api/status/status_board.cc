#include "gateway_api/status/status_board.h"

#include <algorithm>

#include "gateway_api/derivation.h"
#include "gateway_api/status/kinds.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigPtr;
using config::Diagnostic;
using config::Kind;
using config::ObjectKey;

StatusKey StatusKeyOf(const ObjectKey& key) { return {config::InfoOf(key.kind).name, key.ns, key.name}; }

bool SaysTheSame(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.code, a.message, a.details) == std::tie(b.code, b.message, b.details);
}

// Another version of the object may say something else where its status stands: whoever writes compares.
bool SameStatus(const StatusOf& a, const StatusOf& b) { return a.object == b.object && a.status == b.status; }

}  // namespace

void StatusBoard::OnPublished(const state::Mesh& mesh) {
  const auto* const step = mesh.Find<GatewayApiDerivation>();
  if (step == nullptr || step->translation() == nullptr) return;
  std::optional<StatusMoment> now;
  now.emplace(StatusMoment{*step->translation(), mesh.written(), mesh.snapshot()});
  std::lock_guard lock(input_mutex_);
  next_.swap(now);
  any_ = true;
}

void StatusBoard::SetVerdicts(std::vector<Diagnostic> verdicts) {
  std::lock_guard lock(input_mutex_);
  next_verdicts_ = std::move(verdicts);
}

void StatusBoard::SetOwnRevisions(OwnRevisions own) {
  std::lock_guard lock(input_mutex_);
  next_own_ = std::move(own);
}

bool StatusBoard::empty() const {
  std::lock_guard lock(input_mutex_);
  return !any_;
}

uint64_t StatusBoard::made() const {
  std::lock_guard lock(mutex_);
  return made_;
}

Statuses StatusBoard::Current() {
  std::lock_guard lock(mutex_);
  std::optional<StatusMoment> next;
  std::optional<std::vector<Diagnostic>> verdicts;
  std::optional<OwnRevisions> own;
  {
    std::lock_guard input_lock(input_mutex_);
    if (!any_) return {};
    next = std::exchange(next_, std::nullopt);
    verdicts = std::exchange(next_verdicts_, std::nullopt);
    own = std::exchange(next_own_, std::nullopt);
  }
  Dirty dirty;
  if (next) {
    dirty = FindDirty(*next);
    seen_.reset();
    seen_.emplace(*std::move(next));
  }
  if (verdicts) CompareVerdicts(*std::move(verdicts), &dirty);
  if (own) TakeOwn(*std::move(own), &dirty);
  for (const ObjectKey& key : dirty) Update(key);
  return current_;
}

// The objects whose statuses may be others than in seen_.
StatusBoard::Dirty StatusBoard::FindDirty(const StatusMoment& now) {
  static const auto* const none = new StatusMoment();
  const StatusMoment& before = seen_ ? *seen_ : *none;
  Dirty dirty;
  CompareOwners(before, now, &dirty);
  const auto mark = [&](const Question& question) {
    readers_.ForEachReader(question, [&](const ObjectKey& reader) { dirty.insert(reader); });
  };
  ForEachDifference(status_questions::OfStatuses(), mark, before, now);
  CompareRoutes(before, now);
  CompareAddresses(before, now, &dirty);
  return dirty;
}

// Each object asks for itself.
void StatusBoard::CompareOwners(const StatusMoment& before, const StatusMoment& now, Dirty* dirty) const {
  const auto mark = [&](const mesh::Key& changed) {
    const ObjectKey key{changed.kind(), changed.a, changed.b};
    if (HasStatus(key.kind) || verdicts_.contains(key)) dirty->insert(key);
  };
  status_questions::WrittenObject::Difference(before, now, mark);
}

void StatusBoard::CompareRoutes(const StatusMoment& before, const StatusMoment& now) {
  now.translation.routes().ForEachDifference(
      before.translation.routes(),
      [this](const ObjectKey& /*key*/, const RouteConversionPtr* was, const RouteConversionPtr* is) {
        if (was != nullptr) relations_.Remove(**was);
        if (is != nullptr) relations_.Add(**is);
      });
}

// Which address a ServiceEntry gets depends on all older ones.
void StatusBoard::CompareAddresses(const StatusMoment& before, const StatusMoment& now, Dirty* dirty) {
  if (before.objects.Revision(Kind::kServiceEntry) == now.objects.Revision(Kind::kServiceEntry) &&
      before.snapshot->settings == now.snapshot->settings)
    return;
  auto addresses = AllocateAddresses(now.objects, now.snapshot->settings->features);
  for (const auto& [key, list] : addresses) {
    const auto known = addresses_.find(key);
    if (known == addresses_.end() || known->second != list) dirty->insert(key);
  }
  for (const auto& [key, list] : addresses_) {
    if (!addresses.contains(key)) dirty->insert(key);
  }
  addresses_ = std::move(addresses);
}

// A tag moves seldom: then each object is looked at.
void StatusBoard::TakeOwn(OwnRevisions own, Dirty* dirty) {
  if (own == own_) return;
  own_ = std::move(own);
  for (const config::KindInfo& info : config::AllKinds()) {
    if (!HasStatus(info.kind)) continue;
    for (const auto& [name, object] : seen_->objects.All(info.kind)) dirty->insert(KeyOf(*object));
  }
}

void StatusBoard::CompareVerdicts(std::vector<Diagnostic> verdicts, Dirty* dirty) {
  Verdicts now;
  for (Diagnostic& verdict : verdicts) {
    if (!verdict.object || !verdict.object->cluster.empty()) continue;
    const ObjectKey key = *verdict.object;
    now[key].push_back(std::move(verdict));
  }
  const auto compare = [dirty](const Verdicts& some, const Verdicts& others) {
    for (const auto& [key, list] : some) {
      const auto other = others.find(key);
      if (other == others.end() ||
          !std::equal(list.begin(), list.end(), other->second.begin(), other->second.end(), SaysTheSame))
        dirty->insert(key);
    }
  };
  compare(now, verdicts_);
  compare(verdicts_, now);
  verdicts_ = std::move(now);
}

// Makes the status of one object again.
void StatusBoard::Update(const ObjectKey& key) {
  const StatusKey place = StatusKeyOf(key);
  const ConfigPtr object = seen_->objects.Find(key);
  if (object == nullptr) {
    readers_.Set(key, {});
    return current_.Erase(place);
  }
  const StatusInputs inputs{seen_->translation, seen_->objects, *seen_->snapshot,
                            relations_,         addresses_,     own_};
  StatusView view(inputs);
  std::vector<StatusOf> made;
  if (auto status = StatusOfObject(*object, view); !status.empty()) {
    RemoveProxyVerdicts(conditions_, &status);
    made.push_back({object, std::move(status)});
  }
  readers_.Set(key, view.TakeQuestions());
  ++made_;
  if (const auto verdicts = verdicts_.find(key); verdicts != verdicts_.end())
    AddProxyVerdicts(verdicts->second, conditions_, seen_->objects, &made);
  if (made.empty()) return current_.Erase(place);
  const auto* const before = current_.Find(place);
  if (before != nullptr && SameStatus(**before, made.front())) return;
  current_.Set(place, std::make_shared<const StatusOf>(std::move(made.front())));
}

}  // namespace fairlead::gateway_api
