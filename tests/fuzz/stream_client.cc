#include "tests/fuzz/stream_client.h"

#include <algorithm>

#include "base/hash.h"
#include "base/strings.h"

namespace fairlead::fuzz {

using xds::Framing;
using xds::InfoOf;
using xds::TypeId;

namespace {

Names ChooseNames(Choices* choices) {
  Names names;
  const unsigned mask = choices->Below(64);
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((mask >> i & 1) != 0) names.push_back(kNames[i]);
  }
  if ((mask & 16) != 0) names.push_back("*");
  if ((mask & 32) != 0) std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace

Asked StreamClient::Ask(TypeId type, const StreamMesh& mesh, Choices* choices) {
  State& state = StateOf(type);
  Asked asked;
  asked.url = InfoOf(type).url;
  const unsigned how = choices->Below(16);
  asked.locators = (how & 8) != 0;
  asked.nonce = (how & 3) == 0 ? "" : (how & 3) == 1 ? StrCat("n", choices->Below(8)) : state.nonce;
  if (asked.nonce == state.nonce && state.unanswered) {
    state.unanswered = false;
    asked.rejected = (how & 4) != 0;
  }
  asked.subscribe = ChooseNames(choices);
  if (framing_ == Framing::kDelta) {
    AskDelta(type, mesh, choices, &asked);
  } else {
    if (choices->Below(16) == 1) asked.subscribe.emplace_back();
    state.said = asked.subscribe;
    state.wish.Replace(asked.subscribe, InfoOf(type).root);
  }
  return asked;
}

void StreamClient::AskDelta(TypeId type, const StreamMesh& mesh, Choices* choices, Asked* asked) {
  State& state = StateOf(type);
  asked->unsubscribe = ChooseNames(choices);
  const bool opens = !state.wish.opened;
  if (opens || choices->Below(8) == 1) Claim(type, mesh, choices, asked);
  state.wish.Change(asked->subscribe, asked->unsubscribe, InfoOf(type).root);
  if (opens) {
    for (const auto& [name, version] : asked->claims) ParseHex(version, &state.has[name]);
  }
  std::erase_if(state.has, [&](const auto& entry) { return !state.wish.Asks(entry.first); });
  // Under a wildcard what is let go of is asked for anew by that.
  for (const std::string& name : asked->unsubscribe) {
    if (!opens) state.has.erase(name);
  }
}

// What a client that was connected before has: as it is, older, or of another server.
void StreamClient::Claim(TypeId type, const StreamMesh& mesh, Choices* choices, Asked* asked) {
  for (const std::string& name : kNames) {
    const unsigned how = choices->Below(4);
    const auto item = mesh.Of(type).find(name);
    if (how == 1) asked->claims.emplace_back(name, "of another server");
    if (how == 2) asked->claims.emplace_back(name, ToHex(Hash128{0, how}));
    if (how == 3 && item != mesh.Of(type).end())
      asked->claims.emplace_back(name, ToHex(item->second.resource->hash));
  }
}

Asked StreamClient::Answer(TypeId type, bool rejected) {
  State& state = StateOf(type);
  state.unanswered = false;
  Asked asked;
  asked.url = InfoOf(type).url;
  asked.nonce = state.nonce;
  asked.rejected = rejected;
  if (framing_ != Framing::kDelta) asked.subscribe = state.said;
  return asked;
}

void StreamClient::Take(const Seen& seen) {
  State& state = StateOf(seen.type);
  state.nonce = seen.nonce;
  state.unanswered = true;
  if (framing_ != Framing::kDelta) return TakeWhole(seen);
  for (const auto& [name, hash] : seen.resources) {
    if (state.wish.Asks(name)) state.has[name] = hash;
  }
  for (const std::string& name : seen.removed) state.has.erase(name);
}

void StreamClient::TakeWhole(const Seen& seen) {
  State& state = StateOf(seen.type);
  if (InfoOf(seen.type).root) state.has.clear();
  for (const auto& [name, hash] : seen.resources) state.has[name] = hash;
}

void StreamClient::KeepOnly(TypeId type, const Subscription& subscription) {
  std::erase_if(StateOf(type).has, [&](const auto& entry) { return !subscription.Asks(entry.first); });
}

}  // namespace fairlead::fuzz
