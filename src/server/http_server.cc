#include "server/http_server.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/strings.h"
#include "http2/http_stream.h"
#include "http2/server.h"
#include "server/address.h"
#include "server/http_target.h"
#include "server/request_places.h"

namespace fairlead::server {
namespace {

LogScope http_log("http");

// Connections that have not asked for anything yet, beside those whose requests are being answered.
constexpr size_t kSilentConnections = 512;
// How long a request waits for others to end.
constexpr std::chrono::seconds kLongestWait{30};
// At the end, for what is answered already.
constexpr std::chrono::milliseconds kLastAnswers{500};
// A client that does not read its answer is cut off.
constexpr std::chrono::seconds kStallTimeout{10};

// "ipv4:10.0.0.1:43210" and "ipv6:%5B::1%5D:43210" without all but the address.
std::string PeerAddress(std::string_view peer) {
  peer = peer.substr(std::min(peer.size(), peer.find(':') + 1), std::string_view::npos);
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with("%5B")) peer = peer.substr(3, peer.size() - 6);
  return std::string(peer);
}

HttpRequest ToRequest(http2::ParsedRequest request, const std::string& peer) {
  HttpTarget target = ParseTarget(request.target);
  return {std::move(target.path), std::move(target.query), std::move(request.body), PeerAddress(peer),
          std::move(request.headers)};
}

http2::HttpAnswer ToAnswer(HttpResponse response) {
  http2::HttpAnswer answer{response.status, std::move(response.body)};
  if (response.status != 304) answer.headers["Content-Type"] = std::move(response.content_type);
  if (!response.retry_after.empty()) answer.headers["Retry-After"] = std::move(response.retry_after);
  return answer;
}

// A reply with the place that its request takes until then, and the threads of its server.
class Reply final : public HttpReply {
 public:
  Reply(std::shared_ptr<http2::HttpStream> stream, RequestPlaces::Place place,
        std::shared_ptr<Executor> executor)
      : stream_(std::move(stream)), executor_(std::move(executor)), place_(std::move(place)) {}
  ~Reply() override {
    if (place_ == nullptr) return;
    http_log.Error("a request from {} was left without an answer", stream_->peer());
    stream_->Answer(ToAnswer({500, ""}));
  }

  void Answer(HttpResponse response) override {
    stream_->Answer(ToAnswer(std::move(response)));
    RequestPlaces::Place done;
    std::lock_guard lock(mutex_);
    done.swap(place_);
  }
  void Await(Clock::duration patience, std::function<void(bool)> end) override {
    stream_->Await(patience, [end = std::move(end)](http2::HttpStream::Unanswered how) {
      end(how == http2::HttpStream::Unanswered::kGone);
    });
  }
  void Run(std::function<void()> task) override { executor_->Submit(Urgency::kUrgent, std::move(task)); }

 private:
  const std::shared_ptr<http2::HttpStream> stream_;
  const std::shared_ptr<Executor> executor_;
  std::mutex mutex_;
  RequestPlaces::Place place_;  // guarded by mutex_
};

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(HttpServerOptions options)
      : options_(options),
        places_(options.max_requests),
        executor_(std::make_shared<Executor>("http", options.threads)) {}
  ~Impl() { Stop(); }

  struct Route {
    bool probe = false;
    Handler handler = nullptr;
    LaterHandler later = nullptr;
  };
  void Add(const std::string& method, const std::string& path, Route route) {
    Routes& routes = routes_[method];
    if (path.ends_with('*')) {
      routes.below.emplace_back(path.substr(0, path.size() - 1), std::move(route));
    } else {
      routes.exact.emplace(path, std::move(route));
    }
  }
  void OnUnanswered(std::function<HttpResponse(const HttpRequest&, int)> answer) {
    unanswered_ = std::move(answer);
  }

  void UseTls(std::shared_ptr<http2::TlsCredentials> credentials) { credentials_ = std::move(credentials); }

  absl::Status Start(const std::string& text) {
    const absl::StatusOr<Address> address = ParseAddress(text);
    if (!address.ok()) return address.status();
    http2::Listener listener;
    listener.name = text;
    listener.host = address->host;
    listener.port = address->port;
    listener.credentials = credentials_;
    listener.http = MakeService();
    http2::ServerOptions options;
    options.listeners.push_back(std::move(listener));
    options.limits.max_connections =
        options_.max_connections > 0 ? options_.max_connections : options_.max_requests + kSilentConnections;
    options.limits.stall_timeout = kStallTimeout;
    options.loops = 1;
    server_ = std::make_unique<http2::Server>(std::move(options));
    return server_->Start();
  }

  void Stop() {
    if (server_ != nullptr) server_->Stop(kLastAnswers);
    places_.Close();
    executor_->Stop();
  }

  int port() const { return server_ == nullptr || server_->ports().empty() ? 0 : server_->ports().front(); }

 private:
  struct Routes {
    std::map<std::string, Route> exact;
    std::vector<std::pair<std::string, Route>> below;  // by what paths begin with
  };

