#include "http2/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "http2/http1_session.h"
#include "http2/http_session.h"
#include "http2/loop.h"
#include "http2/session.h"

namespace fairlead::http2 {
namespace {

LogScope transport_log("transport");

// What a connection may do before it is another one's turn.
constexpr int kReadsPerTurn = 4;
constexpr size_t kBytesPerTurn = 2 << 20;
// Handed to the system at once. Encrypted bytes that it does not take are kept as they are, so that there
// should be few.
constexpr size_t kBatch = 512 << 10, kEncryptedBatch = 64 << 10;
constexpr size_t kPiecesPerCall = 256;
// For a peer to read why it is sent away; less where the whole server ends, which waits for all.
constexpr std::chrono::milliseconds kLinger{2000}, kLingerAtEnd{100};
constexpr size_t kMostLingered = 16 << 20;  // bytes that it may say meanwhile

}  // namespace

Connection::Connection(Loop* loop, const ServedMethods& service, File socket, Origin origin, Counts* counts,
                       Clock::time_point now)
    : loop_(loop),
      service_(service),
      socket_(std::move(socket)),
      origin_(std::move(origin)),
      counts_(counts),
      since_(now) {
  ++counts_->connections_opened;
  if (origin_.tls != nullptr) {
    tls_ = std::make_unique<TlsConnection>(origin_.tls.get());
  } else {
    StartSession(nullptr, now);
  }
}

Connection::~Connection() {
  if (reason_.empty() && session_ != nullptr) reason_ = session_->failure();
  if (!reason_.empty()) ++counts_->sent_away[reason_];
  session_ = nullptr;  // its streams end while the counts are there
  ++counts_->connections_closed;
}

void Connection::StartSession(std::shared_ptr<const TlsPeer> tls, Clock::time_point now) {
  auto peer = std::make_shared<const Peer>(Peer{origin_.peer, std::move(tls)});
  const auto touch = [this] { loop_->Enqueue(this); };
  const HttpService* const http = service_.options().listeners[origin_.listener].http.get();
  const auto make_http2 = [this, http, peer, touch](Clock::time_point at) -> std::unique_ptr<SpokenProtocol> {
    return std::make_unique<Session>(service_, http, loop_->mailbox(), peer, counts_, &loop_->read_budget(),
                                     touch, at);
  };
  if (http == nullptr) {
    session_ = make_http2(now);
    return;
  }
  session_ = std::make_unique<HttpSession>(
      std::make_unique<Http1Session>(*http, loop_->mailbox(), peer, counts_, touch, now), make_http2);
}

void Connection::OnEvents(uint32_t events) {
  if ((events & EPOLLOUT) != 0) writable_ = true;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
  if (hung_up_ || (events & EPOLLIN) != 0) readable_ = true;
}

bool Connection::Turn(Clock::time_point now) {
  if (readable_) Read(now);
  if (!done_) Write(now);
  return !done_ && (readable_ || more_);
}

void Connection::Read(Clock::time_point now) {
  char* const buffer = loop_->buffers().in.get();
  for (int i = 0; i < kReadsPerTurn && readable_ && !done_; ++i) {
    const size_t most = std::min(Buffers::kRead, session_ == nullptr ? SIZE_MAX : session_->Appetite());
    if (most < Buffers::kRead) i = kReadsPerTurn;
    const ssize_t size = recv(socket_.get(), buffer, most, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      readable_ = false;
    } else if (size <= 0) {
      done_ = true;
    } else {
      // A buffer that is not filled was the last, until an event says otherwise.
      readable_ = hung_up_ || static_cast<size_t>(size) == most;
      received_ += static_cast<size_t>(size);
      Take({buffer, static_cast<size_t>(size)}, now);
    }
  }
}

void Connection::Take(std::string_view bytes, Clock::time_point now) {
  if (lingering_) {
    lingered_ += bytes.size();
    done_ = lingered_ > kMostLingered;
    return;
  }
  if (tls_ != nullptr) return TakeEncrypted(bytes, now);
  session_->Receive(bytes, now);
}

void Connection::TakeEncrypted(std::string_view bytes, Clock::time_point now) {
  std::string& answer = loop_->buffers().encrypted;
  answer.clear();
  const bool before = tls_->established();
  const absl::Status status = tls_->Receive(bytes, &answer, [&](std::string_view plain) {
    if (session_ == nullptr) StartSession(tls_->peer(), now);
    session_->Receive(plain, now);
  });
  if (!before && tls_->established()) {
    ++counts_->handshakes;
    if (tls_->resumed()) ++counts_->resumed;
    if (session_ == nullptr) StartSession(tls_->peer(), now);
  }
  WriteEncrypted(0, now);
  if (status.ok()) return;
  transport_log.Debug("{}: {}", origin_.peer, FromAbsl(status.message()));
  if (!before) return End("TLS handshake");
  done_ = true;
}

void Connection::Write(Clock::time_point now) {
  more_ = false;
  size_t all = 0;
  while (writable_ && !done_ && !lingering_) {
    if (!WriteLeft(now) || session_ == nullptr) return;
    if (all >= kBytesPerTurn) {
      more_ = true;
      return;
    }
    Batch& batch = loop_->buffers().batch;
    batch.Clear();
    session_->Produce(tls_ != nullptr ? kEncryptedBatch : kBatch, &batch);
    if (batch.size() == 0) break;
    all += batch.size();
    sent_ += batch.size();
    if (!WriteBatch(now)) break;
  }
  const bool all_written = unwritten_.empty() && records_.empty();
  if (session_ != nullptr && session_->Done() && all_written) Linger(now);
}

// What was left of the turn before. False: it still is.
bool Connection::WriteLeft(Clock::time_point now) {
  if (!records_.empty()) return WriteEncrypted(0, now);
  std::vector<iovec>& pieces = loop_->buffers().pieces;
  while (!unwritten_.empty()) {
    unwritten_.Pieces(kPiecesPerCall, &pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t size = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      writable_ = false;
      if (errno != EAGAIN) done_ = true;
      return false;
    }
    NoteProgress(now);
    unwritten_.Skip(static_cast<size_t>(size));
    session_->Written(static_cast<size_t>(size));
  }
  return true;
}

// False: the system takes no more for now.
bool Connection::WriteBatch(Clock::time_point now) {
  const Batch& batch = loop_->buffers().batch;
  if (tls_ != nullptr) {
    loop_->buffers().encrypted.clear();
    tls_->Encrypt(batch, &loop_->buffers().encrypted);
    return WriteEncrypted(batch.size(), now);
  }
  // The first call is from the batch itself: what is taken whole is never noted.
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(batch.pieces().data());
  message.msg_iovlen = std::min(batch.pieces().size(), kPiecesPerCall);
  const ssize_t size = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  if (size < 0 && errno != EAGAIN && errno != EINTR) {
    done_ = true;
    return false;
  }
  const size_t written = size < 0 ? 0 : static_cast<size_t>(size);
  if (written < batch.size()) {
    NoteProgress(now);
    unwritten_.Keep(batch, written);
  }
  session_->Written(written);
  return unwritten_.empty() || WriteLeft(now);
}

// Writes what is left, then the loop's encrypted bytes, which say `plain` bytes of HTTP/2; keeps the rest.
bool Connection::WriteEncrypted(size_t plain, Clock::time_point now) {
  std::string& fresh = loop_->buffers().encrypted;
  plain_ += plain;
  if (!records_.empty()) {
    records_.append(fresh);
    fresh.clear();
  }
  std::string& bytes = records_.empty() ? fresh : records_;
  size_t at = records_.empty() ? 0 : records_at_;
  while (at < bytes.size()) {
    const ssize_t size =
        writable_ ? send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL) : -1;
    if (size >= 0) {
      at += static_cast<size_t>(size);
      NoteProgress(now);
      continue;
    }
    if (writable_ && errno == EINTR) continue;
    if (writable_ && errno != EAGAIN) done_ = true;
    writable_ = false;
    if (records_.empty()) {
      NoteProgress(now);
      records_ = bytes.substr(at);
      at = 0;
      fresh.clear();
    }
    records_at_ = at;
    return false;
  }
  std::string().swap(records_);
  records_at_ = 0;
  fresh.clear();
  if (session_ != nullptr) session_->Written(std::exchange(plain_, 0));
  return true;
}

