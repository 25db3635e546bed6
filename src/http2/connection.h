#ifndef FAIRLEAD_HTTP2_CONNECTION_H_
#define FAIRLEAD_HTTP2_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http2/counts.h"
#include "http2/options.h"
#include "http2/output.h"
#include "http2/protocol.h"
#include "http2/server.h"
#include "http2/service.h"
#include "http2/socket.h"
#include "http2/tls_connection.h"

namespace fairlead::http2 {

class Loop;

// What is the loop's and lent to one connection after the other.
struct Buffers {
  static constexpr size_t kRead = 64 << 10;
  std::unique_ptr<char[]> in{new char[kRead]};
  Batch batch;
  std::string encrypted;
  std::vector<iovec> pieces;
};

// A socket with its TLS and what is spoken on it. For the loop's thread.
class Connection {
 public:
  struct Origin {
    size_t listener;  // the place in ServerOptions::listeners
    std::string peer;
    std::shared_ptr<ssl_ctx_st> tls;  // null: plaintext
    uint64_t guest = 0;               // see Guests
  };
  Connection(Loop* loop, const ServedMethods& service, File socket, Origin origin, Counts* counts,
             Clock::time_point now);
  ~Connection();

  void OnEvents(uint32_t events);
  // Reads and writes what a turn allows; true: there is more to do at once.
  bool Turn(Clock::time_point now);
  // Does what is due, and says when to be called again.
  Clock::time_point Check(Clock::time_point now);
  // Tells the peer to go elsewhere, and ends what still runs at `end`.
  void EndWithServer(Clock::time_point now, Clock::time_point end);
  void SendAway(std::string_view reason);  // without a word
  bool Done() const { return done_; }
  // Ends some of its streams; false: there are more. REQUIRES: Done.
  bool EndSome() { return session_ == nullptr || session_->EndSome(); }
  Standing standing() const;
  bool established() const { return session_ != nullptr && session_->greeted(); }
  int socket() const { return socket_.get(); }
  const Origin& origin() const { return origin_; }
  ConnectionInfo Info(Clock::time_point now) const;

  // The loop's notes.
  bool queued = false;
  Clock::time_point timer = Clock::time_point::max();
  std::list<Connection*>::iterator handshaking;  // among those that are not established
  bool is_handshaking = false;
  Standing known_standing = Standing::kSilent;

 private:
  void StartSession(std::shared_ptr<const TlsPeer> tls, Clock::time_point now);
  void Read(Clock::time_point now);
  void Take(std::string_view bytes, Clock::time_point now);
  void TakeEncrypted(std::string_view bytes, Clock::time_point now);
  void Write(Clock::time_point now);
  bool WriteLeft(Clock::time_point now);
  bool WriteBatch(Clock::time_point now);
  bool WriteEncrypted(size_t plain, Clock::time_point now);
  void NoteProgress(Clock::time_point now) { stalled_at_ = now; }
  void Linger(Clock::time_point now);
  void End(std::string_view reason);

  Loop* const loop_;
  const ServedMethods& service_;
  const File socket_;
  const Origin origin_;
  Counts* const counts_;
  const Clock::time_point since_;
  std::unique_ptr<TlsConnection> tls_;
  std::unique_ptr<SpokenProtocol> session_;  // null during a handshake

  bool readable_ = true, writable_ = true;
  bool hung_up_ = false;  // the peer says no more; what it said may wait to be read
  bool lingering_ = false, done_ = false;
  bool ending_ = false;  // with the server
  bool more_ = false;    // to write, though the turn is over
  Unwritten unwritten_;  // of plaintext
  std::string records_;  // of TLS, that the system did not take, from a position on
  size_t records_at_ = 0;
  size_t plain_ = 0;                // bytes of HTTP/2 that those records say
  Clock::time_point stalled_at_{};  // when the system last took something, while it does not take all
  Clock::time_point linger_end_{};
  size_t lingered_ = 0;  // bytes that were passed over meanwhile
  uint64_t received_ = 0, sent_ = 0;
  std::string reason_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_CONNECTION_H_
