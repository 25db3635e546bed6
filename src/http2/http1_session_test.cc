#include "http2/http1_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

// Without sockets, in one thread, with a clock of its own.
namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::StartsWith;

constexpr char kGet[] = "GET /ready?a=1 HTTP/1.1\r\nHost: x\r\nX-Name: one\r\nx-name: two\r\n\r\n";

class Http1 : public testing::Test {
 protected:
  Http1() {
    service_.open = [this](ParsedRequest request, std::shared_ptr<HttpStream> stream) {
      requests_.push_back(std::move(request));
      streams_.push_back(std::move(stream));
    };
    service_.refuse = [](const ParsedRequest& request, int status) {
      return HttpAnswer{status, "refused " + request.target};
    };
    mailbox_->EnterLoop();
  }
  ~Http1() override {
    session_ = nullptr;
    mailbox_->LeaveLoop();
    mailbox_->Shut();
  }
  void Begin() {
    session_ = std::make_unique<Http1Session>(
        service_, mailbox_, std::make_shared<const Peer>(Peer{"ipv4:10.0.0.1:1", nullptr}), &counts_, [] {},
        now_);
  }
  void Receive(const std::string& bytes) { session_->Receive(bytes, now_); }
  // What is sent, up to `most` bytes at a time.
  std::string Output(size_t most = 1 << 20) {
    Mailbox::Mail mail;
    mailbox_->Take(&mail);
    for (const auto& task : mail.tasks) task();
    std::string out;
    while (true) {
      Batch batch;
      session_->Produce(most, &batch);
      if (batch.size() == 0) return out;
      for (const iovec& piece : batch.pieces())
        out.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
      session_->Written(batch.size());
    }
  }
  std::string Refused(const std::string& bytes) {
    Begin();
    Receive(bytes);
    return Output();
  }

  HttpService service_;
  std::vector<ParsedRequest> requests_;
  std::vector<std::shared_ptr<HttpStream>> streams_;
  Counts counts_;
  Clock::time_point now_ = Clock::now();
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::unique_ptr<Http1Session> session_;
};

TEST_F(Http1, ARequestIsAnsweredWhenThereIsAnAnswer) {
  Begin();
  for (const char byte : std::string(kGet)) Receive(std::string(1, byte));
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].method, "GET");
  EXPECT_EQ(requests_[0].target, "/ready?a=1");
  EXPECT_EQ(requests_[0].headers["x-name"], "two");
  EXPECT_EQ(Output(), "");
  EXPECT_EQ(session_->standing(), Standing::kHeard);
  streams_[0]->Answer({200, std::string(100000, 'b'), {{"X-Own", "1"}}});
  streams_[0]->Answer({500, "twice"});
  const std::string out = Output(1000);
  EXPECT_THAT(
      out, StartsWith("HTTP/1.1 200 OK\r\nX-Own: 1\r\nContent-Length: 100000\r\nConnection: close\r\n\r\nb"));
  EXPECT_THAT(out, EndsWith("b"));
  EXPECT_TRUE(session_->Done());
  EXPECT_EQ(service_.held, 0u + session_->held());
}

TEST_F(Http1, BodiesComeWholeOrInChunks) {
  Begin();
  Receive("POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel");
  EXPECT_TRUE(requests_.empty());
  Receive("lo and more");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].body, "hello");
  Begin();
  for (const char byte :
       std::string("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"))
    Receive(std::string(1, byte));
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[1].body, "hello");
}

TEST_F(Http1, WhatIsSaidOfChunksIsBoundedAndSaysNothingOfTheRequest) {
  Begin();
  Receive("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: y\r\n\r\n");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].headers["host"], "x");
  Begin();
  Receive("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=");
  size_t sent = 0;
  for (; sent < (1 << 20) && !session_->Done(); sent += 1000) Receive(std::string(1000, 'y'));
  EXPECT_LT(sent, 70u << 10);
}

