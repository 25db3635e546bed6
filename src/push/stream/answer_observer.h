#ifndef FAIRLEAD_PUSH_STREAM_ANSWER_OBSERVER_H_
#define FAIRLEAD_PUSH_STREAM_ANSWER_OBSERVER_H_

#include <cstdint>
#include <string_view>

#include "model/proxy.h"
#include "xds/acceptance.h"

namespace fairlead::push {

// What a proxy says of a response: that it took it (ACK), or why not (NACK). Points into the stream.
struct ProxyAnswer {
  uint64_t stream;
  const model::ProxyPtr& proxy;
  std::string_view track;  // that the stream follows
  xds::TypeId type;
  bool rejected;
  std::string_view error;             // as the proxy has it, at most 16 KiB; "" where it took the response
  const xds::ResourceSetPtr& sent;    // what the proxy should have; null: nothing
  const xds::Acceptance& acceptance;  // what it has, and what it refused
};

// Is told of each answer to a response of a stream that stays, and of its end. Called on the pusher's threads
// and by transports, at most once at a time for a stream, while the stream's lock is held: it must not block,
// nor ask the pusher. A normal ACK should cost it next to nothing.
class AnswerObserver {
 public:
  virtual ~AnswerObserver() = default;
  virtual void OnAnswer(const ProxyAnswer& answer) = 0;
  // No answer follows.
  virtual void OnClosed(uint64_t stream) = 0;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_ANSWER_OBSERVER_H_
