#ifndef FAIRLEAD_TESTS_FUZZ_STREAM_CLIENT_H_
#define FAIRLEAD_TESTS_FUZZ_STREAM_CLIENT_H_

#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/choices.h"
#include "tests/fuzz/stream_messages.h"

namespace fairlead::fuzz {

// The other end of a stream: asks as choices have it, and keeps what it is sent as a client does that takes
// everything (what is rejected counts as delivered).
class StreamClient {
 public:
  explicit StreamClient(xds::Framing framing) : framing_(framing) {}

  // A request about a type that changes the subscription or not, with a nonce that is right, wrong or none.
  Asked Ask(xds::TypeId type, const StreamMesh& mesh, Choices* choices);
  // An ACK or NACK of the last response.
  Asked Answer(xds::TypeId type, bool rejected);
  bool HasToAnswer(xds::TypeId type) const { return StateOf(type).unanswered; }
  void Take(const Seen& seen);
  // State of the world: the server has taken a subscription, so that what it leaves out need not be kept.
  void KeepOnly(xds::TypeId type, const Subscription& subscription);

  const Contents& Has(xds::TypeId type) const { return StateOf(type).has; }

 private:
  struct State {
    Subscription wish;
    Names said;  // state of the world: as in the last request
    std::string nonce;
    bool unanswered = false;
    Contents has;
  };
  State& StateOf(xds::TypeId type) { return states_[static_cast<size_t>(type)]; }
  const State& StateOf(xds::TypeId type) const { return states_[static_cast<size_t>(type)]; }
  void AskDelta(xds::TypeId type, const StreamMesh& mesh, Choices* choices, Asked* asked);
  void Claim(xds::TypeId type, const StreamMesh& mesh, Choices* choices, Asked* asked);
  void TakeWhole(const Seen& seen);

  const xds::Framing framing_;
  std::array<State, xds::kTypeCount> states_;
};

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_STREAM_CLIENT_H_
