#include "agent/upstream.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "base/thread.h"
#include "ca/secret_file.h"
#include "http2/client_call.h"
#include "http2/client_connection.h"

namespace fairlead::agent {
namespace {

constexpr size_t kMostMessage = std::numeric_limits<int32_t>::max();  // what protobuf can read
constexpr size_t kProduced = 64 << 10;                                // at a time
constexpr std::chrono::seconds kConnectTime{10};

}  // namespace

// What a call's thread shares with those that use the call.
struct UpstreamCall::State {
  explicit State(std::shared_ptr<UpstreamHandler> to_tell) : handler(std::move(to_tell)) {}
  // The thread's work.
  void Run(const UpstreamOptions& options, const std::string& path, Proofs proofs);
  void Wake() const;
  void Send(std::string_view message, bool is_last);

  const http2::File wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::shared_ptr<UpstreamHandler> handler;  // null: cancelled or over; guarded by mutex
  std::vector<std::string> to_send;          // guarded by mutex
  bool last = false;                         // of to_send; guarded by mutex
  size_t done = 0;                           // bytes of messages; guarded by mutex
  std::atomic<bool> over{false};             // the thread ends

 private:
  std::shared_ptr<UpstreamHandler> Handler();
  absl::Status Serve(http2::ClientConnection* connection, http2::ClientCall* call);
  bool TakeOrders(http2::ClientCall* call);
  absl::Status Write(http2::ClientConnection* connection, http2::ClientCall* call);

  bool sending_ = false;  // of the thread: OnTaken is still to be said
};

namespace {

absl::StatusOr<std::shared_ptr<ssl_ctx_st>> TlsOf(const UpstreamOptions& options, const Proofs& proofs) {
  http2::ClientTlsMaterial material{proofs.own.chain, proofs.own.key, proofs.roots, ""};
  if (access(options.crl_file.c_str(), R_OK) == 0) {
    auto crl = ca::ReadSecretFile(options.crl_file);
    if (!crl.ok()) return crl.status();
    material.server_crl = *std::move(crl);
  }
  return http2::MakeClientTls(material);
}

}  // namespace

void UpstreamCall::State::Wake() const {
  const uint64_t one = 1;
  static_cast<void>(!write(wake.get(), &one, sizeof one));
}

void UpstreamCall::State::Send(std::string_view message, bool is_last) {
  {
    std::lock_guard lock(mutex);
    to_send.emplace_back(message);
    last = is_last;
  }
  Wake();
}

std::shared_ptr<UpstreamHandler> UpstreamCall::State::Handler() {
  std::lock_guard lock(mutex);
  return handler;
}

void UpstreamCall::State::Run(const UpstreamOptions& options, const std::string& path, Proofs proofs) {
  const std::string& name = options.server_name.empty() ? options.host : options.server_name;
  http2::ClientConnection::Place place{options.host,
                                       options.port,
                                       name,
                                       nullptr,
                                       wake.get(),
                                       [this] { return Handler() == nullptr; },
                                       Clock::now() + kConnectTime,
                                       options.local_address};
  absl::Status status;
  if (options.tls) {
    auto tls = TlsOf(options, proofs);
    status = tls.status();
    if (tls.ok()) place.tls = *std::move(tls);
  }
  if (status.ok()) {
    const auto connection = http2::ClientConnection::Open(place);
    http2::ClientCallOptions call_options;
    call_options.authority =
        StrCat(name.find(':') == std::string::npos ? name : StrCat("[", name, "]"), ":", options.port);
    call_options.path = path;
    call_options.tls = options.tls;
    call_options.metadata = std::move(proofs.metadata);
    call_options.max_message_size = kMostMessage;
    http2::ClientCall call(std::move(call_options), [this](std::string message) {
      if (const auto to_tell = Handler()) to_tell->OnReply(std::move(message));
    });
    status = connection.ok() ? Serve(connection->get(), &call) : connection.status();
  }
  std::shared_ptr<UpstreamHandler> to_tell;
  {
    std::lock_guard lock(mutex);
    to_tell = std::exchange(handler, nullptr);
  }
  if (to_tell != nullptr) to_tell->OnEnd(status);
  over = true;
}

// Until the call ends or is cancelled.
absl::Status UpstreamCall::State::Serve(http2::ClientConnection* connection, http2::ClientCall* call) {
  while (TakeOrders(call)) {
    const absl::Status written = Write(connection, call);
    if (call->ended()) return call->status();
    if (written.ok()) static_cast<void>(connection->Wait(Clock::time_point::max()));
    // A server that takes no more may have said why.
    absl::Status status = connection->Read([call](std::string_view plain) { call->Receive(plain); });
    if (call->ended()) return call->status();
    status.Update(written);
    if (!status.ok()) return status;
  }
  return absl::CancelledError();
}

// False: cancelled.
bool UpstreamCall::State::TakeOrders(http2::ClientCall* call) {
  std::vector<std::string> messages;
  size_t bytes = 0;
  bool ends = false;
  {
    std::lock_guard lock(mutex);
    if (handler == nullptr) return false;
    messages.swap(to_send);
    bytes = std::exchange(done, 0);
    ends = last;
  }
  for (const std::string& message : messages) call->Send(message);
  if (ends) call->Finish();
  sending_ = sending_ || !messages.empty();
  if (bytes > 0) call->Done(bytes);
  return true;
}

absl::Status UpstreamCall::State::Write(http2::ClientConnection* connection, http2::ClientCall* call) {
  absl::Status status;
  std::string plain;
  do {
    plain.clear();
    if (!connection->backed_up()) call->Produce(kProduced, &plain);
    connection->Queue(plain);
    status = connection->Write();
  } while (!plain.empty() && status.ok());
  if (sending_ && call->all_sent()) {
    sending_ = false;
    if (const auto to_tell = Handler()) to_tell->OnTaken();
  }
  return status;
}

Upstream::Upstream(UpstreamOptions options) : options_(std::move(options)) {}

Upstream::~Upstream() { Stop(); }

void Upstream::Stop() {
  std::list<Thread> threads;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    threads.swap(threads_);
  }
  for (Thread& one : threads) {
    UpstreamCall(one.call).Cancel();
    one.thread.join();
  }
}

