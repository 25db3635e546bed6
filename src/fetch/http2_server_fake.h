#ifndef FAIRLEAD_FETCH_HTTP2_SERVER_FAKE_H_
#define FAIRLEAD_FETCH_HTTP2_SERVER_FAKE_H_

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "fetch/raw_server_fake.h"

// For tests.
namespace fairlead::fetch {

// An HTTP/2 server on loopback, over TLS. It answers each path at once with status 200 and what
// was said for it (Say), also what is said later, and ends the answer with End. "/silent" is never answered;
// "/reset" gives headers and a reset. Clients without HTTP/2 get an empty answer.
class Http2ServerFake {
 public:
  using Fields = std::map<std::string, std::string>;

  // `clients`: the authority that clients' certificates must be of; null: none are wanted.
  explicit Http2ServerFake(const Issued& own, const AuthorityFake* clients = nullptr) {
    SetTls(own, clients);
    server_ =
        std::make_unique<RawServerFake>([this](int socket, Stopping stopping) { Serve(socket, stopping); });
  }
  ~Http2ServerFake() {
    server_ = nullptr;
    SSL_CTX_free(tls_);
  }
  Http2ServerFake(const Http2ServerFake&) = delete;
  Http2ServerFake& operator=(const Http2ServerFake&) = delete;

  int port() const { return server_->port(); }
  std::string Url(const std::string& path) const { return StrCat("https://127.0.0.1:", port(), path); }
  void Say(const std::string& path, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    texts_[path].bytes += bytes;
  }
  void End(const std::string& path) {
    const std::lock_guard lock(mutex_);
    texts_[path].ends = true;
  }
  // All fields of the requests so far, in their order.
  std::vector<Fields> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int connections() const { return server_->connections(); }
  int open_streams() const { return open_streams_; }
  // The name of the last certificate that a client showed, and the name that it asked for.
  std::string client() const {
    const std::lock_guard lock(mutex_);
    return client_;
  }
  std::string server_name() const {
    const std::lock_guard lock(mutex_);
    return server_name_;
  }

 private:
  struct Text {
    std::string bytes;
    bool ends = false;
  };
  struct Stream {
    std::string path;
    size_t sent = 0;
    Fields fields;
  };
  struct Connection {
    Http2ServerFake& server;
    Stopping stopping;
    SSL* tls;
    nghttp2_session* session = nullptr;
    std::map<int32_t, Stream> streams = {};
    std::string output = {};
  };

