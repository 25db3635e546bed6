#include "http2/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "base/strings.h"
#include "http2/session_fake.h"

// Calls, flow control, keepalive and drain, without sockets and with a clock of the test's own.
namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Session, EchoesMessagesOfAnySizeAndEndsWithAStatus) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho);
  const std::string large(300000, 'x');
  fake.client.Say(call, Framed("one") + Framed("") + Framed(large));
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Of(call).data, Framed("one") + Framed("") + Framed(large));
  EXPECT_EQ(fake.client.Of(call).fields.at("content-type"), "application/grpc");
  EXPECT_THAT(fake.script.sent, ElementsAre(true, true, true));
  EXPECT_FALSE(fake.client.Of(call).closed);
  fake.client.End(call);
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Status(call), "0");
  EXPECT_TRUE(fake.client.Of(call).closed);
  EXPECT_EQ(fake.script.closed, 1);
  EXPECT_EQ(fake.counts.messages_received, 3u);
  EXPECT_EQ(fake.counts.messages_sent, 3u);
}

TEST(Session, SendsEachSliceFromWhereItIs) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  auto first = std::make_shared<const std::string>(100000, 'a');
  auto second = std::make_shared<const std::string>(1000, 'b');
  fake.script.stream->Send({{first, *first}, {second, *second}, {nullptr, ""}});
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Of(call).data, Framed(*first + *second));
  EXPECT_EQ(first.use_count(), 1) << "what is sent is let go";
}

TEST(Session, StatusesAreGrpcs) {
  SessionFake fake({});
  const int32_t unknown = fake.client.Call("/test.v1.Echo/Shout");
  const int32_t json = fake.client.Call(kEcho, {{"content-type", "application/json"}});
  const int32_t get = fake.client.Call(kEcho, {{":method", "GET"}});
  const int32_t snappy = fake.client.Call(kEcho, {{"grpc-encoding", "snappy"}});
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Status(unknown), "12");
  EXPECT_THAT(fake.client.Of(unknown).fields.at("grpc-message"), HasSubstr("Shout"));
  EXPECT_EQ(fake.client.Of(json).fields.at(":status"), "415");
  EXPECT_EQ(fake.client.Of(get).fields.at(":status"), "405");
  EXPECT_EQ(fake.client.Status(snappy), "12");
  EXPECT_THAT(fake.client.Of(snappy).fields.at("grpc-accept-encoding"), HasSubstr("gzip"));
  for (int32_t call : {unknown, json, get, snappy}) {
    EXPECT_TRUE(fake.client.Of(call).closed) << "though the client has not said all";
    EXPECT_EQ(fake.client.Of(call).error, uint32_t{NGHTTP2_NO_ERROR});
  }
  EXPECT_EQ(fake.session->streams(), 0u);
  EXPECT_EQ(fake.script.opened, 0);
}

TEST(Session, AMessageIsPercentEncodedInTheTrailers) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  fake.script.stream->Close(absl::FailedPreconditionError("100% n\xc3\xb6"));
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Status(call), "9");
  EXPECT_EQ(fake.client.Of(call).fields.at("grpc-message"), "100%25 n%C3%B6");
}

TEST(Session, ACloseComesAfterWhatIsBeingSent) {
  SessionFake fake({}, 100);
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  auto body = std::make_shared<const std::string>(5000, 'a');
  fake.script.stream->Send({{body, *body}});
  fake.script.stream->Close(absl::OkStatus());
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Of(call).data, Framed(*body));
  EXPECT_EQ(fake.client.Status(call), "0");
  EXPECT_THAT(fake.script.sent, ElementsAre(true));
  EXPECT_EQ(fake.script.closed, 1);
}

TEST(Session, ARequestThatEndsWithinAMessageIsAnError) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho);
  fake.client.Say(call, Framed("message").substr(0, 8));
  fake.client.End(call);
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Status(call), "13");
}

TEST(Session, AClientThatResetsIsHeardOnce) {
  SessionFake fake({}, 100, false);
  const int32_t call = fake.client.Call(kEcho);
  fake.client.Say(call, Framed(std::string(1000, 'x')));
  ASSERT_TRUE(fake.Talk());
  EXPECT_TRUE(fake.script.sent.empty()) << "the client takes 100 bytes";
  fake.client.Reset(call);
  ASSERT_TRUE(fake.Talk());
  EXPECT_THAT(fake.script.sent, ElementsAre(false));
  EXPECT_EQ(fake.script.closed, 1);
  fake.script.stream->Read();
  fake.script.stream->Close(absl::OkStatus());
  EXPECT_TRUE(fake.Talk());
}

