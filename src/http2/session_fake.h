#ifndef FAIRLEAD_HTTP2_SESSION_FAKE_H_
#define FAIRLEAD_HTTP2_SESSION_FAKE_H_

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/http2_client_fake.h"
#include "http2/session.h"

// For tests.
namespace fairlead::http2 {

// What a method's handlers have seen and do.
struct Script {
  std::vector<std::string> messages;
  std::vector<bool> sent;
  int opened = 0, closed = 0;
  bool reads = true;  // asks for messages by itself
  bool echoes = true;
  std::shared_ptr<ServerStream> stream;  // the last
};

class ScriptHandler : public StreamHandler {
 public:
  ScriptHandler(std::shared_ptr<ServerStream> stream, Script* script)
      : stream_(std::move(stream)), script_(script) {
    ++script_->opened;
    script_->stream = stream_;
    if (script_->reads) stream_->Read();
  }
  void OnMessage(std::string_view bytes) override {
    script_->messages.emplace_back(bytes);
    auto owner = std::make_shared<const std::string>(bytes);
    if (script_->echoes) {
      stream_->Send({{owner, *owner}});
    } else if (script_->reads) {
      stream_->Read();
    }
  }
  void OnSent(bool ok) override {
    script_->sent.push_back(ok);
    if (ok && script_->reads && script_->echoes) stream_->Read();
  }
  void OnClosed() override { ++script_->closed; }

 private:
  const std::shared_ptr<ServerStream> stream_;
  Script* const script_;
};

inline constexpr char kEcho[] = "/test.v1.Echo/Echo";

// A session and a client of it, in one thread, with a clock of their own.
class SessionFake {
 public:
  explicit SessionFake(ServerOptions options, int32_t client_window = 65535, bool client_reads = true,
                       const HttpService* http = nullptr)
      : budget(options.limits.max_partial),
        client(client_window, client_reads),
        service_(WithEcho(std::move(options), &script)) {
    mailbox_->EnterLoop();
    session = std::make_unique<Session>(
        service_, http, mailbox_, std::make_shared<const Peer>(Peer{"ipv4:10.0.0.1:1", nullptr}), &counts,
        &budget, [] {}, now);
  }
  ~SessionFake() {
    session = nullptr;
    mailbox_->LeaveLoop();
    mailbox_->Shut();
  }

  // What the session has to say; up to `most` bytes at a time count as written.
  std::string Output(bool written = true) {
    std::string out;
    while (true) {
      Batch batch;
      session->Produce(64 << 10, &batch);
      if (batch.size() == 0) return out;
      for (const iovec& piece : batch.pieces())
        out.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
      if (written) session->Written(batch.size());
      Obey();
    }
  }
  // What handlers have asked for by the mailbox.
  void Obey() {
    for (Mailbox::Mail mail; mailbox_->Take(&mail), !mail.commands.empty() || !mail.tasks.empty();
         mail = {}) {
      for (Command& command : mail.commands) {
        GrpcStream* const stream = command.stream.get();
        stream->Do(std::move(command));
      }
      for (const auto& task : mail.tasks) task();
    }
  }
  void Receive(std::string_view bytes) {
    session->Receive(bytes, now);
    Obey();
  }
  // Until both have said all; nobody is admitted to a budget meanwhile. False: the server broke HTTP/2's
  // rules.
  bool Talk() {
    while (true) {
      const std::string from_client = client.Output();
      if (!from_client.empty()) Receive(from_client);
      Obey();
      const std::string from_server = Output();
      if (!from_server.empty() && !client.Input(from_server)) return false;
      if (from_client.empty() && from_server.empty()) return true;
    }
  }
  // Lets time pass, in steps as the session's timers ask for.
  void Pass(Clock::duration time) {
    const Clock::time_point end = now + time;
    while (true) {
      const Clock::time_point next = std::min(session->Check(now), budget.Admit(now));
      Talk();
      if (now >= end) return;
      now = std::min(end, std::max(next, now + std::chrono::milliseconds(1)));
    }
  }

  Script script;
  Counts counts;
  ReadBudget budget;
  Http2Client client;
  Clock::time_point now = Clock::time_point() + std::chrono::hours(1000);
  std::unique_ptr<Session> session;

 private:
  static ServerOptions WithEcho(ServerOptions options, Script* script) {
    options.methods.push_back({kEcho, [script](std::shared_ptr<ServerStream> stream) {
                                 return std::make_shared<ScriptHandler>(std::move(stream), script);
                               }});
    return options;
  }

  const ServedMethods service_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SESSION_FAKE_H_
