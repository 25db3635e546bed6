#ifndef FAIRLEAD_XDS_STREAM_CORE_H_
#define FAIRLEAD_XDS_STREAM_CORE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "xds/acceptance.h"
#include "xds/held.h"
#include "xds/limits.h"
#include "xds/name_set.h"
#include "xds/request.h"
#include "xds/resource_set.h"
#include "xds/response.h"
#include "xds/subscribed_names.h"
#include "xds/types.h"

namespace fairlead::xds {

// The meaning of a request, for logs and counters. The core has already acted on it.
struct RequestVerdict {
  enum Kind {
    kSubscribe,    // asks for something: the type is due
    kUnsubscribe,  // asks for less: nothing is due
    kAck,
    kNack,         // error_code and error_message of the request say why
    kStale,        // answers a response that is not the last one
    kUnknownType,  // not in the table, or not served on this stream: ignored, as istiod does
    kTooMuch,      // goes over the limits: the stream has to end
  };
  Kind kind = kUnknownType;
  TypeId type = TypeId::kCluster;  // where the type is known
  std::string excess = {};         // kTooMuch: "100001 names, of at most 100000"
  bool answers = false;            // it answers a response that was waited for, perhaps not the last one
};

// The last request and response of a type, for introspection.
struct TypeStatus {
  bool subscribed = false;
  bool wildcard = false;                // to everything
  NameSetPtr names = NameSet::Empty();  // by name
  ResourceSetPtr sent;                  // what the client has, if it took everything; null: nothing
  std::string version_sent, version_acked, version_nacked, nonce_sent, nonce_acked, nonce_nacked;
  std::string error;  // of the last NACK, cut; "" after an ACK
  uint64_t nacks = 0;
  ResourceSetPtr accepted;        // what the client has; null: nothing that is known of
  bool accepted_unknown = false;  // it had something when it connected, which is not known
  std::vector<Refused> refused;   // what of `sent` it did not take, by name
};

// When a state-of-the-world client is answered.
enum class AnswerWhen : uint8_t {
  kWhatDiffers,     // a stream: what the client lacks, as soon as there is any
  kAlways,          // a single request: at once, whatever there is
  kNewVersionOnly,  // a poll: when the version differs from the one in the request
};

// The xDS protocol of one stream, aggregated or of one type: subscriptions, nonces, versions, and what has to
// be sent. It has no I/O, no clock and no mesh. Not thread-safe: its owner calls it from one thread at a
// time.
//
// The owner feeds requests in with OnRequest and calls OnChange when resources may have changed. Whenever
// nothing is being written, the owner asks Next for a type, makes the type's resources and offers them. The
// result of Offer has to be sent. Types come in the order of the table, removals that must wait come at the
// end.
//
// A rejected resource counts as delivered: it is not sent again until it differs. Source:
// envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol
class StreamCore {
 public:
  // `served` is a mask of types (MaskOf). `nonce_prefix` must differ between the streams of a process, so
  // that an answer to another stream's response is seen to be stale.
  StreamCore(Framing framing, uint32_t served, std::string nonce_prefix,
             AnswerWhen answers = AnswerWhen::kWhatDiffers, const RequestLimits& limits = {});

  // A request of this stream, as DecodeRequest reads it; names that an answer repeats are not read again.
  absl::StatusOr<DecodedRequest> Decode(std::string_view bytes) const;
  RequestVerdict OnRequest(const DecodedRequest& request);
  // Resources of those types, a mask of MaskOf, may have changed; those of others are as they were.
  void OnChange(uint32_t types = ~0u);
  // As OnChange of all types, and the client is to be sent again what it has, changed or not, and what it
  // rejected.
  void OnResend();

  // Whether a requested resource differs and was not sent, because it became an orphan in the last push. Most
  // clients unsubscribe from an orphan when they take over that push. False until the client has answered
  // everything.
  bool HoldsBack() const;
  // The client has had time to let go and has not: what is held back becomes due.
  void OnQuiet();

  struct Wanted {
    TypeId type;
    NameSetPtr names;   // null: everything
    bool part = false;  // of what the client asks for, as the rest is as it was
  };
  std::optional<Wanted> Next() const;
  // From now on these types, a mask of MaskOf, are not due, whatever there is of them: what they depend on is
  // being found out. 0: none waits any more.
  void Wait(uint32_t types) { waiting_ = types; }
  bool Due() const;  // whether there is anything; cheaper
  // REQUIRES: Next() just returned the type. Nothing if the client needs nothing.
  std::optional<Response> Offer(TypeId type, const ResourceSetPtr& now);

  Framing framing() const { return framing_; }
  const std::string& nonce_prefix() const { return nonce_prefix_; }
  bool Subscribed(TypeId type) const { return StateOf(type).Subscribed(); }
  // Whether the client goes on with an older version of something that it was sent, or without it. Costs
  // nothing.
  bool Behind(TypeId type) const { return StateOf(type).acceptance.Behind(); }
  const Acceptance& AcceptanceOf(TypeId type) const { return StateOf(type).acceptance; }
  // The resources that the client should have; null: none.
  const ResourceSetPtr& SentOf(TypeId type) const { return StateOf(type).sent; }
  TypeStatus Status(TypeId type) const;
  Held Holds() const;