  static int SelectProtocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                            unsigned int in_size, void*) {
    static constexpr unsigned char kH2[] = "\x02h2";
    return SSL_select_next_proto(const_cast<unsigned char**>(out), size, kH2, 3, in, in_size) ==
                   OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
  }
  void SetTls(const Issued& own, const AuthorityFake* clients) {
    tls_ = SSL_CTX_new(TLS_server_method());
    UseCertificate(tls_, own);
    SSL_CTX_set_alpn_select_cb(tls_, SelectProtocol, nullptr);
    if (clients == nullptr) return;
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_), clients->root());
    SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }

  void Serve(int socket, Stopping stopping) {
    sigset_t pipe;  // the library writes where nobody reads any more
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    const timeval patience{0, 2000};
    Connection connection{*this, stopping, SSL_new(tls_)};
    SSL_set_fd(connection.tls, socket);
    if (SSL_accept(connection.tls) == 1) {
      NoteClient(connection.tls);
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      const unsigned char* protocol = nullptr;
      unsigned int size = 0;
      SSL_get0_alpn_selected(connection.tls, &protocol, &size);
      size == 2 ? Talk(connection) : AnswerHttp1(connection.tls, stopping);
    }
    SSL_free(connection.tls);
  }
  void NoteClient(SSL* tls) {
    const std::lock_guard lock(mutex_);
    const char* name = SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name);
    server_name_ = name == nullptr ? "" : name;
    X509* const shown = SSL_get0_peer_certificate(tls);
    char text[100] = "";
    if (shown != nullptr)
      X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, text, sizeof text);
    client_ = text;
  }
  void AnswerHttp1(SSL* tls, Stopping stopping) {
    std::string request;
    char one = 0;
    while (!stopping && request.find("\r\n\r\n") == std::string::npos) {
      const int got = SSL_read(tls, &one, 1);
      if (got == 1) request.push_back(one);
      if (got <= 0 && SSL_get_error(tls, got) != SSL_ERROR_WANT_READ) return;
    }
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    SSL_write(tls, kAnswer.data(), static_cast<int>(kAnswer.size()));
  }
  void Talk(Connection& connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_server_new(&connection.session, callbacks, &connection);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(connection.session, NGHTTP2_FLAG_NONE, nullptr, 0);
    bool open = true;
    while (open && !connection.stopping) open = Write(connection) && Read(connection);
    open_streams_ -= static_cast<int>(connection.streams.size());
    nghttp2_session_del(connection.session);
  }
  bool Write(Connection& connection) {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, stream] : connection.streams) nghttp2_session_resume_data(connection.session, id);
      const uint8_t* data = nullptr;
      ssize_t size = 0;
      while (connection.output.size() < (64 << 10) &&
             (size = nghttp2_session_mem_send(connection.session, &data)) > 0)
        connection.output.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    while (!connection.output.empty()) {
      const std::string& out = connection.output;
      const int sent = SSL_write(connection.tls, out.data(), static_cast<int>(out.size()));
      if (sent <= 0) return false;
      connection.output.erase(0, static_cast<size_t>(sent));
    }
    return true;
  }
  bool Read(Connection& connection) {
    char buffer[16384];
    const int got = SSL_read(connection.tls, buffer, sizeof buffer);
    if (got <= 0) return SSL_get_error(connection.tls, got) == SSL_ERROR_WANT_READ;
    const std::lock_guard lock(mutex_);
    return nghttp2_session_mem_recv(connection.session, reinterpret_cast<uint8_t*>(buffer),
                                    static_cast<size_t>(got)) == got;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t size, uint8_t, void* user) {
    auto& fields = static_cast<Connection*>(user)->streams[frame->hd.stream_id].fields;
    fields[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), size);
    return 0;
  }
  // The whole request is there. Runs with the mutex held.
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Stream& stream = connection.streams[frame->hd.stream_id];
    stream.path = stream.fields[":path"];
    connection.server.requests_.push_back(stream.fields);
    ++connection.server.open_streams_;
    if (stream.path == "/silent") return 0;
    nghttp2_nv status{};
    status.name = reinterpret_cast<uint8_t*>(const_cast<char*>(":status"));
    status.value = reinterpret_cast<uint8_t*>(const_cast<char*>("200"));
    status.namelen = 7;
    status.valuelen = 3;
    nghttp2_data_provider provider{};
    provider.read_callback = OnRead;
    nghttp2_submit_response(session, frame->hd.stream_id, &status, 1, &provider);
    return 0;
  }
  static ssize_t OnRead(nghttp2_session* session, int32_t id, uint8_t* to, size_t most, uint32_t* flags,
                        nghttp2_data_source*, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    Stream& stream = connection.streams[id];
    if (stream.path == "/reset") {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
      return NGHTTP2_ERR_DEFERRED;
    }
    const Text& text = connection.server.texts_[stream.path];
    const size_t part = std::min(most, text.bytes.size() - stream.sent);
    text.bytes.copy(reinterpret_cast<char*>(to), part, stream.sent);
    stream.sent += part;
    const bool all = stream.sent == text.bytes.size();
    if (all && text.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return part == 0 && !text.ends ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(part);
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    if (connection.streams.erase(stream) > 0) --connection.server.open_streams_;
    return 0;
  }

  SSL_CTX* tls_ = nullptr;
  std::atomic<int> open_streams_{0};
  mutable std::mutex mutex_;
  std::map<std::string, Text> texts_;
  std::vector<Fields> requests_;
  std::string client_, server_name_;
  std::unique_ptr<RawServerFake> server_;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_HTTP2_SERVER_FAKE_H_