TEST(Session, AnAbortEndsWhatAClientDoesNotRead) {
  SessionFake fake({}, 100, false);
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  auto body = std::make_shared<const std::string>(5000, 'a');
  fake.script.stream->Send({{body, *body}});
  ASSERT_TRUE(fake.Talk());
  fake.script.stream->Abort();
  ASSERT_TRUE(fake.Talk());
  EXPECT_TRUE(fake.client.Of(call).closed);
  EXPECT_EQ(fake.client.Of(call).error, uint32_t{NGHTTP2_CANCEL});
  EXPECT_THAT(fake.script.sent, ElementsAre(false));
  EXPECT_EQ(fake.script.closed, 1);
  EXPECT_EQ(body.use_count(), 1);
}

// What lies in a batch that the system has not taken still points to the message.
TEST(Session, AnAbortedMessageStaysUntilItsBytesAreWritten) {
  SessionFake fake({}, 100, false);
  fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  auto body = std::make_shared<const std::string>(5000, 'a');
  fake.script.stream->Send({{body, *body}});
  fake.Obey();
  const std::string out = fake.Output(/*written=*/false);
  ASSERT_GT(out.size(), 100u);
  fake.script.stream->Abort();
  fake.Obey();
  EXPECT_EQ(fake.script.closed, 1);
  EXPECT_EQ(body.use_count(), 2);
  fake.session->Written(out.size());
  EXPECT_EQ(body.use_count(), 1);
}

TEST(Session, AStreamThatIsNotReadStopsItsClientAndNoOther) {
  ServerOptions options;
  options.limits.stream_window = 100000;
  SessionFake fake(options);
  fake.script.reads = fake.script.echoes = false;
  const int32_t stuck = fake.client.Call(kEcho);
  std::string text;
  for (int i = 0; i < 3000; ++i) text += Framed(std::string(1000, 'x'));
  fake.client.Say(stuck, text);
  ASSERT_TRUE(fake.Talk());
  const auto stream = fake.script.stream;
  EXPECT_LE(fake.session->held(), 2 * 100000u);
  const uint64_t received = fake.counts.bytes_received;
  EXPECT_LT(received, 110000u) << "the window is closed";

  fake.script.reads = true;
  const int32_t other = fake.client.Call(kEcho);
  fake.client.Say(other, text);
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.script.messages.size(), 3000u) << "more than the connection's window";

  fake.script.messages.clear();
  fake.script.reads = false;
  for (int i = 0; i < 3000; ++i) {
    stream->Read();
    ASSERT_TRUE(fake.Talk());
    ASSERT_EQ(fake.script.messages.size(), 1u) << i << ": one message for each that is asked for";
    fake.script.messages.clear();
  }
  EXPECT_EQ(fake.session->held(), 0u);
}

std::string Sized(size_t size) { return Framed(std::string(size, 'x')); }

// A client that waits for its window would wait for ever where nothing is sent to it.
TEST(Session, MessagesOfAnySizesComeThroughWithoutAnAnswer) {
  std::minstd_rand random(7);
  const auto below = [&random](size_t bound) { return random() % bound; };
  for (int round = 0; round < 200; ++round) {
    SessionFake fake({});
    fake.script.reads = fake.script.echoes = false;
    const int32_t call = fake.client.Call(kEcho);
    const size_t count = 1 + below(6), most = below(2) == 0 ? 20000 : 70000;
    for (size_t i = 0; i < count; ++i) {
      fake.client.Say(call, Sized(below(most)));
      if (below(2) == 0) {
        ASSERT_TRUE(fake.Talk());
      }
      if (below(2) == 0 && fake.script.stream != nullptr) fake.script.stream->Read();
    }
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(fake.Talk());
      fake.script.stream->Read();
    }
    ASSERT_TRUE(fake.Talk());
    EXPECT_EQ(fake.script.messages.size(), count) << "round " << round;
  }
}

TEST(Session, PaddingDoesNotCloseTheWindow) {
  SessionFake fake({});
  fake.client.Pad(200);
  const int32_t call = fake.client.Call(kEcho);
  for (size_t i = 1; i <= 1000; ++i) {
    fake.client.Say(call, Sized(3000));
    ASSERT_TRUE(fake.Talk());
    ASSERT_EQ(fake.script.messages.size(), i);
  }
  EXPECT_GT(fake.counts.bytes_received, 1000 * 3200u) << "frames are padded";
}