// The peer's last bytes are waited for: a socket that is closed with bytes unread takes back what it sent.
void Connection::Linger(Clock::time_point now) {
  if (lingering_) return;
  lingering_ = true;
  linger_end_ = now + (ending_ ? kLingerAtEnd : kLinger);
  shutdown(socket_.get(), SHUT_WR);
  loop_->Enqueue(this);
}

void Connection::End(std::string_view reason) {
  reason_ = reason;
  done_ = true;
}

void Connection::SendAway(std::string_view reason) {
  transport_log.Debug("{} is cut off: {}", origin_.peer, reason);
  End(reason);
  loop_->Enqueue(this);
}

void Connection::EndWithServer(Clock::time_point now, Clock::time_point end) {
  if (session_ == nullptr) return SendAway("shutdown");
  ending_ = true;
  session_->End(now, end);
}

Clock::time_point Connection::Check(Clock::time_point now) {
  Clock::time_point next = Clock::time_point::max();
  const auto due = [&](Clock::time_point time) {
    if (time <= now) return true;
    next = std::min(next, time);
    return false;
  };
  const Limits& limits = service_.options().limits;
  if (lingering_) {
    if (due(linger_end_)) done_ = true;
    return next;
  }
  if (!established() && due(since_ + limits.handshake_timeout)) End("handshake timeout");
  const bool left = !unwritten_.empty() || !records_.empty();
  if (left && due(stalled_at_ + limits.stall_timeout)) End("stalled");
  if (session_ != nullptr) {
    next = std::min(next, session_->Check(now));
    if (session_->Done() && !left) Linger(now);
    if (session_->Cut()) done_ = true;
  }
  return next;
}

// One that ends makes room as if it had never said anything.
Standing Connection::standing() const {
  return session_ == nullptr || lingering_ ? Standing::kSilent : session_->standing();
}

ConnectionInfo Connection::Info(Clock::time_point now) const {
  ConnectionInfo info;
  info.listener = service_.options().listeners[origin_.listener].name;
  info.peer = origin_.peer;
  info.age = std::chrono::duration_cast<std::chrono::milliseconds>(now - since_);
  info.tls = tls_ != nullptr;
  if (tls_ != nullptr && tls_->established()) info.names = tls_->peer()->uris;
  info.streams = session_ == nullptr ? 0 : session_->streams();
  info.held = session_ == nullptr ? 0 : session_->held();
  info.received = received_;
  info.sent = sent_;
  return info;
}

}  // namespace fairlead::http2
