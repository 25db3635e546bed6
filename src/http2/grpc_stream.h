#ifndef FAIRLEAD_HTTP2_GRPC_STREAM_H_
#define FAIRLEAD_HTTP2_GRPC_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http2/http2_stream.h"
#include "http2/mailbox.h"
#include "http2/message_reader.h"
#include "http2/peer.h"
#include "http2/read_budget.h"
#include "http2/request.h"
#include "http2/stream.h"

namespace fairlead::http2 {

// A call on a session: the interface's calls go through the loop's mailbox, all else happens on the loop's
// thread.
class GrpcStream final : public ServerStream,
                         public Http2Stream,
                         public ReadBudget::Reader,
                         public std::enable_shared_from_this<GrpcStream> {
 public:
  GrpcStream(Session* session, int32_t id, std::shared_ptr<Mailbox> mailbox,
             std::shared_ptr<const Peer> peer);

  void Read() override;
  void Send(std::vector<Slice> message) override;
  void Close(const absl::Status& status) override;
  void Abort() override;
  const std::string& peer() const override { return peer_->address; }
  const TlsPeer* tls() const override { return peer_->tls.get(); }
  std::optional<std::string> Metadata(std::string_view name) const override;
  void NoteIdentity() override;

  // The rest is for the loop's thread.
  void Do(Command command);
  void OnAdmitted() override;

 private:
  friend class Session;

  // From the session.
  void Open(const RequestFields& request, const StreamOpener& open, size_t max_message_size);
  void Refuse(const RequestFields::Refusal& refusal);
  void TakeData(std::string_view bytes) override;
  void TakeEnd() override;
  Clock::time_point Expire() override;
  Next NextBytes(size_t most, size_t* size) override;
  void Produce(size_t size, Batch* batch) override;
  void OnWritten(bool ok) override;  // of the message
  void Detach() override;
  void EndWithConnection(const absl::Status& status) override { DoClose(status); }

  void DoRead();
  void DoSend(std::vector<Slice> message);
  void DoClose(absl::Status status);
  void DoAbort();
  void Pump(std::string_view bytes);
  void EndTaking();
  void OpenWindow(size_t least);
  void EndClaim();
  void FinishReading();
  void DropUnread();
  void NoteHeld();
  void SubmitHeaders();
  void SubmitTrailersOnly();
  void SubmitTrailers();
  void Resume();

  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<const Peer> peer_;
  const RequestFields* request_ = nullptr;  // while the stream is being opened

  std::shared_ptr<StreamHandler> handler_;
  MessageReader reader_;
  std::string unread_;  // bytes that came while no message was asked for
  std::vector<Slice> message_;
  size_t slice_ = 0, at_ = 0;  // the position in it
  size_t left_ = 0;            // bytes to send, of the prefix and the message
  absl::Status final_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::duration patience_{};  // for the first message
  size_t held_ = 0;             // as the session counts it
  std::array<uint8_t, 5> prefix_;
  uint8_t prefix_left_ = 0;
  bool heard_ = false;     // a message has come
  bool reading_ = false;   // the handler waits for a message
  bool pumping_ = false;   // inside of Pump
  bool ended_ = false;     // the client has said all
  bool sending_ = false;   // a message is under way
  bool closing_ = false;   // with final_; what comes is dropped
  bool headers_ = false;   // the response's are submitted
  bool trailers_ = false;  // they are submitted
  bool deferred_ = false;  // nghttp2 waits to be told that there is more to send
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_GRPC_STREAM_H_
