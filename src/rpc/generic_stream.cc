#include "rpc/generic_stream.h"

#include <utility>

namespace fairlead::rpc {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

std::string_view BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A message in one piece: calls `take` with its bytes.
template <typename Take>
void Flatten(const grpc::ByteBuffer& buffer, const Take& take) {
  grpc::Slice single;
  if (buffer.TrySingleSlice(&single).ok()) return take(BytesOf(single));
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return take(std::string_view());
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) bytes.append(BytesOf(slice));
  take(std::string_view(bytes));
}

// gRPC's slices count their own references; the last one gives our owner back.
grpc::Slice ToGrpc(Slice slice) {
  auto* owner = new std::shared_ptr<const void>(std::move(slice.owner));
  return {const_cast<char*>(slice.bytes.data()), slice.bytes.size(),
          [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); }, owner};
}

}  // namespace

class GenericStream::Reactor : public grpc::ServerGenericBidiReactor {
 public:
  explicit Reactor(std::shared_ptr<GenericStream> stream) : stream_(std::move(stream)) {}

  void Read() { StartRead(&in_); }
  void Send(std::vector<Slice> message) {
    std::vector<grpc::Slice> slices;
    slices.reserve(message.size());
    for (Slice& slice : message) slices.push_back(ToGrpc(std::move(slice)));
    out_ = grpc::ByteBuffer(slices.data(), slices.size());
    StartWrite(&out_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return stream_->Finish(grpc::Status::OK);  // the client is done, or gone
    grpc::ByteBuffer message;                           // the handler may read the next one at once
    message.Swap(&in_);
    Flatten(message, [this](std::string_view bytes) { stream_->handler_->OnMessage(bytes); });
  }
  void OnWriteDone(bool ok) override {
    out_.Clear();
    stream_->handler_->OnSent(ok);
  }
  void OnCancel() override { stream_->Finish(grpc::Status::CANCELLED); }
  void OnDone() override {
    {
      std::lock_guard lock(stream_->mutex_);
      stream_->done_ = true;
    }
    stream_->handler_->OnClosed();
    stream_->handler_ = nullptr;
    delete this;
  }

 private:
  const std::shared_ptr<GenericStream> stream_;
  grpc::ByteBuffer in_, out_;
};

grpc::ServerGenericBidiReactor* GenericStream::Open(grpc::GenericCallbackServerContext* context,
                                                    const StreamOpener& open) {
  auto stream = std::make_shared<GenericStream>(context, context->peer());
  auto* reactor = new Reactor(stream);
  stream->reactor_ = reactor;
  stream->handler_ = open(stream);
  return reactor;
}

GenericStream::GenericStream(grpc::GenericCallbackServerContext* context, std::string peer)
    : context_(context), peer_(std::move(peer)) {}

void GenericStream::Read() {
  std::lock_guard lock(mutex_);
  if (!finished_) reactor_->Read();
}

void GenericStream::Send(std::vector<Slice> message) {
  std::lock_guard lock(mutex_);
  if (!finished_) reactor_->Send(std::move(message));
}

std::optional<std::string> GenericStream::Metadata(std::string_view name) const {
  std::optional<std::string> last;
  const auto& metadata = context_->client_metadata();
  const auto [begin, end] = metadata.equal_range(grpc::string_ref(name.data(), name.size()));
  for (auto value = begin; value != end; ++value) last.emplace(value->second.data(), value->second.size());
  return last;
}

void GenericStream::Close(const absl::Status& status) { Finish(ToGrpc(status)); }

// A status would wait behind the message that is under way, for ever if the client does not read.
void GenericStream::Abort() {
  {
    std::lock_guard lock(mutex_);
    if (!done_) context_->TryCancel();
  }
  Finish(grpc::Status::CANCELLED);
}

void GenericStream::Finish(const grpc::Status& status) {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  reactor_->Finish(status);
}

}  // namespace fairlead::rpc