  std::shared_ptr<const http2::HttpService> MakeService() {
    auto service = std::make_shared<http2::HttpService>();
    service->limits.max_body = options_.max_body;
    service->limits.head_patience = std::min(options_.head_patience, options_.request_patience);
    service->limits.request_patience = options_.request_patience;
    service->open = [this](http2::ParsedRequest request, std::shared_ptr<http2::HttpStream> stream) {
      Open(std::move(request), std::move(stream));
    };
    service->refuse = [this](const http2::ParsedRequest& request, int status) {
      return ToAnswer(Unanswered(ToRequest(request, ""), status));
    };
    return service;
  }

  HttpResponse Unanswered(const HttpRequest& request, int status) const {
    return unanswered_ == nullptr ? HttpResponse{status, ""} : unanswered_(request, status);
  }

  // Null: there is none.
  const Route* Find(const std::string& method, const std::string& path) const {
    const Route* own = FindOf(method == "HEAD" ? "GET" : method, path);
    return own != nullptr ? own : FindOf("*", path);
  }

  const Route* FindOf(const std::string& method, const std::string& path) const {
    const auto routes = routes_.find(method);
    if (routes == routes_.end()) return nullptr;
    const auto exact = routes->second.exact.find(path);
    if (exact != routes->second.exact.end()) return &exact->second;
    for (const auto& [beginning, route] : routes->second.below) {
      if (path.starts_with(beginning)) return &route;
    }
    return nullptr;
  }

  // On the loop's thread.
  void Open(http2::ParsedRequest in, std::shared_ptr<http2::HttpStream> stream) {
    const std::string method = in.method;
    auto request = std::make_shared<const HttpRequest>(ToRequest(std::move(in), stream->peer()));
    const Route* const route = Find(method, request->path);
    if (route == nullptr) return stream->Answer(ToAnswer(Unanswered(*request, 404)));
    if (route->probe) return stream->Answer(ToAnswer(route->handler(*request)));
    const RequestPlaces::Entry entry = places_.Enter([this, request, stream, route](auto place) {
      executor_->Submit(Urgency::kPatient,
                        [request, reply = std::make_shared<Reply>(stream, std::move(place), executor_),
                         route] { Handle(*route, *request, reply); });
    });
    if (entry.refused) return stream->Answer(ToAnswer(Unanswered(*request, 503)));
    if (entry.waits > 0) Await(entry.waits, request, stream);
  }

  // A request that waits for its place goes with its client.
  void Await(uint64_t waits, const std::shared_ptr<const HttpRequest>& request,
             const std::shared_ptr<http2::HttpStream>& stream) {
    stream->Await(kLongestWait,
                  [this, waits, request, weak = std::weak_ptr(stream)](http2::HttpStream::Unanswered) {
                    const auto still = weak.lock();
                    if (places_.Leave(waits) && still != nullptr)
                      still->Answer(ToAnswer(Unanswered(*request, 503)));
                  });
  }

  static void Handle(const Route& route, const HttpRequest& request, const HttpReplyPtr& reply) {
    if (route.later != nullptr) return route.later(request, reply);
    reply->Answer(route.handler(request));
  }

  const HttpServerOptions options_;
  std::map<std::string, Routes> routes_;  // by method
  std::function<HttpResponse(const HttpRequest&, int)> unanswered_;
  std::shared_ptr<http2::TlsCredentials> credentials_;  // null: plaintext
  RequestPlaces places_;
  std::unique_ptr<http2::Server> server_;  // null before Start
  const std::shared_ptr<Executor> executor_;
};

HttpServer::HttpServer(HttpServerOptions options) : impl_(std::make_unique<Impl>(options)) {}
HttpServer::~HttpServer() = default;
void HttpServer::UseTls(std::shared_ptr<http2::TlsCredentials> credentials) {
  impl_->UseTls(std::move(credentials));
}
void HttpServer::Get(const std::string& path, Handler handler) {
  impl_->Add("GET", path, {.handler = std::move(handler)});
}
void HttpServer::Post(const std::string& path, Handler handler) {
  impl_->Add("POST", path, {.handler = std::move(handler)});
}
void HttpServer::Put(const std::string& path, Handler handler) {
  impl_->Add("PUT", path, {.handler = std::move(handler)});
}
void HttpServer::Any(const std::string& path, Handler handler) {
  impl_->Add("*", path, {.handler = std::move(handler)});
}
void HttpServer::Probe(const std::string& path, Handler handler) {
  impl_->Add("GET", path, {.probe = true, .handler = std::move(handler)});
}
void HttpServer::PostLater(const std::string& path, LaterHandler handler) {
  impl_->Add("POST", path, {.later = std::move(handler)});
}
void HttpServer::OnUnanswered(std::function<HttpResponse(const HttpRequest&, int)> answer) {
  impl_->OnUnanswered(std::move(answer));
}
absl::Status HttpServer::Start(const std::string& address) { return impl_->Start(address); }
void HttpServer::Stop() { impl_->Stop(); }
int HttpServer::port() const { return impl_->port(); }

}  // namespace fairlead::server
