#include "xds/stream_core.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/hash.h"
#include "base/strings.h"

// What requests mean. The other half, what is sent, is in stream_offer.cc.
namespace fairlead::xds {
namespace {

constexpr std::string_view kWildcard = "*";

KnownNames NamesOf(const DecodedRequest& request) {
  if (request.subscribe.empty() && request.encoded_names.empty()) return {};
  if (!request.encoded_names.empty()) return KnownNames::Of(request.encoded_names);
  KnownNames names{SIZE_MAX, {0, request.subscribe.size()}};  // they have no encoding to be found by
  for (std::string_view name : request.subscribe) names.hash = StableHash(names.hash, StableHash(name));
  return names;
}

// What a request's names ask for.
struct Wish {
  bool wildcard = false;
  NameSetPtr names;
};

Wish WishOf(const std::vector<std::string_view>& asked, const TypeInfo& type) {
  Wish wish;
  std::vector<std::string_view> names = asked;
  if (type.root) wish.wildcard = std::erase(names, kWildcard) > 0;
  wish.names = NameSet::Of(std::move(names));
  return wish;
}

struct Amount {
  size_t names = 0, bytes = 0, longest = 0;
  void Add(std::string_view name) {
    ++names;
    bytes += name.size();
    longest = std::max(longest, name.size());
  }
};

Amount AmountOf(const std::vector<std::string_view>& names) {
  Amount amount;
  for (std::string_view name : names) amount.Add(name);
  return amount;
}

std::vector<std::string> Added(const NameSet& before, const NameSet& after) {
  std::vector<std::string> added;
  std::set_difference(after.names().begin(), after.names().end(), before.names().begin(),
                      before.names().end(), std::back_inserter(added));
  return added;
}

// A version that is not one of ours matches nothing.
Hash128 HashOf(std::string_view version) {
  Hash128 hash;
  ParseHex(version, &hash);
  return hash;
}

using Versions = std::vector<std::pair<std::string_view, std::string_view>>;

size_t MemoryOfClaims(const Versions& versions) {
  size_t bytes = versions.size() * (sizeof(cache::Resource) + sizeof(ResourcePtr));
  for (const auto& [name, version] : versions) bytes += name.size();
  return bytes;
}

// What a client says that it has: what others have, too, or as resources without content. `own`: the bytes of
// these.
ResourceSetPtr Claimed(const Versions& versions, size_t* own) {
  // They live and die together.
  auto claimed = std::make_shared<std::vector<cache::Resource>>(versions.size());
  Hash128 all;
  for (size_t i = 0; i < versions.size(); ++i) {
    const auto& [name, version] = versions[i];
    (*claimed)[i].hash = HashOf(version);
    all += ShareOf(name, (*claimed)[i].hash);
  }
  *own = 0;
  if (ResourceSetPtr known = ResourceSet::WithHash(all)) return known;
  *own = MemoryOfClaims(versions);
  std::vector<ResourcePtr> resources;
  resources.reserve(versions.size());
  absl::flat_hash_set<Interned> seen;
  seen.reserve(versions.size());
  for (size_t i = 0; i < versions.size(); ++i) {
    (*claimed)[i].name = versions[i].first;
    if (seen.insert((*claimed)[i].name).second) resources.emplace_back(claimed, &(*claimed)[i]);
  }
  return ResourceSet::Of(std::move(resources));
}

// Only those of `set` that are named.
ResourceSetPtr Restrict(const ResourceSetPtr& set, const SubscribedNames& names) {
  if (set == nullptr) return nullptr;
  std::vector<ResourcePtr> kept;
  for (const ResourceListPtr& part : set->parts()) {
    for (const ResourcePtr& resource : part->resources()) {
      if (names.Contains(resource->name)) kept.push_back(resource);
    }
  }
  return ResourceSet::Of(std::move(kept));
}

}  // namespace

StreamCore::StreamCore(Framing framing, uint32_t served, std::string nonce_prefix, AnswerWhen answers,
                       const RequestLimits& limits)
    : framing_(framing),
      served_(served),
      nonce_prefix_(std::move(nonce_prefix)),
      answers_(answers),
      limits_(limits) {}

std::string StreamCore::NonceText(uint64_t nonce) const {
  return nonce == 0 ? std::string() : StrCat(nonce_prefix_, nonce);
}

// 0: it is of no response of this stream.
uint64_t StreamCore::NumberOf(std::string_view nonce) const {
  uint64_t number = 0;
  if (!nonce.starts_with(nonce_prefix_)) return 0;
  nonce.remove_prefix(nonce_prefix_.size());
  const auto [end, error] = std::from_chars(nonce.data(), nonce.data() + nonce.size(), number);
  return error == std::errc() && end == nonce.data() + nonce.size() ? number : 0;
}

RequestVerdict StreamCore::OnRequest(const DecodedRequest& request) {
  const TypeInfo* type = FindType(request.type_url);
  if (type == nullptr || (served_ & MaskOf(type->id)) == 0)
    return {RequestVerdict::kUnknownType, TypeId::kCluster};
  if (type->delta_only && framing_ != Framing::kDelta) return {RequestVerdict::kUnknownType, type->id};
  TypeState& state = StateOf(type->id);
  // Who rejected a version waits for another one than that: a poll's nonce is its version.
  if (answers_ == AnswerWhen::kNewVersionOnly)
    polled_version_ = std::string(request.rejected ? request.nonce : request.version);
  const uint32_t answers = state.acceptance.answers();
  const RequestVerdict::Kind kind =
      framing_ == Framing::kDelta ? OnDelta(request, *type, state) : OnStateOfTheWorld(request, *type, state);
  if (std::string excess = Excess(request, state); !excess.empty()) {
    state.NotDue();
    return {RequestVerdict::kTooMuch, type->id, std::move(excess)};
  }
  return {kind, type->id, "", state.acceptance.answers() != answers};
}

// What the request, or the subscription as it has become, is too much of; "" if nothing.
std::string StreamCore::Excess(const DecodedRequest& request, const TypeState& state) const {
  Amount asked = AmountOf(request.subscribe), dropped = AmountOf(request.unsubscribe), has;
  for (const auto& [name, version] : request.initial_versions) has.Add(name);
  const size_t longest = std::max({asked.longest, dropped.longest, has.longest});
  // What is asked for anew may be of no subscription, and what was let go of is kept until the next response.
  const size_t names = std::max({state.names.size(), state.again.size(), state.dropped.size(), has.names});
  const size_t bytes = std::max({state.names.bytes(), state.again.bytes(), state.dropped.bytes(), has.bytes});
  if (longest > limits_.name_length)
    return StrCat("a name of ", longest, " bytes, of at most ", limits_.name_length);
  if (names > limits_.names) return StrCat(names, " names, of at most ", limits_.names);
  if (bytes > limits_.name_bytes)
    return StrCat("names of ", bytes, " bytes, of at most ", limits_.name_bytes);
  return "";
}

absl::StatusOr<DecodedRequest> StreamCore::Decode(std::string_view bytes) const {
  std::array<KnownNames, kTypeCount> known;
  for (size_t i = 0; i < kTypeCount; ++i) known[i] = states_[i].request_names;
  auto request = DecodeRequest(framing_, bytes, known);
  if (!request.ok() || !request->known_names) return request;
  // Known from the type that it is about, and from an answer, which does not begin anew.
  const TypeInfo* type = FindType(request->type_url);
  const bool repeats = type != nullptr && !request->nonce.empty() && StateOf(type->id).open &&
                       StateOf(type->id).request_names == request->known_names;
  return repeats ? request : DecodeRequest(framing_, bytes);
}

bool StreamCore::TakeAnswer(const DecodedRequest& request, TypeState& state) const {
  const std::string_view error = request.error_message.substr(0, kLongestError);
  if (const uint64_t nonce = NumberOf(request.nonce); nonce != 0)
    request.rejected ? state.acceptance.OnNack(nonce, error) : state.acceptance.OnAck(nonce);
  if (state.nonce == 0 || request.nonce != NonceText(state.nonce)) return false;
  state.answered_nonce = state.nonce;
  if (request.rejected) {
    ++state.nacks;
    state.nacked_nonce = state.nonce;
    state.nacked_version = state.version;
    state.error = std::string(error);
  } else {
    state.error.clear();
    state.acked_nonce = state.nonce;
    state.acked_version = state.version;
  }
  return true;
}

RequestVerdict::Kind StreamCore::OnStateOfTheWorld(const DecodedRequest& request, const TypeInfo& type,
                                                   TypeState& state) {
  // A nonce without a response of ours is a left-over of an earlier stream: the client starts anew with us.
  const bool starts = request.nonce.empty() || !state.open;
  if (!starts && !TakeAnswer(request, state)) return RequestVerdict::kStale;
  const RequestVerdict::Kind answer = starts             ? RequestVerdict::kSubscribe
                                      : request.rejected ? RequestVerdict::kNack
                                                         : RequestVerdict::kAck;
  if (request.known_names) return answer;
  const KnownNames request_names = NamesOf(request);
  if (!starts && request_names == state.request_names) return answer;

  state.request_names = request_names;
  Wish wish = WishOf(request.subscribe, type);
  if (!request.subscribe.empty()) state.named = true;
  if (type.root && !state.named) wish.wildcard = true;
  const bool wildcard_changed = wish.wildcard != state.wildcard;
  const NameSetPtr before = state.names.All();
  const bool names_changed = wish.names != before;
  state.names.Replace(wish.names);
  state.open = true;
  state.wildcard = wish.wildcard;
  if (!state.Subscribed()) {
    state.Forget();
    state.NotDue();
    state.respond = false;
    return answer == RequestVerdict::kNack ? answer : RequestVerdict::kUnsubscribe;
  }
  if (starts) {
    state.Forget();
    state.acceptance.Begin(nullptr, /*unknown=*/!request.version.empty());
    state.due = state.respond = true;
    return RequestVerdict::kSubscribe;
  }
  std::vector<std::string> added = names_changed ? Added(*before, *wish.names) : std::vector<std::string>();
  if (type.root ? !(wildcard_changed || names_changed) : added.empty()) {
    return names_changed && answer == RequestVerdict::kAck ? RequestVerdict::kUnsubscribe : answer;
  }
  for (const std::string& name : added) state.AskAnew(name);
  state.due = true;
  state.respond = type.root;
  return answer == RequestVerdict::kNack ? answer : RequestVerdict::kSubscribe;
}

RequestVerdict::Kind StreamCore::OnDelta(const DecodedRequest& request, const TypeInfo& type,
                                         TypeState& state) {
  RequestVerdict::Kind kind = RequestVerdict::kAck;
  const bool opens = !state.open;
  if (opens) {
    state.open = true;
    kind = RequestVerdict::kSubscribe;
    if (!request.initial_versions.empty()) {
      state.sent = Claimed(request.initial_versions, &state.claimed);
      state.claims = state.sent;
      state.acceptance.Begin(state.sent, /*unknown=*/false);
    }
    if (type.root && request.subscribe.empty()) state.wildcard = true;
    state.respond = type.root;
  } else if (!request.nonce.empty()) {
    kind = !TakeAnswer(request, state) ? RequestVerdict::kStale
           : request.rejected          ? RequestVerdict::kNack
                                       : RequestVerdict::kAck;
  }
  if (request.subscribe.empty() && request.unsubscribe.empty() && !opens) return kind;

  // A change of the subscription holds whatever the nonce: names are added and removed, they are not a state
  // that a later request would repeat.
  Wish subscribe = WishOf(request.subscribe, type), unsubscribe = WishOf(request.unsubscribe, type);
  const bool was_wildcard = state.wildcard;
  state.names.Add(subscribe.names);
  for (const std::string& name : unsubscribe.names->names()) state.names.Remove(name);
  state.wildcard = (state.wildcard || subscribe.wildcard) && !unsubscribe.wildcard;
  // Whatever else the client has, or says to have, it keeps no longer or did not keep. One by one this
  // matters where others are referred to: what comes back to the client as new wants them with it.
  const bool drops_parents = type.children != 0 && !state.wildcard && !unsubscribe.names->empty();
  const bool drops_any = drops_parents || (opens ? !state.wildcard : was_wildcard != state.wildcard);
  const bool has_just_these =
      opens && !state.wildcard && state.sent != nullptr && state.sent->Names() == state.names.All();
  if (drops_any && !has_just_these) {
    state.sent = Restrict(state.sent, state.names);
    const NameBag again = std::exchange(state.again, {});
    for (const std::string& name : again) {
      if (state.names.Contains(name)) state.again.Add(name);
    }
  }

  // The client may have dropped what it asks for, even if we sent it: it is sent again (discovery.proto,
  // resource_names_subscribe). Not so what it says in the same request to have.
  if (state.sent != nullptr && !has_just_these) {
    for (const std::string& name : subscribe.names->names()) {
      const bool has = opens && state.sent->Find(name) != nullptr;
      if (!has && state.names.Contains(name)) state.AskAnew(name);
    }
  }
  // Under a wildcard, letting go of a name asks for its state anew (xDS protocol, "Unsubscribing from
  // resources").
  for (const std::string& name : unsubscribe.names->names()) {
    if (state.wildcard) {
      state.again.Add(name);
    } else {
      state.again.Remove(name);
      if (state.sent != nullptr && state.sent->Find(name) != nullptr) state.dropped.Add(name);
    }
  }
  const bool asks =
      !subscribe.names->empty() || (state.wildcard && (!was_wildcard || !unsubscribe.names->empty()));
  if (opens || (asks && (state.wildcard || was_wildcard))) state.due = true;
  if (asks) state.again_due = true;
  if (!state.Subscribed()) state.NotDue();
  if (kind == RequestVerdict::kStale || kind == RequestVerdict::kNack) return kind;
  return asks || opens ? RequestVerdict::kSubscribe : RequestVerdict::kUnsubscribe;
}

TypeStatus StreamCore::Status(TypeId type) const {
  const TypeState& state = StateOf(type);
  TypeStatus status;
  status.subscribed = state.Subscribed();
  status.wildcard = state.wildcard;
  status.names = state.names.All();
  status.sent = state.sent;
  status.nonce_sent = NonceText(state.nonce);
  status.nonce_acked = NonceText(state.acked_nonce);
  if (state.nonce != 0) status.version_sent = ToHex(state.version);
  if (state.acked_nonce != 0) status.version_acked = ToHex(state.acked_version);
  status.nonce_nacked = NonceText(state.nacked_nonce);
  if (state.nacked_nonce != 0) status.version_nacked = ToHex(state.nacked_version);
  status.error = state.error;
  status.nacks = state.nacks;
  status.accepted = state.acceptance.accepted();
  status.accepted_unknown = state.acceptance.unknown();
  if (state.sent != nullptr) status.refused = state.acceptance.RefusedOf(*state.sent);
  return status;
}

Held StreamCore::Holds() const {
  Held held;
  for (const TypeInfo& type : kTypes) {
    const TypeState& state = StateOf(type.id);
    held.own += state.names.own_memory() + state.error.size();
    if (!state.claims.expired()) held.own += state.claimed;
    for (const NameBag* bag : {&state.again, &state.orphans, &state.withheld, &state.dropped})
      held.own += bag->memory();
    const bool answered = type.id == TypeId::kRoute || type.id == TypeId::kVirtualHost;
    if (!state.names.base()->empty()) held.names.push_back({state.names.base(), answered});
  }
  held.own += polled_version_.size();
  return held;
}

}  // namespace fairlead::xds
