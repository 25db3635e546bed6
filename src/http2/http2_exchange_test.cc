#include "http2/http2_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "http2/session_fake.h"

// Plain requests over HTTP/2: without sockets, in one thread, with a clock of its own.
namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Http2Requests : public testing::Test {
 protected:
  Http2Requests() {
    service_.open = [this](ParsedRequest request, std::shared_ptr<HttpStream> stream) {
      requests_.push_back(std::move(request));
      streams_.push_back(std::move(stream));
    };
    service_.refuse = [](const ParsedRequest& request, int status) {
      return HttpAnswer{status, "refused " + request.target};
    };
  }
  ~Http2Requests() override {
    session_ = nullptr;
    streams_.clear();
    EXPECT_EQ(service_.held.load(), 0u);
  }
  void Begin(int32_t window = 65535, bool reads = true) {
    session_ = std::make_unique<SessionFake>(ServerOptions{}, window, reads, &service_);
  }
  Http2Client& client() { return session_->client; }
  bool Talk() { return session_->Talk(); }
  int32_t Ask(const std::string& method, const std::string& path, Http2Client::Fields more = {}) {
    more.emplace_back(":method", method);
    const int32_t stream = client().Call(path, more);
    if (method != "POST") client().End(stream);
    return stream;
  }
  std::string StatusOf(int32_t stream) {
    auto fields = client().Of(stream).fields;
    return fields[":status"];
  }

  HttpService service_;
  std::vector<ParsedRequest> requests_;
  std::vector<std::shared_ptr<HttpStream>> streams_;
  std::unique_ptr<SessionFake> session_;
};

TEST_F(Http2Requests, AreOpenedAsThoseOfHttp1) {
  Begin();
  const int32_t stream =
      Ask("GET", "/ready?a=1", {{"x-name", "one"}, {"x-name", "two"}, {"content-type", "text/plain"}});
  ASSERT_TRUE(Talk());
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].method, "GET");
  EXPECT_EQ(requests_[0].target, "/ready?a=1");
  EXPECT_EQ(requests_[0].headers["host"], "test");
  EXPECT_EQ(requests_[0].headers["x-name"], "two");
  EXPECT_EQ(requests_[0].headers["content-type"], "text/plain");
  EXPECT_EQ(streams_[0]->peer(), "ipv4:10.0.0.1:1");
  EXPECT_EQ(StatusOf(stream), "");
  EXPECT_EQ(session_->session->standing(), Standing::kHeard);
  const std::string body(300'000, 'b');
  streams_[0]->Answer({200, body, {{"X-Own", "1"}, {"Connection", "close"}}});
  streams_[0]->Answer({500, "twice"});
  ASSERT_TRUE(Talk());
  auto heard = client().Of(stream);
  EXPECT_EQ(heard.fields[":status"], "200");
  EXPECT_EQ(heard.fields["x-own"], "1");
  EXPECT_EQ(heard.fields["content-length"], "300000");
  EXPECT_FALSE(heard.fields.contains("connection"));
  EXPECT_TRUE(heard.data == body);
  EXPECT_TRUE(heard.closed);
  EXPECT_EQ(heard.error, 0u);
  EXPECT_EQ(session_->session->standing(), Standing::kSilent);
}

