#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "http2/session_fake.h"

// What a peer may do to HTTP/2 besides using it: each flood ends with the connection, and neither memory nor
// work for it grows with its length.
namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const std::string kEmptySettings = Frame(NGHTTP2_SETTINGS, 0, 0, "");

// A call's header block, without the table of HPACK: fields as literals, names of the static table.
std::string RequestBlock() {
  const auto literal = [](char index, const std::string& value) {
    return std::string{index, static_cast<char>(value.size())} + value;
  };
  std::string block = "\x83\x86";  // POST, http
  block += literal('\x04', kEcho) + literal('\x01', "test");
  block += std::string("\x0f\x10", 2) + static_cast<char>(16) + "application/grpc";  // content-type: index 31
  return block;
}

class Attack : public testing::Test {
 protected:
  void SetUp() override {
    fake_.Receive(std::string(kPreface) + kEmptySettings);
    fake_.Output();
  }
  // Frames until the session has enough; how many it took.
  template <typename Make>
  int Flood(int most, const Make& make, bool read = true) {
    for (int i = 0; i < most; ++i) {
      fake_.Receive(make(i));
      if (read) fake_.Output();
      if (!fake_.session->failure().empty() || fake_.session->Done()) return i + 1;
      if (i % 1000 == 999) fake_.now += milliseconds(10);  // a fast one
    }
    return most;
  }
  uint32_t Stream(int i) { return static_cast<uint32_t>(2 * i + 1); }

  SessionFake fake_{{}};
};

TEST_F(Attack, RequestsAreUnderstood) {
  fake_.Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestBlock()) +
                Frame(NGHTTP2_DATA, 0, 1, Framed("hello")));
  EXPECT_EQ(fake_.script.messages.size(), 1u);
}

// CVE-2023-44487
TEST_F(Attack, RapidResets) {
  const int taken = Flood(100000, [&](int i) {
    return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), RequestBlock()) +
           Frame(NGHTTP2_RST_STREAM, 0, Stream(i), std::string("\0\0\0\x8", 4));
  });
  EXPECT_LT(taken, 1100);
  EXPECT_THAT(fake_.session->failure(), HasSubstr("RST_STREAM"));
  EXPECT_EQ(fake_.script.closed, fake_.script.opened);
  EXPECT_EQ(fake_.session->streams(), 0u);
}

// CVE-2025-8671: the peer makes the server reset its streams, by windows that are too large.
TEST_F(Attack, ResetsThatTheServerIsMadeToSend) {
  const int taken = Flood(100000, [&](int i) {
    return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), RequestBlock()) +
           Frame(NGHTTP2_WINDOW_UPDATE, 0, Stream(i), "\x7f\xff\xff\xff");
  });
  EXPECT_LT(taken, 1100);
  EXPECT_FALSE(fake_.session->failure().empty());
}

// CVE-2024-28182
TEST_F(Attack, ContinuationsWithoutEnd) {
  fake_.Receive(Frame(NGHTTP2_HEADERS, 0, 1, RequestBlock()));
  const int taken =
      Flood(100000, [&](int) { return Frame(NGHTTP2_CONTINUATION, 0, 1, std::string("\0\1a\1b", 5)); });
  EXPECT_LT(taken, 20);
}

TEST_F(Attack, EmptyContinuations) {
  fake_.Receive(Frame(NGHTTP2_HEADERS, 0, 1, RequestBlock()));
  EXPECT_LT(Flood(100000, [&](int) { return Frame(NGHTTP2_CONTINUATION, 0, 1, ""); }), 20);
}

// CVE-2019-9515
TEST_F(Attack, Settings) {
  EXPECT_LT(Flood(100000, [&](int) { return kEmptySettings; }), 30);
  EXPECT_THAT(fake_.session->failure(), HasSubstr("SETTINGS"));
}

// CVE-2019-9512
TEST_F(Attack, Pings) {
  const auto ping = [&](int) { return Frame(NGHTTP2_PING, 0, 0, "12345678"); };
  EXPECT_LT(Flood(100000, ping), 110);
}

TEST_F(Attack, AnswersToPings) {
  const auto pong = [&](int) { return Frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678"); };
  EXPECT_LT(Flood(100000, pong), 110);
}

// CVE-2019-9511, CVE-2019-9517: windows in the smallest steps.
TEST_F(Attack, WindowUpdates) {
  const auto update = [&](int) { return Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\0\0\0\1", 4)); };
  EXPECT_LT(Flood(100000, update), 1100);
  EXPECT_THAT(fake_.session->failure(), HasSubstr("WINDOW_UPDATE"));
}

// CVE-2019-9513
TEST_F(Attack, Priorities) {
  const auto priority = [&](int i) {
    return Frame(NGHTTP2_PRIORITY, 0, Stream(i % 1000), std::string("\0\0\0\0\7", 5));
  };
  EXPECT_LT(Flood(100000, priority), 1100);
}

// CVE-2019-9518
TEST_F(Attack, EmptyData) {
  fake_.Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestBlock()));
  EXPECT_LT(Flood(100000, [&](int) { return Frame(NGHTTP2_DATA, 0, 1, ""); }), 110);
  EXPECT_THAT(fake_.session->failure(), HasSubstr("DATA"));
}

