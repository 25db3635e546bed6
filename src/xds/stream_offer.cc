#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/hash.h"
#include "base/strings.h"
#include "xds/stream_core.h"

// What is sent, and when. The other half, what requests mean, is in stream_core.cc.
namespace fairlead::xds {
namespace {

// What a client has that got all of `now` and was not yet told that `gone` is gone.
ResourceSetPtr With(const ResourceSet& now, std::vector<ResourcePtr> gone) {
  std::vector<ResourceListPtr> parts = now.parts();
  parts.push_back(ResourceList::Of(std::move(gone)));
  return ResourceSet::Of(std::move(parts));
}

// The set after a few resources changed. Lists grow as they are joined, each at least twice as long as the
// next: a set that grows one by one has few of them, and a resource is copied as often as lists are joined,
// about log n times.
ResourceSetPtr Changed(const ResourceSetPtr& set, const Difference& difference) {
  if (difference.empty()) return set;
  StringSet gone;
  for (const auto* had : {&difference.replaced, &difference.removed}) {
    for (const ResourcePtr& resource : *had) gone.insert(resource->name.str());
  }
  std::vector<ResourceListPtr> parts = (gone.empty() ? set : Without(*set, gone))->parts();
  if (!difference.changed.empty()) parts.push_back(ResourceList::Of(difference.changed));
  while (parts.size() > 1 && (parts.end() - 2)->get()->size() < 2 * parts.back()->size()) {
    std::vector<ResourcePtr> joined = (parts.end() - 2)->get()->resources();
    joined.insert(joined.end(), parts.back()->resources().begin(), parts.back()->resources().end());
    parts.pop_back();
    parts.back() = ResourceList::Of(std::move(joined));
  }
  return ResourceSet::Of(std::move(parts));
}

// Adds what is asked for anew and exists; what does not exist goes to `unknown`.
template <typename Wanted>
void AddAgain(const NameBag& again, const ResourceSet& now, const Wanted& wanted,
              std::vector<ResourcePtr>* changed, std::vector<Interned>* unknown) {
  if (again.empty()) return;
  absl::flat_hash_set<const cache::Resource*> known;
  for (const ResourcePtr& resource : *changed) known.insert(resource.get());
  StringSet missing;
  for (const std::string& name : again) {
    if (!wanted(name)) continue;
    if (ResourcePtr resource = now.Find(name)) {
      if (known.insert(resource.get()).second) changed->push_back(std::move(resource));
    } else if (missing.insert(name).second) {
      unknown->push_back(Interned(name));
    }
  }
}

}  // namespace

void StreamCore::OnChange(uint32_t types) {
  for (const TypeInfo& type : kTypes) {
    TypeState& state = StateOf(type.id);
    // What was withheld differs still.
    const bool differs = (types & MaskOf(type.id)) != 0 || !state.withheld.empty();
    state.due |= differs && state.Subscribed();
  }
  ForgetOrphans();
}

// Those of types whose parents the client has answered: it has had its turn to let go. What it missed differs
// from what it has.
void StreamCore::ForgetOrphans() {
  for (const TypeInfo& parent : kTypes) {
    if (parent.children == 0 || !StateOf(parent.id).Answered()) continue;
    for (const TypeInfo& child : kTypes) {
      if ((parent.children & MaskOf(child.id)) == 0) continue;
      StateOf(child.id).orphans.Clear();
      StateOf(child.id).withheld.Clear();
    }
  }
}

void StreamCore::OnResend() {
  OnChange();
  for (TypeState& state : states_) state.resend = state.due;
}

void StreamCore::OnQuiet() {
  for (TypeState& state : states_) {
    state.orphans.Clear();
    const NameBag withheld = std::exchange(state.withheld, {});
    for (const std::string& name : withheld) state.due |= state.Asks(name);
  }
}

bool StreamCore::HoldsBack() const {
  for (const TypeState& state : states_) {
    if (state.answered_nonce != state.nonce) return false;
  }
  return std::any_of(states_.begin(), states_.end(), [](const TypeState& state) {
    return std::any_of(state.withheld.begin(), state.withheld.end(),
                       [&](const std::string& name) { return state.Asks(name); });
  });
}

std::optional<StreamCore::Wanted> StreamCore::Next() const {
  const auto wanted = [&](const TypeInfo& type) -> Wanted {
    const TypeState& state = StateOf(type.id);
    if (state.PartDue()) return {type.id, state.again.Set(), /*part=*/true};
    return {type.id, state.wildcard ? nullptr : state.names.All()};
  };
  for (const TypeInfo& type : kTypes) {
    if (IsDue(type)) return wanted(type);
  }
  for (const TypeInfo& type : kTypes) {
    if (StateOf(type.id).removals_due) return wanted(type);
  }
  return std::nullopt;
}

bool StreamCore::Due() const {
  return std::any_of(std::begin(kTypes), std::end(kTypes),
                     [this](const TypeInfo& type) { return IsDue(type) || StateOf(type.id).removals_due; });
}

bool StreamCore::OthersDue(TypeId type) const {
  for (const TypeInfo& other : kTypes) {
    if (other.id != type && IsDue(other)) return true;
  }
  return false;
}

std::optional<Response> StreamCore::Offer(TypeId id, const ResourceSetPtr& now) {
  const TypeInfo& type = InfoOf(id);
  TypeState& state = StateOf(id);
  if (answers_ == AnswerWhen::kNewVersionOnly && ToHex(now->hash()) == polled_version_) {
    state.due = false;
    return std::nullopt;
  }
  if (state.PartDue()) return OfferPart(type, state, now);
  const bool first = state.sent == nullptr;  // then everything is new: nothing to compare
  const DifferencePtr difference = first ? Compare(*now, *now) : Compare(*state.sent, *now);
  if (state.due || state.again_due) {  // not again for the removals at the end
    first ? PrepareAllChildren(type, *now) : PrepareChildren(type, *difference, *now);
  }
  state.NotDue();
  if (state.resend && !first) AskAgainForAll(*now, &state);
  std::optional<Response> response;
  if (framing_ == Framing::kStateOfTheWorld && type.root) {
    response = OfferWhole(type, state, *difference, now);
  } else if (first && AnswersAll(state, *now)) {
    response = OfferAll(type, state, now);
  } else if (first) {
    for (const std::string& name : state.names.All()->names()) state.again.Add(name);
    response = OfferChanged(type, state, *Compare(*ResourceSet::Empty(), *now), now);
  } else {
    response = OfferChanged(type, state, *difference, now);
  }
  if (!response) state.acceptance.OnNothingSent(state.sent);
  state.respond = state.resend = false;
  state.again.Clear();
  state.dropped.Clear();
  return response;
}

// What is asked for anew, to a client whose other resources are as they were: the work is that of the names
// asked for, however many the client has. REQUIRES: state.PartDue()
std::optional<Response> StreamCore::OfferPart(const TypeInfo& type, TypeState& state,
                                              const ResourceSetPtr& now) {
  const NameBag again = std::exchange(state.again, {});
  state.again_due = false;
  Difference difference;
  std::vector<ResourcePtr> resources;
  std::vector<Interned> unknown;
  for (const std::string& name : again) {
    if (!state.names.Contains(name)) continue;
    ResourcePtr is = now->Find(name), had = state.sent->Find(name);
    if (is == nullptr && !type.never_removed) unknown.emplace_back(name);
    if (is != nullptr) resources.push_back(is);
    if (is == nullptr && had != nullptr) difference.removed.push_back(had);
    if (is == nullptr || (had != nullptr && had->hash == is->hash)) continue;
    if (had != nullptr) difference.replaced.push_back(had);
    difference.changed.push_back(std::move(is));
  }
  state.sent = Changed(state.sent, difference);
  PrepareChildren(type, difference, *state.sent);
  if (resources.empty() && unknown.empty()) {
    state.acceptance.OnNothingSent(state.sent);
    return std::nullopt;
  }
  Response response = Begin(type, state, state.sent->hash());
  response.resources = std::move(resources);
  response.removed = std::move(unknown);
  state.acceptance.OnSent(state.nonce, state.sent, response);
  return response;
}

// All but the orphans, of which the client will let go.
void StreamCore::AskAgainForAll(const ResourceSet& now, TypeState* state) {
  for (const ResourceListPtr& part : now.parts()) {
    for (const ResourcePtr& resource : part->resources()) {
      if (!state->orphans.Contains(resource->name.str())) state->again.Add(resource->name.str());
    }
  }
}

Response StreamCore::Begin(const TypeInfo& type, TypeState& state, const Hash128& version) {
  state.nonce = ++last_nonce_;
  state.version = version;
  Response response;
  response.type = type.id;
  response.version = ToHex(version);
  response.nonce = answers_ == AnswerWhen::kNewVersionOnly ? response.version : NonceText(state.nonce);
  return response;
}

// Everything if anything differs: what a response lacks is gone for the client.
std::optional<Response> StreamCore::OfferWhole(const TypeInfo& type, TypeState& state,
                                               const Difference& difference, const ResourceSetPtr& now) {
  const bool first = state.sent == nullptr;
  ResourceSetPtr whole = now;
  if (!difference.removed.empty() && type.removed_last && !state.respond && OthersDue(type.id)) {
    state.removals_due = true;
    if (difference.changed.empty() && !state.resend) return std::nullopt;
    whole = With(*now, difference.removed);
  } else if (difference.empty() && !first && !state.respond && !state.resend) {
    state.sent = now;
    return std::nullopt;
  }
  state.sent = whole;
  Response response = Begin(type, state, whole->hash());
  response.lists = whole->parts();
  state.acceptance.OnSent(state.nonce, state.sent, response);
  return response;
}

// Whether nothing is to be reported as unknown to a client that has nothing yet.
bool StreamCore::AnswersAll(const TypeState& state, const ResourceSet& now) const {
  if (framing_ == Framing::kStateOfTheWorld) return true;
  if (state.names.empty()) return state.again.empty();
  return !state.wildcard && now.size() >= state.names.size();
}

// An empty answer says something where the client asked for everything, or in delta for names that do not
// exist, or where there is but one answer.
bool StreamCore::MustAnswer(const TypeState& state) const {
  return state.respond && (framing_ == Framing::kDelta || answers_ != AnswerWhen::kWhatDiffers);
}

// To a client that has nothing yet, and asks for nothing that is not there.
std::optional<Response> StreamCore::OfferAll(const TypeInfo& type, TypeState& state,
                                             const ResourceSetPtr& now) {
  state.sent = now;
  if (now->size() == 0 && !MustAnswer(state)) return std::nullopt;
  Response response = Begin(type, state, now->hash());
  response.lists = now->parts();
  state.acceptance.OnSent(state.nonce, state.sent, response);
  return response;
}

std::optional<Response> StreamCore::OfferChanged(const TypeInfo& type, TypeState& state,
                                                 Difference difference, const ResourceSetPtr& now) {
  if (!state.dropped.empty()) {
    std::erase_if(difference.removed,
                  [&](const ResourcePtr& resource) { return state.dropped.Contains(resource->name.str()); });
  }
  ResourceSetPtr whole = LeaveOrphans(state, &difference, now);
  std::vector<Interned> removed;
  const auto wanted = [&](const std::string& name) { return state.Asks(name); };
  AddAgain(state.again, *now, wanted, &difference.changed, &removed);
  if (framing_ == Framing::kStateOfTheWorld || type.never_removed) {
    removed.clear();
  } else if (!difference.removed.empty() && type.removed_last && OthersDue(type.id)) {
    const auto told_now = [&](const ResourcePtr& gone) {
      return std::ranges::count(removed, gone->name) > 0;
    };
    std::erase_if(difference.removed, told_now);  // they were asked for anew
    state.removals_due = !difference.removed.empty();
    whole = With(*whole, std::move(difference.removed));
  } else {
    for (const ResourcePtr& resource : difference.removed) removed.push_back(resource->name);
  }
  state.sent = whole;
  if (difference.changed.empty() && removed.empty() && !MustAnswer(state)) return std::nullopt;

  Response response = Begin(type, state, whole->hash());
  if (difference.changed.size() == now->size()) {
    response.lists = now->parts();
  } else {
    response.resources = std::move(difference.changed);
  }
  std::sort(removed.begin(), removed.end());
  removed.erase(std::unique(removed.begin(), removed.end()), removed.end());
  response.removed = std::move(removed);
  state.acceptance.OnSent(state.nonce, state.sent, response);
  return response;
}

// Takes the orphans that differ out of what is to be sent, and gives what the client has once it got the
// rest: those as they were. Not those that the client asked for anew.
ResourceSetPtr StreamCore::LeaveOrphans(TypeState& state, Difference* difference, const ResourceSetPtr& now) {
  state.withheld.Clear();
  if (state.orphans.empty()) return now;
  StringSet left;
  std::vector<ResourcePtr> as_they_were;
  const auto leave = [&](const ResourcePtr& resource) {
    const std::string& name = resource->name.str();
    if (!state.orphans.Contains(name) || state.again.Contains(name)) return false;
    left.insert(name);
    if (ResourcePtr had = state.sent->Find(name)) as_they_were.push_back(std::move(had));
    return true;
  };
  std::erase_if(difference->changed, leave);
  // In state of the world there is no way to say that one is gone.
  if (framing_ == Framing::kDelta) std::erase_if(difference->removed, leave);
  for (const std::string& name : left) state.withheld.Add(name);
  return left.empty() ? now : With(*Without(*now, left), std::move(as_they_were));
}

// For a client that had nothing of the type: what may it have of those that the type refers to?
void StreamCore::PrepareAllChildren(const TypeInfo& type, const ResourceSet& now) {
  const bool any = std::any_of(kTypes.begin(), kTypes.end(), [&](const TypeInfo& other) {
    return (type.children & MaskOf(other.id)) != 0 && StateOf(other.id).sent != nullptr;
  });
  if (!any) return;
  for (const ResourceListPtr& list : now.parts()) {
    for (const Reference& reference : list->References()) WarmAgain(type, reference);
  }
}

// The type's state of what a resource refers to, if the client has the type and asks for the name; else null.
StreamCore::TypeState* StreamCore::ChildOf(const TypeInfo& type, const Reference& reference) {
  if ((type.children & MaskOf(reference.type)) == 0) return nullptr;
  TypeState& child = StateOf(reference.type);
  return child.sent != nullptr && child.names.Contains(reference.name) ? &child : nullptr;
}

// What a changed resource refers to is sent again if the client has it.
void StreamCore::WarmAgain(const TypeInfo& type, const Reference& reference) {
  TypeState* child = ChildOf(type, reference);
  if (child == nullptr) return;
  child->AskAnew(reference.name);
  child->due = true;
}

// Before the types that this one refers to are looked at: what a changed resource refers to is sent again
// with it. And what nothing refers to any more is left alone for the rest of this push, as the client is
// about to let go of it; it must not see, say, a cluster without endpoints as long as its old routes still
// lead there. A client that does not let go gets it with the next push, or in OnQuiet.
void StreamCore::PrepareChildren(const TypeInfo& type, const Difference& difference, const ResourceSet& now) {
  if (type.children == 0) return;
  for (const ResourcePtr& resource : difference.changed) {
    for (const Reference& reference : resource->references) WarmAgain(type, reference);
  }
  for (const auto* gone : {&difference.replaced, &difference.removed}) {
    for (const ResourcePtr& resource : *gone) {
      for (const Reference& reference : resource->references) {
        TypeState* child = ChildOf(type, reference);
        if (child == nullptr || now.RefersTo(reference)) continue;
        child->orphans.Add(reference.name);
      }
    }
  }
}

}  // namespace fairlead::xds
