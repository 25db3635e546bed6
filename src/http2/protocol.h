#ifndef FAIRLEAD_HTTP2_PROTOCOL_H_
#define FAIRLEAD_HTTP2_PROTOCOL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http2/guests.h"
#include "http2/output.h"

namespace fairlead::http2 {

// What is spoken on a connection, without its socket and TLS: bytes in, bytes out, the time as an argument.
// For the loop's thread.
class SpokenProtocol {
 public:
  virtual ~SpokenProtocol() = default;  // ends all streams

  virtual void Receive(std::string_view bytes, Clock::time_point now) = 0;
  // Adds bytes to the batch until it has `most` or nothing is left to send.
  virtual void Produce(size_t most, Batch* batch) = 0;
  // So many of the bytes produced have been written.
  virtual void Written(size_t bytes) = 0;
  // Does what is due; when it is to be called again at the latest.
  virtual Clock::time_point Check(Clock::time_point now) = 0;
  // The server ends: takes nothing new; what still runs at `end` ends, too.
  virtual void End(Clock::time_point now, Clock::time_point end) = 0;
  // Ends some streams of a connection that is over; false: there are more.
  virtual bool EndSome() { return true; }

  // Nothing will be received or produced any more.
  virtual bool Done() const = 0;
  // The peer is to hear nothing any more, not even the rest of what there is for it.
  virtual bool Cut() const = 0;
  // Why the peer was sent away: "SETTINGS flood", "keepalive"; "" where nobody was.
  virtual const std::string& failure() const = 0;
  // The most bytes that it should be given at once, so that others' turn comes soon.
  virtual size_t Appetite() const { return SIZE_MAX; }
  virtual bool greeted() const = 0;  // the peer has shown that it speaks the protocol
  // Of now: who has no stream any more is silent again.
  virtual Standing standing() const = 0;
  virtual size_t streams() const = 0;  // that are open
  virtual size_t held() const = 0;     // bytes that came and are not yet taken
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_PROTOCOL_H_