TEST_F(Http2Requests, BodiesAreTaken) {
  Begin();
  const int32_t stream = Ask("POST", "/objects");
  std::string body;
  for (int i = 0; i < 20; ++i) {
    client().Say(stream, std::string(10'000, static_cast<char>('a' + i)));
    body += std::string(10'000, static_cast<char>('a' + i));
    ASSERT_TRUE(Talk());
  }
  EXPECT_TRUE(requests_.empty()) << "not before it is whole";
  client().End(stream);
  ASSERT_TRUE(Talk());
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_TRUE(requests_[0].body == body);
  EXPECT_GE(service_.held.load(), body.size());
  streams_[0]->Answer({204, ""});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(stream), "204");
  EXPECT_TRUE(client().Of(stream).closed);
}

TEST_F(Http2Requests, GoOnSideBySide) {
  Begin();
  std::vector<int32_t> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(Ask("GET", StrCat("/", i)));
  ASSERT_TRUE(Talk());
  ASSERT_EQ(streams_.size(), 10u);
  for (size_t i = 10; i-- > 0;) streams_[i]->Answer({200, StrCat("answer ", i)});
  ASSERT_TRUE(Talk());
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(client().Of(ids[i]).data, StrCat("answer ", i));
}

TEST_F(Http2Requests, AHeadHasNoBody) {
  Begin();
  const int32_t stream = Ask("HEAD", "/");
  ASSERT_TRUE(Talk());
  streams_[0]->Answer({200, "four"});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(client().Of(stream).fields.at("content-length"), "4");
  EXPECT_EQ(client().Of(stream).data, "");
  EXPECT_TRUE(client().Of(stream).closed);
}

TEST_F(Http2Requests, TooLargeOnesAreRefused) {
  service_.limits.max_body = 1000;
  service_.limits.max_head = 10'000;
  Begin();
  const int32_t stream = Ask("POST", "/large");
  client().Say(stream, std::string(1001, 'x'));
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(stream), "413");
  EXPECT_EQ(client().Of(stream).data, "refused /large");
  EXPECT_TRUE(client().Of(stream).closed) << "the rest need not come";
  const int32_t head = Ask("GET", "/", {{"x-large", std::string(20'000, 'h')}});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(head), "431");
  EXPECT_TRUE(requests_.empty());
  const int32_t fine = Ask("GET", "/");
  ASSERT_TRUE(Talk());
  EXPECT_EQ(requests_.size(), 1u);
  streams_[0]->Answer({200, "fine"});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(fine), "200");
}

TEST_F(Http2Requests, WhatIsHeldHasALimit) {
  service_.limits.max_held = 100'000;
  Begin();
  const int32_t first = Ask("POST", "/first"), second = Ask("POST", "/second");
  for (int i = 0; i < 9; ++i) client().Say(first, std::string(10'000, 'x'));
  ASSERT_TRUE(Talk());
  for (int i = 0; i < 3; ++i) client().Say(second, std::string(10'000, 'x'));
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(second), "503");
  EXPECT_EQ(StatusOf(first), "");
}

TEST_F(Http2Requests, SlowOnesAreRefused) {
  Begin();
  const int32_t stream = Ask("POST", "/slow");
  client().Say(stream, "x");
  session_->Pass(seconds(19));
  EXPECT_EQ(StatusOf(stream), "");
  session_->Pass(seconds(2));
  EXPECT_EQ(StatusOf(stream), "408");
}

TEST_F(Http2Requests, AnswersMayComeByAndBy) {
  Begin();
  const int32_t stream = Ask("GET", "/events");
  ASSERT_TRUE(Talk());
  streams_[0]->Begin({200, "data: first\n\n", {{"Content-Type", "text/event-stream"}}});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(StatusOf(stream), "200");
  EXPECT_EQ(client().Of(stream).fields.at("content-type"), "text/event-stream");
  EXPECT_FALSE(client().Of(stream).fields.contains("content-length"));
  EXPECT_EQ(client().Of(stream).data, "data: first\n\n");
  streams_[0]->Say("data: second\n\n");
  streams_[0]->Say("");
  ASSERT_TRUE(Talk());
  EXPECT_EQ(client().Of(stream).data, "data: first\n\ndata: second\n\n");
  EXPECT_FALSE(client().Of(stream).closed);
  streams_[0]->Answer({500, "no more"});
  streams_[0]->End();
  streams_[0]->Say("too late");
  ASSERT_TRUE(Talk());
  EXPECT_EQ(client().Of(stream).data, "data: first\n\ndata: second\n\n");
  EXPECT_TRUE(client().Of(stream).closed);
  EXPECT_EQ(client().Of(stream).error, 0u);
}

TEST_F(Http2Requests, AClientThatDoesNotReadIsCutOff) {
  service_.limits.max_unsent = 100'000;
  Begin(/*window=*/10'000, /*reads=*/false);
  const int32_t stream = Ask("GET", "/events"), other = Ask("GET", "/other");
  ASSERT_TRUE(Talk());
  std::optional<HttpStream::Unanswered> end;
  streams_[0]->Begin({200, ""});
  streams_[0]->Await(Clock::duration::max(), [&](HttpStream::Unanswered how) { end = how; });
  for (int i = 0; i < 10; ++i) streams_[0]->Say(std::string(10'000, 'x'));
  ASSERT_TRUE(Talk());
  EXPECT_EQ(client().Of(stream).data.size(), 10'000u);
  EXPECT_FALSE(end);
  for (int i = 0; i < 3; ++i) streams_[0]->Say(std::string(10'000, 'x'));
  ASSERT_TRUE(Talk());
  EXPECT_TRUE(client().Of(stream).closed);
  EXPECT_EQ(end, HttpStream::Unanswered::kGone);
  streams_[1]->Answer({200, "others go on"});
  ASSERT_TRUE(Talk());
  EXPECT_EQ(client().Of(other).data, "others go on");
}

TEST_F(Http2Requests, AHeldRequestEndsInTimeOrWithItsClient) {
  Begin();
  const int32_t first = Ask("GET", "/first"), second = Ask("GET", "/second"), third = Ask("GET", "/third");
  ASSERT_TRUE(Talk());
  std::vector<std::pair<int, HttpStream::Unanswered>> ends;
  streams_[0]->Await(milliseconds(1), [&](HttpStream::Unanswered how) {
    ends.emplace_back(0, how);
    streams_[0]->Answer({304, ""});
  });
  streams_[1]->Await(seconds(3), [&](HttpStream::Unanswered how) { ends.emplace_back(1, how); });
  streams_[2]->Begin({200, "x"});
  streams_[2]->Await(seconds(3), [&](HttpStream::Unanswered how) { ends.emplace_back(2, how); });
  ASSERT_TRUE(Talk());
  session_->now = Clock::now() + milliseconds(5);
  session_->Pass(milliseconds(1));
  EXPECT_THAT(ends, testing::ElementsAre(testing::Pair(0, HttpStream::Unanswered::kInTime)));
  EXPECT_EQ(StatusOf(first), "304");
  client().Reset(second);
  client().Reset(third);
  ASSERT_TRUE(Talk());
  EXPECT_THAT(ends, testing::ElementsAre(testing::_, testing::Pair(1, HttpStream::Unanswered::kGone),
                                         testing::Pair(2, HttpStream::Unanswered::kGone)));
  streams_[1]->Answer({200, "to nobody"});
  streams_[2]->Say("to nobody");
  ASSERT_TRUE(Talk());
}

TEST_F(Http2Requests, AConnectionWithoutAnyIsToldToGo) {
  Begin();
  ASSERT_TRUE(Talk());
  session_->Pass(seconds(19));
  EXPECT_EQ(client().goaways(), 0);
  session_->Pass(seconds(4));
  EXPECT_GT(client().goaways(), 0);
}

TEST_F(Http2Requests, TheServersEndEndsThemToo) {
  Begin();
  const int32_t stream = Ask("GET", "/"), events = Ask("GET", "/events");
  ASSERT_TRUE(Talk());
  streams_[1]->Begin({200, "x"});
  ASSERT_TRUE(Talk());
  session_->session->End(session_->now, session_->now + seconds(1));
  session_->Pass(seconds(3));
  EXPECT_EQ(StatusOf(stream), "503");
  EXPECT_TRUE(client().Of(events).closed);
  EXPECT_TRUE(session_->session->Done());
}

TEST_F(Http2Requests, StreamsHaveALimit) {
  service_.limits.max_streams = 3;
  Begin();
  ASSERT_TRUE(Talk());
  for (int i = 0; i < 5; ++i) Ask("GET", StrCat("/", i));
  ASSERT_TRUE(Talk());
  EXPECT_EQ(requests_.size(), 3u);
}

}  // namespace
}  // namespace fairlead::http2
