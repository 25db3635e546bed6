#include "source/mesos/mesos_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "source/mesos/mesos_stream.h"
#include "source/mesos/record_reader.h"

namespace fairlead::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Type = MesosEvent::Type;

absl::StatusOr<MesosEvent> Read(std::string_view text) {
  config::JsonReader reader;
  return ReadMesosEvent(reader, text);
}

std::vector<std::string> RecordsOf(std::string_view text, size_t piece, absl::Status* status) {
  std::vector<std::string> records;
  RecordReader reader(100, [&](std::string_view record) {
    records.emplace_back(record);
    return record != "last";
  });
  for (size_t at = 0; at < text.size() && status->ok(); at += piece)
    *status = reader.Read(text.substr(at, piece));
  return records;
}

TEST(RecordReaderTest, ReadsPiecesOfAnySize) {
  const std::string text = "5\nhello11\n{\n\"a\": \"b\"}0\n\n3\nabc7\ncut of";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    absl::Status status;
    EXPECT_THAT(RecordsOf(text, piece, &status), ElementsAre("hello", "{\n\"a\": \"b\"}", "", "abc"))
        << piece;
    EXPECT_TRUE(status.ok());
  }
}

TEST(RecordReaderTest, WhatIsNoSizeEndsIt) {
  for (const char* text : {"-1\na", "1a\n", "{\"type\"", "111111111111111111111111\n", "101\n", " 1\na"}) {
    absl::Status status;
    EXPECT_THAT(RecordsOf(text, 1, &status), IsEmpty()) << text;
    EXPECT_FALSE(status.ok()) << text;
  }
}

TEST(RecordReaderTest, AfterTheLastNothingIsTaken) {
  absl::Status status;
  EXPECT_THAT(RecordsOf("1\na4\nlast1\nb", 3, &status), ElementsAre("a", "last"));
}

TEST(MesosEventsTest, EventsOfEachType) {
  const std::pair<const char*, Type> cases[] = {
      {R"({"type":"HEARTBEAT"})", Type::kNothing},
      {R"({"type":"A_NEW_ONE","a_new_one":{"x":[1]}})", Type::kNothing},
      {R"({"type":"SUBSCRIBED","subscribed":{"get_state":{},"heartbeat_interval_seconds":15.0}})",
       Type::kState},
      {R"({"type":"TASK_ADDED","task_added":{"task":{"task_id":{"value":"a"},"framework_id":{"value":"F"}}}})",
       Type::kTask},
      {R"({"type":"TASK_UPDATED","task_updated":{"framework_id":{"value":"F"},"state":"TASK_LOST","status":)"
       R"({"task_id":{"value":"a"}}}})",
       Type::kStatus},
      {R"({"type":"AGENT_ADDED","agent_added":{"agent":{"agent_info":{"id":{"value":"A"}}}}})", Type::kAgent},
      {R"({"type":"AGENT_REMOVED","agent_removed":{"agent_id":{"value":"A"}}})", Type::kNoAgent},
      {R"({"type":"FRAMEWORK_ADDED","framework_added":{"framework":{"framework_info":{"id":{"value":"F"}}}}})",
       Type::kFramework},
      {R"({"type":"FRAMEWORK_UPDATED","framework_updated":{"framework":{"framework_info":{"id":{"value":"F"}}}}})",
       Type::kFramework},
      {R"({"type":"FRAMEWORK_REMOVED","framework_removed":{"framework_info":{"id":{"value":"F"}}}})",
       Type::kNoFramework}};
  for (const auto& [text, type] : cases) {
    const auto event = Read(text);
    ASSERT_TRUE(event.ok()) << text << event.status();
    EXPECT_EQ(event->type, type) << text;
  }
  EXPECT_EQ(*Read(cases[2].first)->heartbeat_seconds, 15.0);
  EXPECT_TRUE(Read(cases[4].first)->status.ended);
}

TEST(MesosEventsTest, WhatLacksItsFieldsIsAnError) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"SUBSCRIBED"})", "no get_state"},
      {R"({"type":"TASK_ADDED","task_added":{"task":{"name":"a"}}})", "no task_id"},
      {R"({"type":"TASK_UPDATED","task_updated":{"state":"TASK_LOST"}})", "no task_id"},
      {R"({"type":"AGENT_ADDED","agent_added":{}})", "no id"},
      {R"({"type":"AGENT_REMOVED","agent_removed":{}})", "no agent_id"},
      {R"({"type":"FRAMEWORK_ADDED","framework_added":[]})", "no id"},
      {R"({"type":"FRAMEWORK_REMOVED"})", "no id"},
      {R"({"subscribed":{}})", "no type"},
      {R"([])", "no type"}};
  for (const auto& [text, why] : cases) {
    const auto event = Read(text);
    ASSERT_FALSE(event.ok()) << text;
    EXPECT_THAT(std::string(event.status().message()), HasSubstr(why)) << text;
  }
}

TEST(MesosEventsTest, AddressesOfAgents) {
  const auto of = [](const char* pid) {
    return Read(
               StrCat(
                   R"({"type":"AGENT_ADDED","agent_added":{"agent":{"agent_info":{"id":{"value":"A"}},"pid":")",
                   pid, "\"}}}"))
        ->agents.at(0)
        .address;
  };
  EXPECT_EQ(of("slave(1)@10.0.0.5:5051"), "10.0.0.5");
  EXPECT_EQ(of("slave(1)@[fd00::5]:5051"), "fd00::5");
  EXPECT_EQ(of("slave(1)@agent:5051"), "");
  EXPECT_EQ(of("slave(1)@0.0.0.0:5051"), "");
  EXPECT_EQ(of(":@"), "");
}

TEST(MesosStreamTest, AfterAnEventThatCannotBeReadThereIsNone) {
  const auto record = [](std::string_view text) { return StrCat(text.size(), "\n", text); };
  MesosStream stream(1'000);
  EXPECT_TRUE(stream.Read(record(R"({"type":"AGENT_REMOVED","agent_removed":{"agent_id":{"value":"A"}}})")));
  EXPECT_FALSE(stream.Read(record("[]") +
                           record(R"({"type":"AGENT_REMOVED","agent_removed":{"agent_id":{"value":"B"}}})")));
  const MesosStream::News news = stream.Take();
  EXPECT_EQ(news.events.size(), 1u);
  EXPECT_FALSE(news.broken.ok());
  EXPECT_FALSE(stream.Read(record(R"({"type":"HEARTBEAT"})")));
}

// Whoever is told takes while more is read: what comes then is told of, too.
TEST(MesosStreamTest, NothingIsLeftThatNobodyWasToldOf) {
  constexpr int kEvents = 20'000;
  const std::string text = R"({"type":"AGENT_REMOVED","agent_removed":{"agent_id":{"value":"A"}}})";
  const std::string record = StrCat(text.size(), "\n", text);
  MesosStream stream(1'000);
  std::atomic<int> told = 0;
  std::atomic<bool> ended = false;
  size_t taken = 0;
  std::thread taker([&] {
    for (int seen = 0; !ended || seen < told;) {
      if (seen == told) continue;
      ++seen;
      taken += stream.Take().events.size();
    }
  });
  for (int i = 0; i < kEvents; ++i) told += stream.Read(record) ? 1 : 0;
  ended = true;
  taker.join();
  EXPECT_EQ(taken, static_cast<size_t>(kEvents));
}

}  // namespace
}  // namespace fairlead::source
