#include "agent/envoy_output.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"
#include "base/thread.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;

constexpr size_t kBlock = 64 << 10;
constexpr milliseconds kLastWait{1'000};

absl::Status Failure(std::string_view what) {
  return absl::UnavailableError(StrCat(what, ": ", ErrnoText(errno)));
}

}  // namespace

// A descriptor's flags are shared with whoever else has it, so that it is opened anew to be written to
// without a wait. Another user's pipe cannot be: it is written to in parts that a pipe with room takes at
// once.
OutputTarget::OutputTarget(int descriptor) : descriptor_(descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) return;
  is_socket_ = S_ISSOCK(found.st_mode);
  if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode)) return;
  const std::string path = StrCat("/proc/self/fd/", descriptor);
  file_ = http2::File(open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  in_parts_ = file_.get() < 0;
}

absl::StatusOr<std::optional<size_t>> OutputTarget::Write(const char* bytes, size_t size) const {
  const size_t part = in_parts_ ? std::min<size_t>(size, PIPE_BUF) : size;
  pollfd room{descriptor_, POLLOUT, 0};
  if (in_parts_ && poll(&room, 1, 0) == 0) return std::nullopt;
  const ssize_t written = is_socket_ ? send(descriptor_, bytes, part, MSG_DONTWAIT | MSG_NOSIGNAL)
                                     : write(descriptor(), bytes, part);
  if (written >= 0) return static_cast<size_t>(written);
  if (errno == EAGAIN || errno == EINTR) return std::nullopt;
  const bool for_good = errno == EPIPE || errno == EBADF || errno == ECONNRESET || errno == ENOTCONN;
  return for_good ? absl::PermissionDeniedError(ErrnoText(errno)) : absl::UnavailableError(ErrnoText(errno));
}

absl::Status OutputCopy::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure("no pipe for Envoy's output");
  read_end_ = http2::File(ends[0]);
  write_end_ = http2::File(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  // For an Envoy that a wrapper gives another user: it opens /dev/stdout anew.
  fchmod(ends[1], 0622);
  return absl::OkStatus();
}

size_t OutputCopy::Ready(Clock::time_point now) const {
  const size_t line = kept_.rfind('\n');
  if (line != std::string::npos && line >= at_) return line + 1 - at_;
  const bool whole = !finishing_ && kept_.size() - at_ < kBlock && now - newest_ < limits_.line_patience;
  return whole ? 0 : kept_.size() - at_;
}

int OutputCopy::ToRead(Clock::time_point now) const { return Full() && !Stalled(now) ? -1 : read_end_.get(); }

int OutputCopy::ToWrite(Clock::time_point now) const { return Ready(now) == 0 ? -1 : target_.descriptor(); }

Clock::time_point OutputCopy::Deadline(Clock::time_point now) const {
  if (empty()) return Clock::time_point::max();
  if (Ready(now) == 0) return newest_ + limits_.line_patience;
  return Full() && !Stalled(now) ? taken_ + limits_.patience : Clock::time_point::max();
}

void OutputCopy::Read(Clock::time_point now) {
  constexpr int kMostBlocks = 16;  // in turn with writes
  static thread_local std::array<char, kBlock> block;
  for (int i = 0; i < kMostBlocks && (!Full() || Stalled(now)); ++i) {
    const ssize_t size = read(read_end_.get(), block.data(), block.size());
    if (size <= 0) return;
    if (!gone_) Keep({block.data(), static_cast<size_t>(size)}, now);
  }
}

void OutputCopy::Keep(std::string_view bytes, Clock::time_point now) {
  if (empty()) taken_ = now;
  newest_ = now;
  if (!losing_ && Stalled(now)) BeginLosing();
  if (losing_) {
    lost_ += static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    in_line_ = !bytes.ends_with('\n');
    return;
  }
  if (in_line_) {
    const size_t line = bytes.find('\n');
    if (line == std::string_view::npos) return;
    in_line_ = false;
    bytes.remove_prefix(line + 1);
  }
  kept_ += bytes;
}

// A line that has begun is lost as a whole; its end is still to come.
void OutputCopy::BeginLosing() {
  losing_ = true;
  const size_t line = kept_.rfind('\n');
  if (line != std::string::npos && line >= at_) kept_.resize(line + 1);
}

void OutputCopy::EndLosing() {
  losing_ = false;
  const uint64_t lost = std::exchange(lost_, 0) + (in_line_ ? 1 : 0);
  StrAppend(&kept_, kept_.empty() || kept_.ends_with('\n') ? "" : "\n", "fairlead agent: ", lost,
            " lines of Envoy's are lost: nobody took them in time\n");
}

void OutputCopy::Write(Clock::time_point now) {
  for (size_t ready = Ready(now); ready > 0; ready = Ready(now)) {
    const auto written = target_.Write(kept_.data() + at_, ready);
    gone_ = absl::IsPermissionDenied(written.status());
    if (written.ok() && !written->has_value()) break;
    // What a full disk does not take is lost, and what comes later is tried anew.
    at_ = written.ok() ? at_ + **written : kept_.size();
    taken_ = now;
    if (losing_ && !gone_ && !Full()) EndLosing();
  }
  if (at_ == kept_.size() || at_ >= kBlock) {
    kept_.erase(0, at_);
    at_ = 0;
  }
}

EnvoyOutput::EnvoyOutput(int out, int error, OutputCopy::Limits limits)
    : copies_{OutputCopy(out, limits), OutputCopy(error, limits)} {}

EnvoyOutput::~EnvoyOutput() { Stop(); }

absl::Status EnvoyOutput::Start() {
  for (OutputCopy& copy : copies_) {
    if (absl::Status status = copy.Open(); !status.ok()) return status;
  }
  wake_ = http2::File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_.get() < 0) return Failure("eventfd");
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = *std::move(thread);
  return thread.status();
}

void EnvoyOutput::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
  thread_.join();
}

void EnvoyOutput::Run() {
  Clock::time_point end = Clock::time_point::max();
  for (;;) {
    Wait(end);
    const Clock::time_point now = Clock::now();
    if (stopping_ && end == Clock::time_point::max()) end = now + kLastWait;
    bool empty = true;
    for (OutputCopy& copy : copies_) {
      if (stopping_) copy.Finish();
      copy.Read(now);
      copy.Write(now);
      empty = empty && copy.empty();
    }
    if (stopping_ && (empty || now >= end)) return;
  }
}

void EnvoyOutput::Wait(Clock::time_point until) {
  const Clock::time_point now = Clock::now();
  std::array<pollfd, 5> waits{};
  // Once it is stopping it is not woken again.
  waits[0] = {until == Clock::time_point::max() ? wake_.get() : -1, POLLIN, 0};
  for (size_t i = 0; i < copies_.size(); ++i) {
    waits[2 * i + 1] = {copies_[i].ToRead(now), POLLIN, 0};
    waits[2 * i + 2] = {copies_[i].ToWrite(now), POLLOUT, 0};
    until = std::min(until, copies_[i].Deadline(now));
  }
  int timeout = -1;
  if (until != Clock::time_point::max())
    timeout = static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(until - now).count()));
  poll(waits.data(), waits.size(), timeout);
}

}  // namespace fairlead::agent