TEST_F(Attack, PaddingWithoutData) {
  fake_.Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestBlock()));
  const auto padding = [&](int) {
    return Frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, std::string("\7", 1) + std::string(7, '\0'));
  };
  EXPECT_LT(Flood(100000, padding), 110);
}

// They are to be ignored; nghttp2 does so before anybody could count them.
TEST_F(Attack, FramesThatNobodyKnows) {
  Flood(10000, [&](int) { return Frame(0xbe, 0, 0, "x"); });
  EXPECT_EQ(fake_.session->held(), 0u);
  EXPECT_EQ(fake_.Output(), "");
}

// A block of HPACK that is small and says much: one field of 4,000 bytes, again and again.
TEST_F(Attack, HeadersThatGrow) {
  std::string block = RequestBlock();
  block += std::string("\x40\1x\x7f\xa1\x1e", 6) + std::string(4000, 'v');
  block += std::string(12000, '\xbe');  // the newest entry of the table
  const int taken = Flood(100000, [&](int i) {
    return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), block.substr(0, 16384));
  });
  EXPECT_LT(taken, 110);
  EXPECT_EQ(fake_.script.opened, 0);
}

// The same with the largest blocks that frames can have: what they say counts, not how many they are.
TEST_F(Attack, FewHeadersThatSayTensOfMegabytes) {
  std::string block = RequestBlock();
  block += std::string("\x40\1x\x7f\xa1\x1e", 6) + std::string(4000, 'v');
  block += std::string(10000, '\xbe');
  const int taken =
      Flood(100, [&](int i) { return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), block); });
  EXPECT_LE(taken, 2);
  EXPECT_THAT(fake_.session->failure(), HasSubstr("headers"));
}

// Fields after the end of a request are of no use to anybody.
TEST_F(Attack, TrailersThatGrow) {
  std::string block = std::string("\x40\1x\x7f\xa1\x1e", 6) + std::string(4000, 'v');
  block += std::string(10000, '\xbe');
  const int taken = Flood(100, [&](int i) {
    return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), RequestBlock()) +
           Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, Stream(i), block);
  });
  EXPECT_LE(taken, 2);
}

// Streams by the thousand of somebody who has not said who it is.
class AttackOfStreams : public Attack {
 protected:
  AttackOfStreams() {
    ServerOptions options;
    options.limits.max_streams_without_identity = 100;
    options.limits.first_message_timeout = std::chrono::seconds(30);
    bounded_ = std::make_unique<SessionFake>(std::move(options));
    bounded_->Receive(std::string(kPreface) + kEmptySettings);
    bounded_->Output();
  }
  void Open(int i, const std::string& more = "") {
    bounded_->Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), RequestBlock()) + more);
  }

  std::unique_ptr<SessionFake> bounded_;
};

TEST_F(AttackOfStreams, MoreThanAHundredAreRefused) {
  int opened = 0;
  for (; opened < 100000 && bounded_->session->failure().empty(); ++opened) {
    Open(opened);
    bounded_->Output();
  }
  EXPECT_LT(opened, 1200) << "who goes on is sent away";
  EXPECT_EQ(bounded_->script.opened, 100);
}

TEST_F(AttackOfStreams, ThoseThatSayNothingEndAfterThirtySeconds) {
  Open(0);
  Open(1, Frame(NGHTTP2_DATA, 0, Stream(1), Framed("hello")));
  Open(2, Frame(NGHTTP2_DATA, 0, Stream(2), Framed("hello").substr(0, 7)));
  EXPECT_EQ(bounded_->session->standing(), Standing::kHeard);
  bounded_->now += std::chrono::seconds(29);
  bounded_->session->Check(bounded_->now);
  bounded_->Output();
  EXPECT_EQ(bounded_->session->streams(), 3u);
  bounded_->now += std::chrono::seconds(1);
  bounded_->session->Check(bounded_->now);
  bounded_->Output();
  EXPECT_EQ(bounded_->session->streams(), 1u) << "one has sent a message";
  bounded_->now += std::chrono::hours(1);
  bounded_->session->Check(bounded_->now);
  bounded_->Output();
  EXPECT_EQ(bounded_->session->streams(), 1u);
}

// They end with their connection, a few hundred at a time: their loop has others to serve.
TEST_F(Attack, ManyStreamsEndInTurns) {
  for (int i = 0; i < 5000; ++i)
    fake_.Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, Stream(i), RequestBlock()));
  EXPECT_EQ(fake_.session->streams(), 5000u);
  EXPECT_LE(fake_.session->Appetite(), 4096u) << "what ends them by frames is read in small pieces";
  int turns = 1;
  while (!fake_.session->EndSome()) ++turns;
  EXPECT_GE(turns, 10);
  EXPECT_EQ(fake_.script.closed, 5000);
}

// Requests that are refused, from a client that does not read the refusals.
TEST_F(Attack, RefusalsThatAreNotRead) {
  std::string block = RequestBlock();
  block[2 + 2 + 5] = 'X';  // in the path
  const int taken = Flood(
      1000000,
      [&](int i) {
        return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, Stream(i), block);
      },
      /*read=*/false);
  EXPECT_LT(taken, 1100);
  EXPECT_EQ(fake_.script.opened, 0);
}

TEST_F(Attack, WhatIsNoHttp2) {
  SessionFake fake({});
  fake.Receive("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  EXPECT_TRUE(fake.session->Done());
  EXPECT_EQ(fake.Output(), "");
}

}  // namespace
}  // namespace fairlead::http2