 private:
  struct TypeState {
    bool open = false;          // the client has asked for the type at some time
    bool wildcard = false;      // everything is asked for
    bool named = false;         // names were given at some time: an empty list no longer means everything
    bool due = false;           // to be made and compared
    bool again_due = false;     // what is asked for anew, and nothing else, is to be made
    bool removals_due = false;  // again, at the end of the push, to send what is gone
    bool respond = false;       // even if nothing differs
    bool resend = false;        // everything, whether it differs or not
    // Nonces count over the stream; 0: none. Answered is ACKed or NACKed.
    uint64_t nonce = 0, acked_nonce = 0, answered_nonce = 0, nacks = 0;
    uint64_t nacked_nonce = 0;
    Hash128 version = {}, acked_version = {}, nacked_version = {};
    KnownNames request_names;  // of the last state-of-the-world request
    SubscribedNames names;     // asked for by name
    ResourceSetPtr sent;       // what the client was last told; null: nothing
    NameBag again;             // sent even if unchanged: the client asked anew, or warms what refers to it
    // The references to these resources went in this push, or in an earlier one without an answer so far: the
    // client will unsubscribe.
    NameBag orphans;
    NameBag withheld;  // those of the orphans that differ, of which the client is not told
    NameBag dropped;   // the client let go of these itself: not reported as removed
    std::string error;
    Acceptance acceptance;  // what the client took
    // What the client said to have when it opened, and its bytes, where nobody else has it. It is forgotten
    // once the client was told something.
    std::weak_ptr<const ResourceSet> claims;
    size_t claimed = 0;

    bool Subscribed() const { return wildcard || !names.empty(); }
    bool Asks(std::string_view name) const { return wildcard || names.Contains(name); }
    // Whether what is asked for anew is all that has to be made. Names without a subscription are still in
    // `sent`.
    bool PartDue() const {
      return again_due && !due && !respond && !resend && sent != nullptr && dropped.empty();
    }
    bool Answered() const { return !Subscribed() || answered_nonce == nonce; }
    void AskAnew(std::string_view name) {
      again.Add(name);
      orphans.Remove(name);
      withheld.Remove(name);
    }
    void NotDue() { due = again_due = removals_due = false; }
    // Nothing that was said before counts any more.
    void Forget() {
      sent = nullptr;
      acceptance.Begin(nullptr, /*unknown=*/false);
      again.Clear();
      orphans.Clear();
      withheld.Clear();
    }
  };

  bool IsDue(const TypeInfo& type) const {
    const TypeState& state = StateOf(type.id);
    return (state.due || state.again_due) && (waiting_ & MaskOf(type.id)) == 0;
  }
  TypeState& StateOf(TypeId type) { return states_[static_cast<size_t>(type)]; }
  const TypeState& StateOf(TypeId type) const { return states_[static_cast<size_t>(type)]; }
  std::string NonceText(uint64_t nonce) const;
  uint64_t NumberOf(std::string_view nonce) const;

  RequestVerdict::Kind OnStateOfTheWorld(const DecodedRequest& request, const TypeInfo& type,
                                         TypeState& state);
  RequestVerdict::Kind OnDelta(const DecodedRequest& request, const TypeInfo& type, TypeState& state);
  std::string Excess(const DecodedRequest& request, const TypeState& state) const;
  // True where the answer is to the last response.
  bool TakeAnswer(const DecodedRequest& request, TypeState& state) const;

  void ForgetOrphans();
  bool OthersDue(TypeId type) const;
  static void AskAgainForAll(const ResourceSet& now, TypeState* state);
  std::optional<Response> OfferWhole(const TypeInfo& type, TypeState& state, const Difference& difference,
                                     const ResourceSetPtr& now);
  bool MustAnswer(const TypeState& state) const;
  bool AnswersAll(const TypeState& state, const ResourceSet& now) const;
  std::optional<Response> OfferAll(const TypeInfo& type, TypeState& state, const ResourceSetPtr& now);
  std::optional<Response> OfferChanged(const TypeInfo& type, TypeState& state, Difference difference,
                                       const ResourceSetPtr& now);
  std::optional<Response> OfferPart(const TypeInfo& type, TypeState& state, const ResourceSetPtr& now);
  ResourceSetPtr LeaveOrphans(TypeState& state, Difference* difference, const ResourceSetPtr& now);
  Response Begin(const TypeInfo& type, TypeState& state, const Hash128& version);
  void PrepareAllChildren(const TypeInfo& type, const ResourceSet& now);
  TypeState* ChildOf(const TypeInfo& type, const Reference& reference);
  void WarmAgain(const TypeInfo& type, const Reference& reference);
  void PrepareChildren(const TypeInfo& type, const Difference& difference, const ResourceSet& now);

  const Framing framing_;
  const uint32_t served_;
  const std::string nonce_prefix_;
  const AnswerWhen answers_;
  const RequestLimits limits_;
  std::string polled_version_;  // kNewVersionOnly: what the client has
  uint64_t last_nonce_ = 0;
  uint32_t waiting_ = 0;  // see Wait
  std::array<TypeState, kTypeCount> states_;
};

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_STREAM_CORE_H_