// A packet for a window alone costs as much as the message that it is for. Nor is a part of the window left
// untold, which would stop the client in the midst of its next message.
TEST(Session, WindowsAreToldWhollyWithTheNextMessage) {
  SessionFake fake({});
  fake.script.echoes = false;
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  const uint64_t before = fake.client.window_updates();
  uint64_t answers = 0;
  for (const size_t size : {20000, 6000, 28000, 28000, 6000, 28000, 28000}) {
    fake.client.Say(call, Sized(size));
    ASSERT_TRUE(fake.Talk());
    ASSERT_EQ(fake.script.messages.size(), answers + 1);
    EXPECT_EQ(fake.client.window_updates(), before + answers) << "without an answer";
    fake.script.stream->Send({{nullptr, "an answer"}});
    ASSERT_TRUE(fake.Talk());
    EXPECT_EQ(fake.client.window_updates(), before + ++answers);
  }
}

// Of messages that are larger than the window.
ServerOptions OneAtATime() {
  ServerOptions options;
  options.limits.stream_window = 20000;
  options.limits.max_partial = 1;
  return options;
}

// Large messages are read one after the other where the budget is small; small ones do not wait.
TEST(Session, MessagesThatComeInPartWaitForTheBudget) {
  SessionFake fake(OneAtATime());
  fake.script.echoes = false;
  const std::string large = Framed(std::string(200000, 'x'));
  const int32_t first = fake.client.Call(kEcho);
  fake.client.Say(first, large.substr(0, 50000));
  ASSERT_TRUE(fake.Talk());
  const int32_t second = fake.client.Call(kEcho);
  fake.client.Say(second, large);
  ASSERT_TRUE(fake.Talk());
  EXPECT_LE(fake.session->held(), 200000 + 2 * 20000u);
  const int32_t small = fake.client.Call(kEcho);
  fake.client.Say(small, Framed("small"));
  ASSERT_TRUE(fake.Talk());
  EXPECT_THAT(fake.script.messages, ElementsAre("small"));
  fake.client.Say(first, large.substr(50000));
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.script.messages.size(), 2u);
  fake.Pass(milliseconds(1));
  EXPECT_EQ(fake.script.messages.size(), 3u);
  EXPECT_EQ(fake.session->held(), 0u);
}

TEST(Session, AMessageThatDoesNotEndHoldsNobodyUpForLong) {
  SessionFake fake(OneAtATime());
  fake.script.echoes = false;
  const std::string large = Framed(std::string(200000, 'x'));
  fake.client.Say(fake.client.Call(kEcho), large.substr(0, 50000));
  ASSERT_TRUE(fake.Talk());
  fake.client.Say(fake.client.Call(kEcho), large);
  const int32_t reset = fake.client.Call(kEcho);
  fake.client.Say(reset, large);
  fake.Pass(ReadBudget::kPatience - milliseconds(10));
  EXPECT_THAT(fake.script.messages, testing::IsEmpty());
  fake.client.Reset(reset);
  fake.Pass(milliseconds(20));
  EXPECT_EQ(fake.script.messages.size(), 1u);
}

TEST(Session, StreamsThatHoldTooMuchTogetherEnd) {
  ServerOptions options;
  options.limits.max_held = 900000;
  options.limits.max_message_size = 100000;
  options.limits.stream_window = 100000;
  SessionFake fake(options);
  fake.script.reads = false;
  std::vector<int32_t> calls;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(fake.client.Call(kEcho));
    fake.client.Say(calls.back(), std::string(90000, 'x'));
    ASSERT_TRUE(fake.Talk());
    EXPECT_LT(fake.session->held(), (1u << 20) + 300000);
  }
  EXPECT_EQ(fake.client.Status(calls.front()), "");
  EXPECT_EQ(fake.client.Status(calls.back()), "8");
}

TEST(Session, ADeadlineEndsItsCall) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho, {{"grpc-timeout", "500m"}});
  const int32_t other = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  fake.Pass(milliseconds(499));
  EXPECT_FALSE(fake.client.Of(call).closed);
  fake.Pass(milliseconds(2));
  EXPECT_EQ(fake.client.Status(call), "4");
  EXPECT_TRUE(fake.client.Of(call).closed);
  EXPECT_FALSE(fake.client.Of(other).closed);
}

TEST(Session, ASilentPeerIsPingedAndGivenUp) {
  SessionFake fake({});
  fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  fake.Pass(seconds(100));
  EXPECT_GE(fake.client.pings(), 3);
  EXPECT_FALSE(fake.session->Done());
  const Clock::time_point next = fake.session->Check(fake.now += seconds(31));
  EXPECT_LE(next, fake.now + seconds(10));
  EXPECT_FALSE(fake.session->Done());
  fake.session->Check(fake.now += seconds(11));
  EXPECT_TRUE(fake.session->Done());
  EXPECT_EQ(fake.session->failure(), "keepalive");
}

