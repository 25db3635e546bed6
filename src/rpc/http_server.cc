#include "rpc/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <charconv>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace fairlead::rpc {
namespace {

LogScope http_log("http");

struct Address {
  std::string host;
  int port = 0;
};

bool ParseAddress(std::string_view text, Address* address) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address->host = host.empty() ? "::" : std::string(host);
  if (port.empty()) return true;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address->port);
  return error == std::errc() && end == port.data() + port.size() && address->port <= 65535;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl() {
    server_.new_task_queue = [] { return new httplib::ThreadPool(4); };
    server_.set_keep_alive_timeout(5);
    server_.set_exception_handler(
        [](const httplib::Request& request, httplib::Response& response, std::exception_ptr) {
          http_log.Error("{}: the handler threw", request.path);
          response.status = 500;
        });
    // The library's default would let a second process listen on the same port without a word.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }

  void Get(const std::string& path, Handler handler) {
    server_.Get(path, [handler = std::move(handler)](const httplib::Request& in, httplib::Response& out) {
      HttpResponse response = handler({in.path, in.params});
      out.status = response.status;
      out.set_content(std::move(response.body), response.content_type.c_str());
    });
  }

  absl::Status Start(const std::string& text, int* port) {
    Address address;
    if (!ParseAddress(text, &address)) return absl::InvalidArgumentError(StrCat(text, " is no host:port"));
    *port = Bind(address);
    if (*port < 0 && address.host == "::") *port = Bind({"0.0.0.0", address.port});
    if (*port < 0) return absl::UnavailableError(StrCat("cannot listen on ", text));
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // Stop needs it
    return absl::OkStatus();
  }

  void Stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  int Bind(const Address& address) {
    if (address.port == 0) return server_.bind_to_any_port(address.host);
    return server_.bind_to_port(address.host, address.port) ? address.port : -1;
  }

  httplib::Server server_;
  std::thread thread_;
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {}
HttpServer::~HttpServer() { Stop(); }
void HttpServer::Get(const std::string& path, Handler handler) { impl_->Get(path, std::move(handler)); }
absl::Status HttpServer::Start(const std::string& address) { return impl_->Start(address, &port_); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace fairlead::rpc
