#include "agent/status/app_probes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "fetch/http2_server_fake.h"

namespace fairlead::agent {
namespace {

// An application over TLS whose HTTP/2 answers have a body, and those of HTTP/1.1 none.
class HttpsProbe : public testing::Test {
 protected:
  HttpsProbe() {
    application_.Say("/ready", "by HTTP/2");
    application_.End("/ready");
    probe_.tls = true;
    probe_.path = "/ready";
    probe_.port = application_.port();
    way_.host = "127.0.0.1";
    way_.local_address = "127.0.0.6";
    way_.status_port = 15020;
    request_.path = "/app-health/web/readyz";
    request_.headers = {{"host", "web:15020"}, {"user-agent", "kube-probe/1.34"}};
  }

  AuthorityFake authority_;
  fetch::Http2ServerFake application_{authority_.Issue("web", "spiffe://web,DNS:web")};
  AppProbe probe_;
  ProbeWay way_;
  server::HttpRequest request_;
};

TEST_F(HttpsProbe, SpeaksHttp2WithAnApplicationThatHasIt) {
  const server::HttpResponse answer = RunAppProbe(probe_, way_, request_);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "by HTTP/2");
  ASSERT_EQ(application_.requests().size(), 1u);
  fetch::Http2ServerFake::Fields said = application_.requests().front();
  EXPECT_EQ(said[":authority"], StrCat("web:", application_.port()));
  EXPECT_EQ(said["user-agent"], "kube-probe/1.34");
}

TEST_F(HttpsProbe, EachHasAConnectionOfItsOwn) {
  RunAppProbe(probe_, way_, request_);
  RunAppProbe(probe_, way_, request_);
  EXPECT_EQ(application_.connections(), 2);
}

TEST_F(HttpsProbe, SpeaksHttp1WhereHttp2IsSwitchedOff) {
  way_.http2 = false;
  const server::HttpResponse answer = RunAppProbe(probe_, way_, request_);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_TRUE(application_.requests().empty());
}

}  // namespace
}  // namespace fairlead::agent
