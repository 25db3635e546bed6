#ifndef FAIRLEAD_HTTP2_READ_BUDGET_H_
#define FAIRLEAD_HTTP2_READ_BUDGET_H_

#include <cstddef>
#include <list>

#include "base/clock.h"

namespace fairlead::http2 {

// How much of a loop's memory messages may take that have come in part. A thousand proxies that connect at
// once each ask for hundreds of kilobytes of names: they are read a few at a time, in the order in which they
// began, and the others' windows stay shut meanwhile. Nobody waits for longer than `patience`, so that
// clients that begin messages and do not end them are no danger to others. For the loop's thread.
class ReadBudget {
 public:
  // A stream with a message that has come in part. REQUIRES: Release before it ends.
  class Reader {
   public:
    virtual void OnAdmitted() = 0;  // after it had to wait

   protected:
    ~Reader() = default;

   private:
    friend class ReadBudget;
    size_t claimed_ = 0;
    bool waits_ = false;
    std::list<Reader*>::iterator place_;
    Clock::time_point end_;  // of its patience
  };

  static constexpr Clock::duration kPatience = std::chrono::seconds(2);

  explicit ReadBudget(size_t most, Clock::duration patience = kPatience) : most_(most), patience_(patience) {}
  ReadBudget(const ReadBudget&) = delete;
  ReadBudget& operator=(const ReadBudget&) = delete;

  // False: OnAdmitted follows. REQUIRES: bytes > 0, and the reader claims nothing yet.
  bool Claim(Reader* reader, size_t bytes, Clock::time_point now);
  bool Claims(const Reader& reader) const { return reader.claimed_ > 0; }
  bool Waits(const Reader& reader) const { return reader.waits_; }
  void Release(Reader* reader);
  // Admits those that there is room for, or that have waited for long enough; when to call again.
  Clock::time_point Admit(Clock::time_point now);

 private:
  bool HasRoomFor(size_t bytes) const { return taken_ == 0 || taken_ + bytes <= most_; }

  const size_t most_;
  const Clock::duration patience_;
  size_t taken_ = 0;  // by those that were admitted
  std::list<Reader*> waiting_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_READ_BUDGET_H_
