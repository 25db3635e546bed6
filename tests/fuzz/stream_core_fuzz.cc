#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "tests/fuzz/choices.h"
#include "tests/fuzz/stream_client.h"
#include "tests/fuzz/stream_model.h"
#include "xds/stream_core.h"

// For libFuzzer: the bytes are a script of what a client asks and answers on one stream, and of what happens
// to the resources meanwhile; messages may be under way in both directions for as long as the script likes.
// A second account of the protocol (StreamModel) checks each step, and when all has come to rest the client
// must have exactly what it asks for and what exists.
namespace {

using fairlead::fuzz::Asked;
using fairlead::fuzz::Choices;
using fairlead::fuzz::Contents;
using fairlead::fuzz::Items;
using fairlead::fuzz::kNames;
using fairlead::fuzz::kParts;
using fairlead::fuzz::Names;
using fairlead::fuzz::Require;
using fairlead::fuzz::Seen;
using fairlead::fuzz::StreamClient;
using fairlead::fuzz::StreamMesh;
using fairlead::fuzz::StreamModel;
using fairlead::fuzz::ToText;
using fairlead::fuzz::Trace;
using fairlead::xds::Framing;
using fairlead::xds::kTypes;
using fairlead::xds::StreamCore;
using fairlead::xds::TypeId;
using fairlead::xds::TypeInfo;

constexpr unsigned kLongestScript = 400;  // steps

uint32_t ServedOf(unsigned choice) {
  return choice < kTypes.size() ? fairlead::xds::MaskOf(kTypes[choice].id) : ~0u;
}

class Run {
 public:
  Run(Framing framing, uint32_t served)
      : framing_(framing), core_(framing, served, "n"), model_(framing, served), client_(framing) {}

  void Step(Choices* choices);
  void ComeToRest();

 private:
  static TypeId ChooseType(Choices* choices) { return kTypes[choices->Below(kTypes.size())].id; }
  void ChangeMesh(Choices* choices);
  void Publish();
  void Ask(Choices* choices);
  void Answer(Choices* choices);
  void AskForNoType(Choices* choices);
  void Send(const Asked& asked) { requests_.push_back(asked); }
  void DeliverRequest();
  void DeliverResponse();
  bool ServerSends();
  bool ServerSendsAll();
  void WhenQuiet();
  void CheckClient() const;

  const Framing framing_;
  StreamCore core_;
  StreamModel model_;
  StreamClient client_;
  StreamMesh next_, published_;
  std::deque<Asked> requests_;
  std::deque<Seen> responses_;
};

void Run::Step(Choices* choices) {
  switch (choices->Below(16)) {
    case 0:
    case 1:
    case 2:
      return Ask(choices);
    case 3:
    case 4:
      return DeliverRequest();
    case 5:
    case 6:
    case 7:
      return void(ServerSends());
    case 8:
      return DeliverResponse();
    case 9:
    case 10:
      return Answer(choices);
    case 11:
    case 12:
      return ChangeMesh(choices);
    case 13:
      return Publish();
    case 14:
      return choices->Flip() ? WhenQuiet() : ComeToRest();
    default:
      return AskForNoType(choices);
  }
}

void Run::Ask(Choices* choices) {
  const TypeId type = ChooseType(choices);
  Send(client_.Ask(type, next_, choices));
}

void Run::Answer(Choices* choices) {
  const TypeId type = ChooseType(choices);
  const bool rejected = choices->Below(3) == 1;
  if (client_.HasToAnswer(type)) Send(client_.Answer(type, rejected));
}

void Run::AskForNoType(Choices* choices) {
  Asked asked;
  asked.url = choices->Flip() ? "" : "type.googleapis.com/envoy.api.v2.Cluster";
  asked.subscribe = {"a"};
  Send(asked);
}

void Run::ChangeMesh(Choices* choices) {
  const TypeId type = ChooseType(choices);
  const std::string& name = kNames[choices->Below(kNames.size())];
  const unsigned content = choices->Below(8);
  Trace("  mesh: ", fairlead::xds::InfoOf(type).name, " ", name, content >= 5 ? " goes" : " is put");
  if (content >= 5) return next_.Remove(type, name);
  const unsigned refers = choices->Below(16);
  Names others;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((refers >> i & 1) != 0) others.push_back(kNames[i]);
  }
  next_.Put(type, name, content, others, choices->Below(kParts));
  model_.Know(next_.Of(type).at(name));
}

