#include "http2/http_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "http2/server.h"
#include "http2/socket_client_fake.h"

// Pages over both versions of HTTP on one listener: a real server and its sockets.
namespace fairlead::http2 {
namespace {

using testing::EndsWith;
using testing::StartsWith;

class HttpListeners : public testing::Test {
 protected:
  void Start(std::shared_ptr<TlsCredentials> credentials = nullptr) {
    auto service = std::make_shared<HttpService>();
    service->open = [](ParsedRequest request, std::shared_ptr<HttpStream> stream) {
      if (request.target == "/events") {
        stream->Begin({200, "first;"});
        stream->Say("second");
        stream->End();
      } else {
        stream->Answer({200, StrCat(request.method, " ", request.target, " ", request.body)});
      }
    };
    service->refuse = [](const ParsedRequest&, int status) { return HttpAnswer{status, "refused"}; };
    ServerOptions options;
    Listener listener;
    listener.name = "pages";
    listener.host = "127.0.0.1";
    listener.credentials = std::move(credentials);
    listener.http = service;
    options.listeners.push_back(std::move(listener));
    options.loops = 1;
    server_ = std::make_unique<Server>(std::move(options));
    const absl::Status status = server_->Start();
    ASSERT_TRUE(status.ok()) << status;
  }
  int port() const { return server_->ports().front(); }
  std::string AskHttp2(const std::string& path, SSL_CTX* tls = nullptr) {
    SocketClient client(port(), tls);
    const int32_t stream = client.http2().Call(path, {{":method", "GET"}});
    client.http2().End(stream);
    EXPECT_TRUE(client.Until([&] { return client.http2().Of(stream).closed; }));
    return client.http2().Of(stream).data;
  }
  // All that comes of these bytes, sent in pieces.
  std::string Raw(const std::vector<std::string>& pieces) {
    const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    for (const std::string& piece : pieces) {
      send(to, piece.data(), piece.size(), MSG_NOSIGNAL);
      usleep(5000);
    }
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(to, buffer, sizeof buffer, 0)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    close(to);
    return all;
  }

  // All that the server says to a request over TLS.
  std::string Http1OverTls(SSL_CTX* credentials) {
    BIO* const connection = BIO_new_ssl_connect(credentials);
    BIO_set_conn_hostname(connection, StrCat("127.0.0.1:", port()).c_str());
    constexpr std::string_view kGet = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n";
    EXPECT_EQ(BIO_write(connection, kGet.data(), static_cast<int>(kGet.size())),
              static_cast<int>(kGet.size()));
    std::string all;
    char buffer[4096];
    for (int got = 0; (got = BIO_read(connection, buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    BIO_free_all(connection);
    return all;
  }

  std::unique_ptr<Server> server_;
};

TEST_F(HttpListeners, SpeakWhatTheClientBeginsWith) {
  Start();
  EXPECT_EQ(AskHttp2("/page"), "GET /page ");
  EXPECT_EQ(AskHttp2("/events"), "first;second");
  EXPECT_THAT(Raw({"GET /page HTTP/1.1\r\nHost: x\r\n\r\n"}), EndsWith("\r\n\r\nGET /page "));
  EXPECT_THAT(Raw({"P", "OST /page HTTP/1.1\r\nContent-Length: 4\r\n\r\nb", "ody"}),
              EndsWith("\r\n\r\nPOST /page body"));
  EXPECT_THAT(Raw({"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"}),
              EndsWith("6\r\nfirst;\r\n6\r\nsecond\r\n0\r\n\r\n"));
  EXPECT_THAT(Raw({"PRI * HTTP/1.1\r\n\r\n"}), EndsWith("\r\n\r\nPRI * ")) << "only like the preface";
  EXPECT_THAT(Raw({"PR", "I * HTTP/2.0\r\n\r\nSM", "X\r\n\r\n"}), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpListeners, SpeakBothOverTls) {
  const AuthorityFake authority;
  const Issued own = authority.Issue("pages", "spiffe://a");
  TlsOptions options;
  options.http1 = true;
  auto credentials = TlsCredentials::Make(std::move(options));
  ASSERT_TRUE(credentials.ok());
  TlsMaterial material;
  material.certificate_chain = own.certificate;
  material.private_key = own.key;
  ASSERT_TRUE((*credentials)->Replace(material).ok());
  Start(*credentials);
  ClientTls tls(authority);
  EXPECT_EQ(AskHttp2("/page", tls.get()), "GET /page ");

  ClientTls http1(authority);
  SSL_CTX_set_alpn_protos(http1.get(), reinterpret_cast<const unsigned char*>("\x08http/1.1"), 9);
  EXPECT_THAT(Http1OverTls(http1.get()), EndsWith("\r\n\r\nGET /page "));
  // Clients of HTTP/1.1 may name no protocol.
  ClientTls unnamed(authority);
  SSL_CTX_set_alpn_protos(unnamed.get(), nullptr, 0);
  EXPECT_THAT(Http1OverTls(unnamed.get()), EndsWith("\r\n\r\nGET /page "));
}

}  // namespace
}  // namespace fairlead::http2