TEST_F(Http1, AClientThatAsksIsToldToGoOn) {
  Begin();
  Receive("POST /a HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(Output(), "HTTP/1.1 100 Continue\r\n\r\n");
  Receive("hello");
  ASSERT_EQ(requests_.size(), 1u);
  streams_[0]->Answer({200, "yes"});
  EXPECT_THAT(Output(), EndsWith("\r\n\r\nyes"));
  EXPECT_TRUE(session_->Done());
}

TEST_F(Http1, AnswersWithoutABody) {
  Begin();
  Receive("HEAD /ready HTTP/1.1\r\n\r\n");
  streams_.back()->Answer({200, "yes"});
  EXPECT_THAT(Output(), EndsWith("Content-Length: 3\r\nConnection: close\r\n\r\n"));
  Begin();
  Receive(kGet);
  streams_.back()->Answer({304, ""});
  EXPECT_EQ(Output(), "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n");
}

TEST_F(Http1, WhatIsNoRequestIsRefused) {
  service_.limits.max_body = 10;
  EXPECT_THAT(Refused("\x16\x03\x01\x02 no HTTP\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  const std::string large = Refused("POST /a HTTP/1.1\r\nContent-Length: 11\r\n\r\n");
  EXPECT_THAT(large, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(large, EndsWith("refused /a"));
  EXPECT_THAT(Refused("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(Http1, AGiganticHeadEndsTheConnection) {
  Begin();
  size_t sent = 0;
  for (; sent < (1 << 20) && !session_->Done(); sent += 1000) Receive(std::string(1000, 'x'));
  EXPECT_LT(sent, 70u << 10);
  EXPECT_TRUE(session_->Cut());
  Begin();
  Receive("GET / HTTP/1.1\r\n");
  for (sent = 0; sent < (1 << 20) && !session_->Done(); sent += 10) Receive("a: bcdef\r\n");
  EXPECT_LT(sent, 70u << 10);
}

TEST_F(Http1, WhoseHeadDoesNotComeIsCutOffAfterFiveSeconds) {
  Begin();
  Receive("GET /rea");
  EXPECT_EQ(session_->standing(), Standing::kSilent);
  EXPECT_EQ(session_->Check(now_), now_ + seconds(5));
  now_ += milliseconds(4999);
  Receive("d");
  session_->Check(now_);
  EXPECT_FALSE(session_->Done());
  session_->Check(now_ + milliseconds(1));
  EXPECT_TRUE(session_->Cut());
  EXPECT_EQ(session_->failure(), "no request");
}

TEST_F(Http1, WhoseBodyDoesNotComeIsCutOffLater) {
  Begin();
  Receive("POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\n");
  session_->Check(now_ + seconds(19));
  EXPECT_FALSE(session_->Done());
  session_->Check(now_ + seconds(20));
  EXPECT_TRUE(session_->Cut());
}

TEST_F(Http1, AHeldRequestEndsInTimeOrWithItsClient) {
  Begin();
  Receive(kGet);
  std::optional<HttpStream::Unanswered> end;
  streams_[0]->Await(seconds(3), [&](HttpStream::Unanswered how) {
    end = how;
    streams_[0]->Answer({304, ""});
  });
  session_->Check(Clock::now() + seconds(2));
  EXPECT_FALSE(end);
  session_->Check(Clock::now() + seconds(4));
  EXPECT_EQ(end, HttpStream::Unanswered::kInTime);
  EXPECT_THAT(Output(), StartsWith("HTTP/1.1 304 "));

  Begin();
  Receive(kGet);
  end.reset();
  streams_[1]->Await(seconds(3), [&](HttpStream::Unanswered how) { end = how; });
  session_ = nullptr;
  EXPECT_EQ(end, HttpStream::Unanswered::kGone);
  end.reset();
  streams_[1]->Await(seconds(3), [&](HttpStream::Unanswered how) { end = how; });
  EXPECT_EQ(end, HttpStream::Unanswered::kGone) << "at once";
  streams_[1]->Answer({200, "to nobody"});
}

TEST_F(Http1, AnswersMayComeByAndBy) {
  Begin();
  Receive(kGet);
  streams_[0]->Begin({200, "data: first\n\n", {{"Content-Type", "text/event-stream"}}});
  EXPECT_EQ(Output(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\nd\r\ndata: first\n\n\r\n");
  streams_[0]->Say("data: second\n\n");
  streams_[0]->Say("");
  EXPECT_EQ(Output(3), "e\r\ndata: second\n\n\r\n");
  EXPECT_FALSE(session_->Done());
  streams_[0]->Answer({500, "no more"});
  streams_[0]->End();
  streams_[0]->Say("too late");
  EXPECT_EQ(Output(), "0\r\n\r\n");
  EXPECT_TRUE(session_->Done());
}

TEST_F(Http1, OlderClientsSeeTheEndByTheConnections) {
  Begin();
  Receive("GET / HTTP/1.0\r\n\r\n");
  streams_[0]->Begin({200, "a"});
  streams_[0]->Say("b");
  EXPECT_EQ(Output(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab");
  EXPECT_FALSE(session_->Done());
  streams_[0]->End();
  EXPECT_EQ(Output(), "");
  EXPECT_TRUE(session_->Done());
}

TEST_F(Http1, AClientThatDoesNotReadIsCutOff) {
  service_.limits.max_unsent = 100'000;
  Begin();
  Receive(kGet);
  std::optional<HttpStream::Unanswered> end;
  streams_[0]->Begin({200, ""});
  streams_[0]->Await(Clock::duration::max(), [&](HttpStream::Unanswered how) { end = how; });
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 9; ++i) streams_[0]->Say(std::string(10'000, 'x'));
    EXPECT_GT(Output().size(), 90'000u) << "what is read is gone";
  }
  EXPECT_FALSE(end);
  for (int i = 0; i < 11; ++i) streams_[0]->Say(std::string(10'000, 'x'));
  EXPECT_EQ(Output(), "");
  EXPECT_TRUE(session_->Cut());
  EXPECT_EQ(end, HttpStream::Unanswered::kGone);
  session_ = nullptr;
  EXPECT_EQ(service_.held, 0u);
}

TEST_F(Http1, WhatIsHeldHasALimit) {
  service_.limits.max_held = 300000;
  Begin();
  Receive("POST /a HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + std::string(199999, 'x'));
  auto first = std::move(session_);
  EXPECT_THAT(Refused("POST /b HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + std::string(199999, 'x')),
              StartsWith("HTTP/1.1 503 "));
  first = nullptr;
  session_ = nullptr;
  EXPECT_EQ(service_.held, 0u);
}

TEST_F(Http1, WhatFollowsARequestIsPassedOverNotForEver) {
  Begin();
  Receive(kGet);
  Receive(kGet);
  EXPECT_EQ(requests_.size(), 1u) << "a connection is one request";
  for (int i = 0; i < 1000 && !session_->Done(); ++i) Receive(std::string(1000, 'x'));
  EXPECT_TRUE(session_->Cut());
}

TEST_F(Http1, TheServersEndLeavesTimeForAnswersThatAreMade) {
  Begin();
  session_->End(now_, now_ + seconds(1));
  EXPECT_TRUE(session_->Done()) << "nothing was asked";
  Begin();
  Receive(kGet);
  session_->End(now_, now_ + seconds(1));
  EXPECT_FALSE(session_->Done());
  streams_.back()->Answer({503, "ending"});
  EXPECT_THAT(Output(), EndsWith("ending"));
  Begin();
  Receive(kGet);
  session_->End(now_, now_ + seconds(1));
  session_->Check(now_ + seconds(1));
  EXPECT_TRUE(session_->Cut());
}

}  // namespace
}  // namespace fairlead::http2