void Run::Publish() {
  Trace("  published");
  published_ = next_;
  core_.OnChange();
  model_.OnChange();
}

void Run::DeliverRequest() {
  if (requests_.empty()) return;
  const Asked asked = std::move(requests_.front());
  requests_.pop_front();
  Trace("request ", ToText(asked));
  const std::string bytes = fairlead::fuzz::Encode(framing_, asked);
  const auto request = core_.Decode(bytes);
  Require(request.ok(), "a request cannot be read");
  model_.OnRequest(asked, core_.OnRequest(*request));
  model_.CheckStatus(core_);
  const TypeInfo* type = fairlead::xds::FindType(asked.url);
  if (type != nullptr && framing_ != Framing::kDelta)
    client_.KeepOnly(type->id, model_.SubscriptionOf(type->id));
}

bool Run::ServerSends() {
  const auto wanted = core_.Next();
  if (!wanted) {
    model_.CheckIdle(published_);
    return false;
  }
  model_.OnWanted(*wanted);
  const auto response = core_.Offer(wanted->type, published_.Make(wanted->type, wanted->names.get()));
  if (response) {
    std::string bytes;
    for (const auto& piece : fairlead::xds::Encode(framing_, *response)) bytes += piece.bytes;
    responses_.push_back(fairlead::fuzz::Decode(framing_, bytes));
    Trace("response ", ToText(responses_.back()));
  }
  model_.OnOffer(wanted->type, published_, response ? &responses_.back() : nullptr);
  model_.CheckStatus(core_);
  return true;
}

bool Run::ServerSendsAll() {
  unsigned offers = 0;
  while (ServerSends()) Require(++offers < 100, "the server does not come to rest");
  return offers > 0;
}

void Run::DeliverResponse() {
  if (responses_.empty()) return;
  client_.Take(responses_.front());
  responses_.pop_front();
}

void Run::WhenQuiet() {
  if (core_.Next() || !core_.HoldsBack()) return;
  Trace("  quiet");
  core_.OnQuiet();
  model_.OnQuiet();
}

// All messages arrive and are answered until nobody has anything to say.
void Run::ComeToRest() {
  for (unsigned round = 0;; ++round) {
    Require(round < 1000, "it does not come to rest");
    bool moved = !requests_.empty() || !responses_.empty();
    while (!requests_.empty()) DeliverRequest();
    moved |= ServerSendsAll();
    while (!responses_.empty()) DeliverResponse();
    for (const TypeInfo& type : kTypes) {
      if (client_.HasToAnswer(type.id)) Send(client_.Answer(type.id, false));
    }
    if (moved || !requests_.empty()) continue;
    if (!core_.HoldsBack()) break;
    WhenQuiet();
  }
  model_.OnQuiet();
  model_.CheckIdle(published_);
  CheckClient();
  core_.OnChange();
  ServerSendsAll();
  Require(responses_.empty(), "something is sent without a change");
}

void Run::CheckClient() const {
  for (const TypeInfo& type : kTypes) {
    if (!model_.SubscriptionOf(type.id).Any()) continue;
    const Items due = model_.Due(type.id, published_);
    const Contents& has = client_.Has(type.id);
    for (const auto& [name, item] : due) {
      const auto found = has.find(name);
      Require(found != has.end() && found->second == item.resource->hash, "the client lacks ", type.name, " ",
              name);
    }
    const bool told = framing_ == Framing::kDelta ? !type.never_removed : type.root;
    if (told) Require(has.size() == due.size(), "the client has too many of ", type.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  const Framing framing = choices.Flip() ? Framing::kDelta : Framing::kStateOfTheWorld;
  Run run(framing, ServedOf(choices.Below(16)));
  for (unsigned step = 0; step < kLongestScript && !choices.Done(); ++step) run.Step(&choices);
  run.ComeToRest();
  return 0;
}
