#include "tests/fuzz/stream_model.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/hash.h"
#include "tests/fuzz/choices.h"

namespace fairlead::fuzz {

using xds::InfoOf;
using xds::kTypes;
using xds::MaskOf;
using xds::RequestVerdict;
using xds::TypeId;
using xds::TypeInfo;

void StreamModel::State::Forget() {
  told.reset();
  owed.clear();
  warm.clear();
  excused.clear();
  must_answer = may_answer = false;
}

void StreamModel::State::Owe(const std::string& name) {
  owed.insert(name);
  excused.erase(name);
}

void StreamModel::State::LetGo(const std::string& name) {
  if (told && told->contains(name)) let_go.insert(told->extract(name));
  owed.erase(name);
  warm.erase(name);
  excused.erase(name);
}

// --- What requests mean.

void StreamModel::OnRequest(const Asked& asked, const RequestVerdict& verdict) {
  const TypeInfo* type = xds::FindType(asked.url);
  const bool served = type != nullptr && (served_ & MaskOf(type->id)) != 0 && (delta() || !type->delta_only);
  Require(served != (verdict.kind == RequestVerdict::kUnknownType), "verdict on ", asked.url);
  if (!served) return;
  Require(verdict.type == type->id, "type of the verdict");
  State& state = StateOf(type->id);
  const bool starts = !state.subscription.opened || (!delta() && asked.nonce.empty());
  const bool answers = !starts && !asked.nonce.empty() && asked.nonce == state.nonce;
  const bool stale = !starts && !asked.nonce.empty() && !answers;
  Require(stale == (verdict.kind == RequestVerdict::kStale), InfoOf(type->id).name, " stale: ", stale);
  Require((answers && asked.rejected) == (verdict.kind == RequestVerdict::kNack), "NACK: ", asked.rejected);
  if (answers) TakeAnswer(asked, &state);
  if (delta()) {
    Change(asked, *type);
  } else if (!stale) {
    Replace(asked, *type, starts);
  }
}

void StreamModel::TakeAnswer(const Asked& asked, State* state) {
  if (asked.rejected) {
    ++state->nacks;
    state->nacked_version = state->version;
    state->nacked_nonce = state->nonce;
  } else {
    state->acked_version = state->version;
    state->acked_nonce = state->nonce;
  }
}

void StreamModel::Replace(const Asked& asked, const TypeInfo& type, bool starts) {
  State& state = StateOf(type.id);
  const Subscription before = state.subscription;
  state.subscription.Replace(asked.subscribe, type.root);
  const Subscription& now = state.subscription;
  if (starts || !now.Any()) state.Forget();
  if (!now.Any()) return;
  if (type.root) {
    if (!state.told) state.must_answer = true;
    if (before.wildcard != now.wildcard || before.names != now.names) state.may_answer = true;
    return;
  }
  for (const std::string& name : before.names) {
    if (!now.names.contains(name)) state.LetGo(name);
  }
  for (const std::string& name : now.names) {
    if (starts || !before.names.contains(name)) state.Owe(name);
  }
}

void StreamModel::Change(const Asked& asked, const TypeInfo& type) {
  State& state = StateOf(type.id);
  const bool opens = !state.subscription.opened, was_wildcard = state.subscription.wildcard;
  state.subscription.Change(asked.subscribe, asked.unsubscribe, type.root);
  const Subscription& now = state.subscription;
  if (opens) {
    state.must_answer = type.root;
    for (const auto& [name, version] : asked.claims) {
      if (!state.told) state.told.emplace();
      Hash128 hash;
      if (!ParseHex(version, &hash)) hash = {};
      if (now.Asks(name)) state.told->emplace(name, hash);
    }
  }
  for (const std::string& name : asked.subscribe) {
    const bool claimed = opens && state.told && state.told->contains(name);
    if (now.names.contains(name) && !claimed) state.Owe(name);
  }
  for (const std::string& name : asked.unsubscribe) {
    if (type.root && name == "*") continue;
    if (!now.wildcard || (!was_wildcard && !opens)) state.LetGo(name);
    if (now.wildcard) state.owed.insert(name);
  }
  if (!was_wildcard || now.wildcard) return;
  Set all = state.owed;
  for (const auto& [name, hash] : state.told.value_or(Contents())) all.insert(name);
  for (const std::string& name : all) {
    if (!now.names.contains(name)) state.LetGo(name);
  }
}

// --- What is sent.

// What only parents refer to whose going the client has not answered may wait on.
void StreamModel::OnChange() {
  for (const TypeInfo& parent : kTypes) {
    State& state = StateOf(parent.id);
    state.pending = state.subscription.Any();
    const bool answered =
        !state.subscription.Any() || state.nonce == state.acked_nonce || state.nonce == state.nacked_nonce;
    for (const TypeInfo& child : kTypes) {
      if (answered && (parent.children & MaskOf(child.id)) != 0) StateOf(child.id).excused.clear();
    }
  }
}

void StreamModel::OnQuiet() {
  for (State& state : states_) state.excused.clear();
}

Items StreamModel::Due(TypeId type, const StreamMesh& mesh) const {
  Items due = mesh.Of(type);
  std::erase_if(due, [&](const auto& entry) { return !SubscriptionOf(type).Asks(entry.first); });
  return due;
}

void StreamModel::OnWanted(const xds::StreamCore::Wanted& wanted) const {
  const Subscription& subscription = SubscriptionOf(wanted.type);
  Require(subscription.Any(), InfoOf(wanted.type).name, " was not asked for");
  Require((wanted.names == nullptr) == subscription.wildcard, "wildcard of ", InfoOf(wanted.type).name);
  if (wanted.names == nullptr) return;
  if (wanted.part) {
    Require(std::ranges::equal(wanted.names->names(), StateOf(wanted.type).owed), "names asked for anew of ",
            InfoOf(wanted.type).name);
    return;
  }
  Require(std::ranges::equal(wanted.names->names(), subscription.names), "names of ",
          InfoOf(wanted.type).name);
}

void StreamModel::OnOffer(TypeId id, const StreamMesh& mesh, const Seen* seen) {
  const TypeInfo& type = InfoOf(id);
  State& state = StateOf(id);
  const Items now = Due(id, mesh);
  NoteReferences(type, now);
  const Contents before = state.told.value_or(Contents());
  if (seen != nullptr) {
    Require(seen->type == id, "type of the response");
    CheckOrder(type, mesh);
    CheckResponse(type, now, *seen);
    CheckRemovals(type, mesh, before, *seen);
  } else {
    Require(!state.must_answer, type.name, " is not answered");
  }
  CheckOwed(type, now, seen);
  state.pending = false;
  Apply(type, now, seen);
  if (seen != nullptr) CheckVersion(type, *seen);
  state.owed.clear();
  state.warm.clear();
  state.must_answer = state.may_answer = false;
  const std::string lacks = Lacks(type, mesh, !type.removed_last);
  Require(lacks.empty(), type.name, " was offered and lacks ", lacks);
}

// A changed or new parent takes along what it refers to; what only parents referred to that are gone or
// changed may wait.
void StreamModel::NoteReferences(const TypeInfo& type, const Items& now) {
  const std::optional<Contents>& told = StateOf(type.id).told;
  std::set<std::pair<TypeId, std::string>> referred;
  const auto asked = [&](const auto& reference) {
    const State& child = StateOf(reference.first);
    return child.told && child.subscription.names.contains(reference.second);
  };
  for (const auto& [name, item] : now) {
    referred.insert(item.refers.begin(), item.refers.end());
    const bool as_told = told && told->contains(name) && told->at(name) == item.resource->hash;
    for (const auto& reference : item.refers) {
      if (as_told || !asked(reference)) continue;
      StateOf(reference.first).warm.insert(reference.second);
      StateOf(reference.first).excused.erase(reference.second);
    }
  }
  Contents before = std::exchange(StateOf(type.id).let_go, {});
  if (told) before.insert(told->begin(), told->end());
  for (const auto& [name, hash] : before) {
    if (told && told->contains(name) && now.contains(name) && now.at(name).resource->hash == hash) continue;
    for (const auto& reference : known_[hash]) {
      if (!referred.contains(reference) && asked(reference))
        StateOf(reference.first).excused.insert(reference.second);
    }
  }
}

// Make before break: what comes earlier in the table is there, but for what is to be removed.
void StreamModel::CheckOrder(const TypeInfo& type, const StreamMesh& mesh) const {
  for (const TypeInfo& earlier : kTypes) {
    if (earlier.id >= type.id) break;
    const std::string lacks = Lacks(earlier, mesh, !earlier.removed_last);
    Require(lacks.empty(), type.name, " was sent before ", earlier.name, " ", lacks);
  }
}

void StreamModel::CheckResponse(const TypeInfo& type, const Items& now, const Seen& seen) const {
  const State& state = StateOf(type.id);
  const Contents before = state.told.value_or(Contents());
  for (const auto& [name, hash] : seen.resources) {
    const auto had = before.find(name);
    const bool as_told = had != before.end() && had->second == hash;
    const auto is = now.find(name);
    if (is == now.end()) {
      Require(Whole(type) && type.removed_last && as_told, type.name, " ", name,
              " is not there or not asked for");
      continue;
    }
    Require(is->second.resource->hash == hash, type.name, " ", name, " is another");
    Require(Whole(type) || !as_told || state.owed.contains(name) || state.warm.contains(name), type.name, " ",
            name, " was sent again for nothing");
  }
  if (!Whole(type)) {
    Require(!seen.resources.empty() || !seen.removed.empty() || state.must_answer, type.name,
            " says nothing");
    return;
  }
  Require(state.must_answer || state.may_answer || seen.resources != before, type.name, " was sent again");
  for (const auto& [name, item] : now) Require(seen.resources.contains(name), type.name, " lacks ", name);
}

void StreamModel::CheckRemovals(const TypeInfo& type, const StreamMesh& mesh, const Contents& before,
                                const Seen& seen) const {
  const State& state = StateOf(type.id);
  bool drops = false;
  for (const std::string& name : seen.removed) {
    const bool asked_anew = state.owed.contains(name);
    Require(TellsRemovals(type), "removals of ", type.name);
    Require(state.subscription.Asks(name) && !mesh.Of(type.id).contains(name), type.name, " -", name);
    Require(before.contains(name) || asked_anew || state.warm.contains(name) || !state.told, type.name, " -",
            name, " is no news");
    drops |= before.contains(name) && !asked_anew;
  }
  if (Whole(type) && !state.must_answer && !state.may_answer) {
    for (const auto& [name, hash] : before) drops |= !seen.resources.contains(name);
  }
  if (!drops || !type.removed_last) return;
  // Not even before types of which nothing differs: in another mesh something would.
  for (const TypeInfo& other : kTypes) {
    if (other.id == type.id) continue;
    const std::string lacks = Lacks(other, mesh, true);
    Require(lacks.empty(), type.name, " lost some before ", other.name, " ", lacks);
    Require(!StateOf(other.id).pending || !SubscriptionOf(other.id).Any(), type.name,
            " lost some before it was ", other.name, "'s turn");
  }
}

void StreamModel::CheckOwed(const TypeInfo& type, const Items& now, const Seen* seen) const {
  if (Whole(type)) return;
  const State& state = StateOf(type.id);
  Set owed = state.owed;
  owed.insert(state.warm.begin(), state.warm.end());
  if (!state.told) owed.insert(state.subscription.names.begin(), state.subscription.names.end());
  for (const std::string& name : owed) {
    if (now.contains(name)) {
      Require(seen != nullptr && seen->resources.contains(name), type.name, " ", name, " was asked for");
    } else if (TellsRemovals(type) && !state.warm.contains(name)) {
      Require(seen != nullptr && seen->removed.contains(name), type.name, " -", name, " was asked for");
    }
  }
}

void StreamModel::Apply(const TypeInfo& type, const Items& now, const Seen* seen) {
  State& state = StateOf(type.id);
  if (!state.told) state.told.emplace();
  if (seen != nullptr) {
    if (Whole(type)) state.told->clear();
    for (const auto& [name, hash] : seen->resources) (*state.told)[name] = hash;
    for (const std::string& name : seen->removed) state.told->erase(name);
  }
  if (Whole(type) || TellsRemovals(type)) return;
  std::erase_if(*state.told, [&](const auto& entry) { return !now.contains(entry.first); });
}

void StreamModel::CheckVersion(const TypeInfo& type, const Seen& seen) {
  State& state = StateOf(type.id);
  Require(!seen.version.empty() && seen.nonce.starts_with("n"), "no version or nonce");
  const uint64_t number = std::strtoull(seen.nonce.c_str() + 1, nullptr, 10);
  Require(number > last_nonce_, "nonce ", seen.nonce, " after ", last_nonce_);
  last_nonce_ = number;
  state.version = seen.version;
  state.nonce = seen.nonce;
  const Contents& contents = *state.told;
  const auto by_version = by_version_.emplace(std::pair(type.id, seen.version), contents).first;
  const auto by_contents = by_contents_.emplace(std::pair(type.id, contents), seen.version).first;
  Require(by_version->second == contents, type.name, " version ", seen.version, " of two contents");
  Require(by_contents->second == seen.version, type.name, " two versions of one content");
}

std::string StreamModel::Lacks(const TypeInfo& type, const StreamMesh& mesh, bool removals) const {
  const State& state = StateOf(type.id);
  if (!state.subscription.Any()) return "";
  if (!state.told || state.must_answer) return "an answer";
  if (!state.owed.empty()) return *state.owed.begin();
  const Items& items = mesh.Of(type.id);
  for (const auto& [name, item] : items) {
    if (!state.subscription.Asks(name)) continue;
    const auto told = state.told->find(name);
    const bool as_told = told != state.told->end() && told->second == item.resource->hash;
    if (state.warm.contains(name) || (!as_told && !state.excused.contains(name))) return name;
  }
  if (!removals || !(Whole(type) || TellsRemovals(type))) return "";
  for (const auto& [name, hash] : *state.told) {
    const bool due = items.contains(name) && state.subscription.Asks(name);
    if (!due && !state.excused.contains(name)) return "-" + name;
  }
  return "";
}

void StreamModel::CheckIdle(const StreamMesh& mesh) const {
  for (const TypeInfo& type : kTypes) {
    const std::string lacks = Lacks(type, mesh, true);
    Require(lacks.empty(), "at rest, ", type.name, " lacks ", lacks);
  }
}

void StreamModel::CheckStatus(const xds::StreamCore& core) const {
  for (const TypeInfo& type : kTypes) {
    const State& state = StateOf(type.id);
    const xds::TypeStatus status = core.Status(type.id);
    Require(status.subscribed == state.subscription.Any(), type.name, " subscribed");
    Require(status.wildcard == state.subscription.wildcard, type.name, " wildcard");
    Require(std::ranges::equal(status.names->names(), state.subscription.names), type.name, " names");
    Require(status.version_sent == state.version && status.nonce_sent == state.nonce, type.name, " sent");
    Require(status.version_acked == state.acked_version && status.nonce_acked == state.acked_nonce, type.name,
            " ACKed");
    Require(status.version_nacked == state.nacked_version && status.nonce_nacked == state.nacked_nonce,
            type.name, " NACKed");
    Require(status.nacks == state.nacks, type.name, " NACKs");
    if (status.sent == nullptr) continue;
    Require(state.told.has_value(), type.name, " is taken to have something");
  }
}

}  // namespace fairlead::fuzz
