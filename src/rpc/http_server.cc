#include "rpc/http_server.h"

#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "rpc/address.h"
#include "rpc/bounded_stream.h"

namespace fairlead::rpc {
namespace {

LogScope http_log("http");

constexpr std::chrono::seconds kIdle{10};
constexpr size_t kMaxBody = 4 << 20;

// Threads for connections, which the library keeps busy for as long as they are open: made when there is none
// to spare, and gone when they have had nothing to do for a while. One stays, so that connections are served,
// one after another, where the system has no more threads to give.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  // Fails where there is not even one thread to be had.
  static absl::StatusOr<std::unique_ptr<ConnectionThreads>> Make(size_t most) {
    std::unique_ptr<ConnectionThreads> threads(new ConnectionThreads(most));
    std::lock_guard lock(threads->mutex_);
    if (absl::Status status = threads->AddThread(); !status.ok()) return status;
    return threads;
  }
  ~ConnectionThreads() override { shutdown(); }
  void enqueue(std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
    if (idle_ >= tasks_.size() || threads_ == most_) {
      changed_.notify_one();
      return;
    }
    if (absl::Status status = AddThread(); !status.ok()) {
      http_log.Warn("a connection waits for another to end: {}", FromAbsl(status.message()));
      changed_.notify_one();
    }
  }
  // Waits for what is running; drops what waits.
  void shutdown() final {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return threads_ == 0; });
  }

 private:
  explicit ConnectionThreads(size_t most) : most_(most) {}

  // REQUIRES: mutex_ held.
  absl::Status AddThread() {
    absl::StatusOr<std::thread> thread = StartThread([this] { Run(); });
    if (!thread.ok()) return thread.status();
    ++threads_;
    thread->detach();
    return absl::OkStatus();
  }

  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      ++idle_;
      const bool any = changed_.wait_for(lock, kIdle, [this] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (stopping_) break;
      if (!any && threads_ == 1) continue;
      if (!any) break;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
    --threads_;
    changed_.notify_all();  // under the lock: shutdown's caller frees this
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  size_t threads_ = 0, idle_ = 0;
  bool stopping_ = false;
};

// The library's server, one request a connection, within limits.
class BoundedServer : public httplib::Server {
 public:
  explicit BoundedServer(const RequestLimits& limits) : limits_(limits) {}

 private:
  bool process_and_close_socket(int socket) override {
    BoundedStream stream(socket, limits_);
    bool closed = false;
    const bool served = process_request(stream, /*close_connection=*/true, closed, nullptr);
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return served;
  }

  const RequestLimits limits_;
};

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(HttpServerOptions options)
      : options_(options), server_(RequestLimits{.patience = options.request_patience}) {
    server_.set_payload_max_length(kMaxBody);
    server_.set_keep_alive_max_count(1);
    server_.set_exception_handler(
        [](const httplib::Request& request, httplib::Response& response, const std::exception_ptr&) {
          http_log.Error("{}: the handler threw", request.path);
          response.status = 500;
        });
    // The library's default would let a second process listen on the same port without a word.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }

  void Get(const std::string& path, Handler handler) { server_.Get(path, Adapt(std::move(handler))); }
  void Post(const std::string& path, Handler handler) { server_.Post(path, Adapt(std::move(handler))); }

  void Put(const std::string& path, Handler handler) { server_.Put(path, Adapt(std::move(handler))); }

  void OnUnanswered(std::function<HttpResponse(const HttpRequest&, int)> answer) {
    server_.set_error_handler(
        [answer = std::move(answer)](const httplib::Request& in, httplib::Response& out) {
          if (out.body.empty()) Fill(answer(ToRequest(in), out.status), &out);
        });
  }

  absl::Status Start(const std::string& text, int* port) {
    const absl::StatusOr<Address> address = ParseAddress(text);
    if (!address.ok()) return address.status();
    *port = Bind(*address);
    if (*port < 0 && address->host == "::") *port = Bind({"0.0.0.0", address->port});
    if (*port < 0) return ListenFailure(text);
    auto threads = ConnectionThreads::Make(options_.max_connections);
    if (!threads.ok()) return threads.status();
    // The library takes them over as soon as it listens.
    const auto queue = std::make_shared<std::unique_ptr<ConnectionThreads>>(*std::move(threads));
    server_.new_task_queue = [queue] { return queue->release(); };
    auto thread = StartThread([this] { server_.listen_after_bind(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // Stop needs it
    return absl::OkStatus();
  }

  void Stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  static httplib::Server::Handler Adapt(Handler handler) {
    return [handler = std::move(handler)](const httplib::Request& in, httplib::Response& out) {
      Fill(handler(ToRequest(in)), &out);
    };
  }

  static HttpRequest ToRequest(const httplib::Request& in) {
    HttpRequest request{in.path, in.params, in.body, in.remote_addr, {}};
    for (const auto& [name, value] : in.headers) request.headers[AsciiLower(name)] = value;
    return request;
  }

  static void Fill(const HttpResponse& response, httplib::Response* out) {
    out->status = response.status;
    if (!response.retry_after.empty()) out->set_header("Retry-After", response.retry_after);
    if (response.status != 304) out->set_content(response.body, response.content_type);
  }

  int Bind(const Address& address) {
    if (address.port == 0) return server_.bind_to_any_port(address.host);
    return server_.bind_to_port(address.host, address.port) ? address.port : -1;
  }

  const HttpServerOptions options_;
  BoundedServer server_;
  std::thread thread_;
};

HttpServer::HttpServer(HttpServerOptions options) : impl_(std::make_unique<Impl>(options)) {}
HttpServer::~HttpServer() { Stop(); }
void HttpServer::Get(const std::string& path, Handler handler) { impl_->Get(path, std::move(handler)); }
void HttpServer::Post(const std::string& path, Handler handler) { impl_->Post(path, std::move(handler)); }
void HttpServer::Put(const std::string& path, Handler handler) { impl_->Put(path, std::move(handler)); }
void HttpServer::OnUnanswered(std::function<HttpResponse(const HttpRequest&, int)> answer) {
  impl_->OnUnanswered(std::move(answer));
}
absl::Status HttpServer::Start(const std::string& address) { return impl_->Start(address, &port_); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace fairlead::rpc
