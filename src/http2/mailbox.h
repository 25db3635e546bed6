#ifndef FAIRLEAD_HTTP2_MAILBOX_H_
#define FAIRLEAD_HTTP2_MAILBOX_H_

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "http2/stream.h"

namespace fairlead::http2 {

class GrpcStream;

// What is wanted of a stream, to be done by its loop.
struct Command {
  enum class Kind : unsigned char { kRead, kSend, kClose, kAbort, kProven };
  Kind kind;
  std::shared_ptr<GrpcStream> stream;
  std::vector<Slice> message = {};  // kSend
  absl::Status status = {};         // kClose
};

// How other threads reach an event loop. Posts are thread-safe and cheap: the loop is woken by a system call
// only where it sleeps. What is posted after Shut is dropped. A mailbox may outlive its loop.
class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void Post(Command command);
  void PostTask(std::function<void()> task);

  // The rest is the loop's.
  int wake_file() const { return wake_; }  // readable when the loop is to wake; -1: there is no such file
  struct Mail {
    std::vector<Command> commands;
    std::vector<std::function<void()>> tasks;
  };
  // Moves what has come into `mail`, whose room is kept for the next time. REQUIRES: mail is empty.
  void Take(Mail* mail);
  // False: something has come, do not sleep. True: the next post wakes.
  bool Sleep();
  void Woken();
  void Shut();
  // Between these two, posts from the calling thread take no lock: it is the loop's.
  void EnterLoop();
  void LeaveLoop();
  // Whether the calling thread is the loop's.
  bool OnLoop() const;

 private:
  void Wake();

  const int wake_;
  Mail local_;  // from the loop's own thread
  std::mutex mutex_;
  Mail remote_;
  bool asleep_ = false, shut_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_MAILBOX_H_