TEST(Session, APeerThatPingsTooOftenIsSentAway) {
  SessionFake fake({});
  fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  for (int i = 0; i < 10; ++i) {
    fake.client.Ping();
    fake.Pass(seconds(16));
  }
  EXPECT_EQ(fake.client.goaways(), 0);
  for (int i = 0; i < 4; ++i) {
    fake.client.Ping();
    ASSERT_TRUE(fake.Talk());
  }
  EXPECT_EQ(fake.client.goaway_error(), uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_EQ(fake.client.goaway_text(), "too_many_pings");
  EXPECT_TRUE(fake.session->Done());
}

// gRPC's BDP estimation: as often as there is something to measure.
TEST(Session, AClientMayPingWheneverDataHasCome) {
  SessionFake fake({});
  for (int i = 0; i < 1000; ++i) {
    const int32_t call = fake.client.Call(kEcho);
    fake.client.Say(call, Framed("a"));
    ASSERT_TRUE(fake.Talk());
    fake.client.Ping();
    ASSERT_TRUE(fake.Talk());
  }
  EXPECT_EQ(fake.client.goaways(), 0);
}

TEST(Session, AnOldConnectionTakesNoNewStreamsAndEndsAfterTheGrace) {
  ServerOptions options;
  options.keepalive.max_connection_age = seconds(100);
  SessionFake fake(options);
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  fake.Pass(seconds(89));
  EXPECT_EQ(fake.client.goaways(), 0);
  for (int i = 0; i < 21 && fake.client.goaways() < 2; ++i) fake.Pass(seconds(1));
  EXPECT_EQ(fake.client.goaways(), 2) << "the second one names the last stream";
  EXPECT_FALSE(fake.client.Of(call).closed) << "the grace is ten seconds";
  fake.Pass(seconds(11));
  EXPECT_EQ(fake.client.Status(call), "14");
  EXPECT_TRUE(fake.session->Done());
}

TEST(Session, TheEndWaitsForStreamsAlone) {
  SessionFake idle({}), busy({});
  idle.Talk();
  busy.client.Call(kEcho);
  busy.Talk();
  for (SessionFake* fake : {&idle, &busy}) {
    fake->session->End(fake->now, fake->now + seconds(60));
    fake->session->Check(fake->now);
    fake->Output();
  }
  EXPECT_TRUE(idle.session->Done()) << "though its client has answered nothing";
  EXPECT_FALSE(busy.session->Done());
}

TEST(Session, ADrainEndsWithTheLastStream) {
  SessionFake fake({});
  const int32_t call = fake.client.Call(kEcho);
  ASSERT_TRUE(fake.Talk());
  fake.session->Drain("shutdown", fake.now, fake.now + seconds(60));
  fake.Pass(seconds(1));
  fake.client.Say(call, Framed("still"));
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Of(call).data, Framed("still"));
  EXPECT_FALSE(fake.session->Done());
  fake.client.End(call);
  ASSERT_TRUE(fake.Talk());
  EXPECT_EQ(fake.client.Status(call), "0");
  EXPECT_TRUE(fake.session->Done());
}

TEST(Session, AnIdleConnectionIsTold) {
  ServerOptions options;
  options.keepalive.max_connection_idle = seconds(300);
  SessionFake fake(options);
  const int32_t call = fake.client.Call(kEcho);
  fake.Pass(seconds(400));
  EXPECT_EQ(fake.client.goaways(), 0);
  fake.client.End(call);
  fake.Pass(seconds(290));
  EXPECT_EQ(fake.client.goaways(), 0);
  fake.Pass(seconds(12));
  EXPECT_GE(fake.client.goaways(), 1);
  EXPECT_TRUE(fake.session->Done());
}

TEST(Session, WhatEndsWithItsConnectionIsHeard) {
  auto fake = std::make_unique<SessionFake>(ServerOptions());
  for (int i = 0; i < 3; ++i) fake->client.Call(kEcho);
  ASSERT_TRUE(fake->Talk());
  auto body = std::make_shared<const std::string>(5000, 'a');
  fake->script.stream->Send({{body, *body}});
  fake->Obey();
  fake->Output(/*written=*/false);
  fake->session = nullptr;
  EXPECT_EQ(fake->script.closed, 3);
  EXPECT_THAT(fake->script.sent, ElementsAre(false));
  EXPECT_EQ(fake->counts.streams_closed, 3u);
}

}  // namespace
}  // namespace fairlead::http2
