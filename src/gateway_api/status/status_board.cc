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
using About = StatusQuestion::About;

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
  std::optional<Moment> now;
  now.emplace(*step->translation(), mesh.written(), mesh.snapshot());
  std::lock_guard lock(input_mutex_);
  next_.swap(now);
  any_ = true;
}

void StatusBoard::SetVerdicts(std::vector<Diagnostic> verdicts) {
  std::lock_guard lock(input_mutex_);
  next_verdicts_ = std::move(verdicts);
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
  std::optional<Moment> next;
  std::optional<std::vector<Diagnostic>> verdicts;
  {
    std::lock_guard input_lock(input_mutex_);
    if (!any_) return {};
    next = std::exchange(next_, std::nullopt);
    verdicts = std::exchange(next_verdicts_, std::nullopt);
  }
  Dirty dirty;
  if (next) {
    dirty = FindDirty(*next);
    seen_.reset();
    seen_.emplace(*std::move(next));
  }
  if (verdicts) CompareVerdicts(*std::move(verdicts), &dirty);
  for (const ObjectKey& key : dirty) Update(key);
  return current_;
}

// The objects whose statuses may be others than in seen_.
StatusBoard::Dirty StatusBoard::FindDirty(const Moment& now) {
  Dirty dirty;
  const bool entries =
      !seen_ || seen_->objects.Revision(Kind::kServiceEntry) != now.objects.Revision(Kind::kServiceEntry);
  const bool settings = !seen_ || seen_->snapshot->settings != now.snapshot->settings;
  CompareObjects(now, &dirty);
  CompareConversions(now, &dirty);
  CompareServices(now, &dirty);
  CompareAddresses(now, entries || settings, &dirty);
  if (settings) MarkAskers({About::kSettings, {}}, &dirty);
  return dirty;
}

void StatusBoard::CompareObjects(const Moment& now, Dirty* dirty) {
  static const config::ObjectStore none;
  const config::ObjectStore& before = seen_ ? seen_->objects : none;
  for (const config::KindInfo& info : config::AllKinds()) {
    const Kind kind = info.kind;
    now.objects.All(kind).ForEachDifference(
        before.All(kind), [&](const auto& name, const ConfigPtr* /*was*/, const ConfigPtr* /*is*/) {
          const ObjectKey key{kind, name.first, name.second};
          if (HasStatus(kind) || verdicts_.contains(key)) dirty->insert(key);
          MarkAskers({About::kObject, key}, dirty);
          MarkAskers({About::kNamespace, {kind, key.ns, {}}}, dirty);
        });
  }
}

void StatusBoard::CompareConversions(const Moment& now, Dirty* dirty) {
  static const Translation none("");
  const Translation& before = seen_ ? seen_->translation : none;
  const auto note = [&](const ObjectKey& key, const auto* /*was*/, const auto* /*is*/) {
    MarkAskers({About::kConversion, key}, dirty);
  };
  now.translation.gateways().ForEachDifference(before.gateways(), note);
  now.translation.policies().ForEachDifference(before.policies(), note);
  now.translation.routes().ForEachDifference(
      before.routes(),
      [&](const ObjectKey& key, const RouteConversionPtr* was, const RouteConversionPtr* is) {
        note(key, was, is);
        if (was != nullptr) relations_.Remove(**was);
        if (is != nullptr) relations_.Add(**is);
        for (const RouteConversionPtr* one : {was, is}) {
          if (one != nullptr) NoteRoute(**one, dirty);
        }
      });
}

// Those that the route, which changes, is part of the statuses of.
void StatusBoard::NoteRoute(const RouteConversion& route, Dirty* dirty) const {
  for (const Attachment& one : route.attachments)
    MarkAskers({About::kAttached, {Kind{}, one.parent_key.ns, one.parent_key.name}}, dirty);
  for (const auto& [gateway, backend] : route.named) MarkAskers({About::kRoutesTo, backend}, dirty);
  for (const ObjectKey& pool : route.pools) MarkAskers({About::kRoutesTo, pool}, dirty);
}

// By the hosts that were asked for, which are few: those of Gateways' Services.
void StatusBoard::CompareServices(const Moment& now, Dirty* dirty) const {
  if (!seen_) return;
  const mesh::MeshSnapshot &before = *seen_->snapshot, &after = *now.snapshot;
  if (before.services == after.services && before.endpoints == after.endpoints) return;
  for (auto at = askers_.lower_bound({{About::kHost, ObjectKey{}}, ObjectKey{}});
       at != askers_.end() && at->first.about == About::kHost; ++at) {
    const ObjectKey& host = at->first.key;
    const std::string_view name = host.name;
    if (before.services->Host(name) != after.services->Host(name) ||
        before.endpoints->Find(name, host.ns) != after.endpoints->Find(name, host.ns))
      dirty->insert(at->second);
  }
}

// Which address a ServiceEntry gets depends on all older ones.
void StatusBoard::CompareAddresses(const Moment& now, bool changed, Dirty* dirty) {
  if (!changed) return;
  auto addresses = AllocateAddresses(now.objects, now.snapshot->settings->features);
  for (const auto& [key, list] : addresses) {
    const auto before = addresses_.find(key);
    if (before == addresses_.end() || before->second != list) dirty->insert(key);
  }
  for (const auto& [key, list] : addresses_) {
    if (!addresses.contains(key)) dirty->insert(key);
  }
  addresses_ = std::move(addresses);
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

void StatusBoard::MarkAskers(const StatusQuestion& question, Dirty* dirty) const {
  for (auto at = askers_.lower_bound({question, ObjectKey{}}); at != askers_.end() && at->first == question;
       ++at)
    dirty->insert(at->second);
}

void StatusBoard::SetQuestions(const ObjectKey& asker, std::vector<StatusQuestion> questions) {
  std::vector<StatusQuestion>& known = asked_[asker];
  if (known == questions) return;
  for (const StatusQuestion& question : known) askers_.erase({question, asker});
  for (const StatusQuestion& question : questions) askers_.emplace(question, asker);
  known = std::move(questions);
}

// Makes the status of one object again.
void StatusBoard::Update(const ObjectKey& key) {
  const StatusKey place = StatusKeyOf(key);
  const ConfigPtr object = seen_->objects.Find(key);
  if (object == nullptr) {
    SetQuestions(key, {});
    asked_.erase(key);
    return current_.Erase(place);
  }
  const StatusInputs inputs{seen_->translation, seen_->objects, *seen_->snapshot, relations_, addresses_};
  StatusView view(inputs);
  std::vector<StatusOf> made;
  if (auto status = StatusOfObject(*object, view); !status.empty()) {
    RemoveProxyVerdicts(conditions_, &status);
    made.push_back({object, std::move(status)});
  }
  SetQuestions(key, view.TakeQuestions());
  ++made_;
  if (const auto verdicts = verdicts_.find(key); verdicts != verdicts_.end())
    AddProxyVerdicts(verdicts->second, conditions_, seen_->objects, &made);
  if (made.empty()) return current_.Erase(place);
  const auto* const before = current_.Find(place);
  if (before != nullptr && SameStatus(**before, made.front())) return;
  current_.Set(place, std::make_shared<const StatusOf>(std::move(made.front())));
}

}  // namespace fairlead::gateway_api