void Upstream::Reap() {
  for (auto one = threads_.begin(); one != threads_.end();) {
    if (one->call->over) {
      one->thread.join();
      one = threads_.erase(one);
    } else {
      ++one;
    }
  }
}

absl::StatusOr<std::unique_ptr<UpstreamCall>> Upstream::Open(const std::string& path, Proofs proofs,
                                                             std::shared_ptr<UpstreamHandler> handler) {
  auto state = std::make_shared<UpstreamCall::State>(std::move(handler));
  std::lock_guard lock(mutex_);
  if (stopped_) return absl::UnavailableError("the agent ends");
  if (state->wake.get() < 0) return absl::ResourceExhaustedError("no file to wake a call's thread by");
  Reap();
  auto thread = StartThread(
      [state, options = options_, path, proofs = std::move(proofs)] { state->Run(options, path, proofs); });
  if (!thread.ok()) return thread.status();
  threads_.push_back({*std::move(thread), state});
  return std::make_unique<UpstreamCall>(std::move(state));
}

void UpstreamCall::Send(std::string_view message) { state_->Send(message, /*is_last=*/false); }

void UpstreamCall::SendLast(std::string_view message) { state_->Send(message, /*is_last=*/true); }

void UpstreamCall::Done(size_t bytes) {
  {
    std::lock_guard lock(state_->mutex);
    state_->done += bytes;
  }
  state_->Wake();
}

void UpstreamCall::Cancel() {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->handler == nullptr) return;
    state_->handler = nullptr;
  }
  state_->Wake();
}

}  // namespace fairlead::agent
