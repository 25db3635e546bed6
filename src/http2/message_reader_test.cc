#include "http2/message_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

#include "http2/http2_client_fake.h"

namespace fairlead::http2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Deflated(const std::string& body, int window_bits) {
  z_stream zlib{};
  EXPECT_EQ(deflateInit2(&zlib, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(body.size() + 1000, 0);
  zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(body.data()));
  zlib.avail_in = static_cast<unsigned>(body.size());
  zlib.next_out = reinterpret_cast<unsigned char*>(out.data());
  zlib.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - zlib.avail_out);
  deflateEnd(&zlib);
  return out;
}

// As many names of clusters as fill so many bytes.
std::string Names(size_t size) {
  std::string names;
  for (int i = 0; names.size() < size; ++i)
    names += "outbound|80||reviews-" + std::to_string(i) + ".shop.svc.cluster.local\n";
  names.resize(size);
  return names;
}

struct Outcome {
  std::vector<std::string> messages;
  absl::Status error;
  bool midway = false;
};

// Reads a text that comes in pieces of a size.
Outcome Read(const std::string& text, size_t piece, size_t max = 1000, bool compressed = false) {
  MessageReader reader;
  reader.Start(max, compressed);
  Outcome out;
  for (size_t at = 0; at < text.size(); at += piece) {
    std::string_view bytes = std::string_view(text).substr(at, piece);
    while (!bytes.empty()) {
      const auto found = reader.Take(&bytes);
      if (found == MessageReader::Found::kError) {
        out.error = reader.error();
        return out;
      }
      if (found != MessageReader::Found::kMessage) continue;
      out.messages.emplace_back(reader.message());
      reader.Release();
    }
  }
  out.midway = reader.Midway();
  return out;
}

TEST(MessageReader, FindsMessagesHoweverTheyCome) {
  const std::string large(700, 'x');
  const std::string text = Framed("one") + Framed("") + Framed(large) + Framed("two");
  for (size_t piece = 1; piece <= text.size(); piece += piece < 20 ? 1 : 97) {
    const Outcome out = Read(text, piece);
    EXPECT_THAT(out.messages, ElementsAre("one", "", large, "two")) << piece;
    EXPECT_FALSE(out.midway);
  }
  EXPECT_TRUE(Read(Framed("one") + std::string(3, '\0'), 2).midway);
  EXPECT_TRUE(Read(Framed("one").substr(0, 6), 2).midway);
}

TEST(MessageReader, TakesMemoryAsBytesComeNotAsTheLengthSays) {
  MessageReader reader;
  reader.Start(100 << 20, false);
  const std::string text = Framed(std::string(50 << 20, 'x')).substr(0, 100);
  std::string_view bytes = text;
  EXPECT_EQ(reader.Take(&bytes), MessageReader::Found::kNothing);
  EXPECT_LT(reader.Held(), 10000u);
}

TEST(MessageReader, RefusesWhatIsTooLargeBeforeItHasCome) {
  const Outcome out = Read(Framed(std::string(1001, 'x')).substr(0, 5), 5);
  EXPECT_EQ(out.error.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(out.error.message()), HasSubstr("1001 vs. 1000"));
  EXPECT_TRUE(Read(Framed(std::string(1000, 'x')), 5).error.ok());
}

TEST(MessageReader, ReadsGzipAndDeflateWhereAnnounced) {
  for (const int window_bits : {MAX_WBITS + 16, MAX_WBITS}) {
    const std::string text = Framed(Deflated("hello hello hello", window_bits), 1) + Framed("plain");
    for (size_t piece : {1, 7, 1000})
      EXPECT_THAT(Read(text, piece, 1000, true).messages, ElementsAre("hello hello hello", "plain"));
    EXPECT_EQ(Read(text, 1000).error.code(), absl::StatusCode::kInternal);
  }
}

// Megabytes that are sent as a few kilobytes, for whoever understands them to work on.
TEST(MessageReader, WhatInflatesBeyondMeasureIsRefused) {
  const auto found = [](const std::string& body) {
    return Read(Framed(Deflated(body, MAX_WBITS + 16), 1), 1 << 24, 4 << 20, /*compressed=*/true);
  };
  const Outcome bomb = found(std::string(4 << 20, 'a'));
  EXPECT_EQ(bomb.error.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(bomb.error.message()), HasSubstr("inflates"));
  EXPECT_TRUE(found(std::string(100 << 10, 'a')).error.ok()) << "little may be anything";
  EXPECT_TRUE(found(Names(1 << 20)).error.ok()) << "lists of names are as they are";
}

TEST(MessageReader, InflatesNoFurtherThanTheLimit) {
  const std::string bomb = Framed(Deflated(Names(1 << 20), MAX_WBITS + 16), 1);
  EXPECT_EQ(Read(bomb, 1000, 10000, true).error.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Read(bomb, 1000, 1 << 20, true).messages.size(), 1u);
}

TEST(MessageReader, NamesWhatIsNoMessage) {
  EXPECT_EQ(Read(Framed("x", 2), 3).error.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Read(Framed("no gzip", 1), 3, 1000, true).error.code(), absl::StatusCode::kInternal);
  const std::string cut = Deflated("hello", MAX_WBITS + 16);
  EXPECT_EQ(Read(Framed(cut.substr(0, cut.size() - 3), 1), 3, 1000, true).error.code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace fairlead::http2
