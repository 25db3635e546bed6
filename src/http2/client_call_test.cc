#include "http2/client_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "http2/session_fake.h"

// A call between the client's end and the server's, without sockets.
namespace fairlead::http2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ClientCallOptions To(const std::string& path) {
  ClientCallOptions options;
  options.authority = "test";
  options.path = path;
  return options;
}

struct Pair {
  explicit Pair(ClientCallOptions options = To(kEcho), ServerOptions server = {})
      : fake(std::move(server)),
        call(std::move(options), [this](std::string message) { heard.push_back(std::move(message)); }) {}
  // Until both have said all; in pieces of so many bytes.
  void Talk(size_t piece = 1 << 20) {
    for (;;) {
      std::string to_server;
      call.Produce(1 << 20, &to_server);
      fake.Receive(to_server);
      const std::string to_client = fake.Output();
      for (size_t at = 0; at < to_client.size(); at += piece)
        call.Receive(std::string_view(to_client).substr(at, piece));
      if (to_server.empty() && to_client.empty()) return;
    }
  }

  SessionFake fake;
  std::vector<std::string> heard;
  ClientCall call;
};

TEST(ClientCall, MessagesGoBothWaysInAnyPieces) {
  for (size_t piece : {1u, 7u, 1u << 20}) {
    Pair pair;
    const std::string large(300000, 'x');
    for (const std::string& text : {std::string("one"), std::string(), large}) {
      pair.call.Send(text);
      EXPECT_FALSE(pair.call.all_sent());
      pair.Talk(piece);
      EXPECT_TRUE(pair.call.all_sent());
    }
    EXPECT_THAT(pair.heard, ElementsAre("one", "", large));
    EXPECT_FALSE(pair.call.ended());
  }
}

TEST(ClientCall, ACallThatIsFinishedIsAnswered) {
  Pair pair;
  pair.call.Send("one");
  pair.call.Finish();
  pair.Talk();
  EXPECT_THAT(pair.heard, ElementsAre("one"));
  ASSERT_TRUE(pair.call.ended());
  EXPECT_TRUE(pair.call.status().ok()) << pair.call.status();
}

TEST(ClientCall, AMessageMayBeLargerThanWindowAndWhatIsUndone) {
  ClientCallOptions options = To(kEcho);
  options.window = 65535;
  options.max_undone = 100000;
  options.max_message_size = 8 << 20;
  ServerOptions server;
  server.limits.max_message_size = 8 << 20;
  Pair pair(std::move(options), std::move(server));
  const std::string large(5 << 20, 'x');
  pair.call.Send(large);
  pair.Talk();
  EXPECT_THAT(pair.heard, ElementsAre(large));
}

TEST(ClientCall, WhatIsNotDealtWithIsNotAskedFor) {
  ClientCallOptions options = To(kEcho);
  options.window = 65535;
  options.max_undone = 100000;
  Pair pair(std::move(options));
  const std::string text(60000, 'x');
  for (int i = 0; i < 10; ++i) pair.call.Send(text);
  pair.Talk();
  // The limit, the message that went beyond it, and a window.
  const size_t before = pair.heard.size();
  EXPECT_GE(before, 2u);
  EXPECT_LE(before, 4u);
  for (size_t done = 0; done < 10; ++done) {
    ASSERT_GT(pair.heard.size(), done) << "goes on as messages are dealt with";
    pair.call.Done(text.size());
    pair.Talk();
  }
  EXPECT_EQ(pair.heard.size(), 10u);
}

TEST(ClientCall, EndsAsTheServerEndsIt) {
  Pair pair;
  pair.call.Send("one");
  pair.Talk();
  pair.fake.script.stream->Close(absl::PermissionDeniedError("who are you? 100% n\xc3\xb6"));
  pair.Talk();
  ASSERT_TRUE(pair.call.ended());
  EXPECT_EQ(pair.call.status(), absl::PermissionDeniedError("who are you? 100% n\xc3\xb6"));

  Pair unknown(To("/test.v1.Echo/Shout"));
  unknown.Talk();
  ASSERT_TRUE(unknown.call.ended());
  EXPECT_EQ(unknown.call.status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ClientCall, AStreamThatIsBrokenOffEndsTheCall) {
  Pair pair;
  pair.call.Send("one");
  pair.Talk();
  pair.fake.script.stream->Abort();
  pair.Talk();
  ASSERT_TRUE(pair.call.ended());
  EXPECT_EQ(pair.call.status().code(), absl::StatusCode::kUnavailable);
}

TEST(ClientCall, WhatIsTooLargeOrNoHttp2EndsTheCall) {
  ClientCallOptions options = To(kEcho);
  options.max_message_size = 10;
  Pair pair(std::move(options));
  pair.call.Send("eleven bytes");
  pair.Talk();
  ASSERT_TRUE(pair.call.ended());
  EXPECT_EQ(pair.call.status().code(), absl::StatusCode::kResourceExhausted);

  Pair other;
  other.call.Receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  std::string last_words;
  other.call.Produce(1 << 20, &last_words);
  ASSERT_TRUE(other.call.ended());
  EXPECT_THAT(std::string(other.call.status().message()), HasSubstr("HTTP/2"));
}

TEST(ClientCall, AnAnswerThatIsNoGrpcIsSaidToBeNone) {
  // What a server says that refuses by an HTTP status: its settings, and fields that end the stream. 8 is
  // ":status: 200" of HPACK's static table, 13 ":status: 404".
  for (const auto& [field, code] :
       {std::pair{'\x88', absl::StatusCode::kUnknown}, std::pair{'\x8d', absl::StatusCode::kUnimplemented}}) {
    ClientCall call(To(kEcho), [](const std::string&) { FAIL(); });
    std::string out;
    call.Produce(1 << 20, &out);
    call.Receive(Frame(NGHTTP2_SETTINGS, 0, 0, ""));
    call.Receive(
        Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, std::string(1, field)));
    ASSERT_TRUE(call.ended());
    EXPECT_EQ(call.status().code(), code) << call.status();
  }
}

}  // namespace
}  // namespace fairlead::http2
