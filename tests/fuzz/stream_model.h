#ifndef FAIRLEAD_TESTS_FUZZ_STREAM_MODEL_H_
#define FAIRLEAD_TESTS_FUZZ_STREAM_MODEL_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/fuzz/stream_mesh.h"
#include "tests/fuzz/stream_messages.h"
#include "xds/stream_core.h"

// What the protocol promises, watched from the server's side of one stream: a second, simple account of what
// the client asked for and was told. Each call ends the process where the core did something else.
namespace fairlead::fuzz {

class StreamModel {
 public:
  StreamModel(xds::Framing framing, uint32_t served) : framing_(framing), served_(served) {}

  // What was put into the mesh at any time: that an item was told is known by its hash alone.
  void Know(const Item& item) { known_[item.resource->hash] = item.refers; }
  void OnRequest(const Asked& asked, const xds::RequestVerdict& verdict);
  void OnChange();
  void OnQuiet();
  void OnWanted(const xds::StreamCore::Wanted& wanted) const;
  // `seen`: the response; null: there was none.
  void OnOffer(xds::TypeId type, const StreamMesh& mesh, const Seen* seen);
  // Nothing is wanted: the client has been told all, but for what nothing refers to since the last change.
  void CheckIdle(const StreamMesh& mesh) const;
  void CheckStatus(const xds::StreamCore& core) const;

  const Subscription& SubscriptionOf(xds::TypeId type) const { return StateOf(type).subscription; }
  // The resources that the client is to have.
  Items Due(xds::TypeId type, const StreamMesh& mesh) const;

 private:
  using Set = std::set<std::string>;
  struct State {
    Subscription subscription;
    std::optional<Contents> told;  // nothing: what was said does not count any more
    Contents let_go;               // by the client itself, since the last offer
    Set owed;                      // asked for anew: to be answered even if nothing differs
    Set warm;                      // what refers to these was sent: they are to follow
    Set excused;                   // nothing refers to these since the last change: they may wait
    bool pending = false;          // not offered since the last change
    bool must_answer = false;      // even if nothing differs or exists
    bool may_answer = false;
    std::string version, nonce, acked_version, acked_nonce, nacked_version, nacked_nonce;
    uint64_t nacks = 0;

    void Forget();
    void Owe(const std::string& name);
    void LetGo(const std::string& name);
  };

  State& StateOf(xds::TypeId type) { return states_[static_cast<size_t>(type)]; }
  const State& StateOf(xds::TypeId type) const { return states_[static_cast<size_t>(type)]; }
  bool delta() const { return framing_ == xds::Framing::kDelta; }
  // Whether a response holds everything there is.
  bool Whole(const xds::TypeInfo& type) const { return !delta() && type.root; }
  // Whether the client is told what is gone.
  bool TellsRemovals(const xds::TypeInfo& type) const { return delta() && !type.never_removed; }

  void TakeAnswer(const Asked& asked, State* state);
  void Replace(const Asked& asked, const xds::TypeInfo& type, bool starts);
  void Change(const Asked& asked, const xds::TypeInfo& type);
  void NoteReferences(const xds::TypeInfo& type, const Items& now);
  void CheckOrder(const xds::TypeInfo& type, const StreamMesh& mesh) const;
  void CheckResponse(const xds::TypeInfo& type, const Items& now, const Seen& seen) const;
  void CheckRemovals(const xds::TypeInfo& type, const StreamMesh& mesh, const Contents& before,
                     const Seen& seen) const;
  void Apply(const xds::TypeInfo& type, const Items& now, const Seen* seen);
  void CheckOwed(const xds::TypeInfo& type, const Items& now, const Seen* seen) const;
  void CheckVersion(const xds::TypeInfo& type, const Seen& seen);
  // What the client was not told yet; "" if nothing. `removals`: or of what is gone.
  std::string Lacks(const xds::TypeInfo& type, const StreamMesh& mesh, bool removals) const;

  const xds::Framing framing_;
  const uint32_t served_;
  std::array<State, xds::kTypeCount> states_;
  std::map<Hash128, References> known_;
  uint64_t last_nonce_ = 0;
  std::map<std::pair<xds::TypeId, std::string>, Contents> by_version_;
  std::map<std::pair<xds::TypeId, Contents>, std::string> by_contents_;
};

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_STREAM_MODEL_H_
