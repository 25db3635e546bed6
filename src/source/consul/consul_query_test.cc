#include "source/consul/consul_query.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using Verdict = ConsulQuery::Verdict;

ConsulQuery Query(const std::string& consistency = "stale") {
  return ConsulQuery("/v1/catalog/services?dc=east", consistency, RetryPause(1ms, 2ms, 1));
}

fetch::WholeAnswer Answer(uint64_t index, const std::string& leader = "true") {
  fetch::WholeAnswer answer;
  answer.outcome.http_status = 200;
  answer.headers = {{"x-consul-index", StrCat(index)}, {"x-consul-knownleader", leader}};
  return answer;
}

fetch::WholeAnswer Lost() {
  fetch::WholeAnswer answer;
  answer.outcome.status = absl::UnavailableError("no connection");
  return answer;
}

void TakeGood(ConsulQuery& query, uint64_t index) {
  EXPECT_EQ(query.TakeAnswer(Answer(index)), Verdict::kNews);
  query.Accept();
}

TEST(ConsulQueryTest, TheFirstAnswerComesAtOnceAndTheNextWithNews) {
  ConsulQuery query = Query();
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&stale");
  EXPECT_FALSE(query.blocks());
  TakeGood(query, 7);
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&stale&index=7&wait=5000ms");
  EXPECT_TRUE(query.blocks());
  EXPECT_EQ(query.TakeAnswer(Answer(7)), Verdict::kSame);
  EXPECT_EQ(query.TakeAnswer(Answer(8)), Verdict::kNews);
}

TEST(ConsulQueryTest, AConsistencyByDefaultIsNotWritten) {
  EXPECT_EQ(Query("default").Target(5s), "/v1/catalog/services?dc=east");
  EXPECT_EQ(ConsulQuery("/v1/status/leader?", "default", RetryPause(1ms, 2ms, 1)).Target(5s),
            "/v1/status/leader?");
}

// A server that came back with what it had has no news: whoever waits for some does not learn that it is
// there.
TEST(ConsulQueryTest, AfterAFailureAWholeAnswerIsAskedFor) {
  for (const auto& failure : {Lost(), Answer(9, "false")}) {
    ConsulQuery query = Query();
    TakeGood(query, 7);
    EXPECT_EQ(query.TakeAnswer(failure), Verdict::kFailed);
    EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&stale");
    TakeGood(query, 7);
    EXPECT_EQ(query.trouble(), "");
  }
}

TEST(ConsulQueryTest, AnEarlierIndexCountsOnlyAsTheLeadersWord) {
  ConsulQuery query = Query();
  TakeGood(query, 7);
  EXPECT_EQ(query.TakeAnswer(Answer(5)), Verdict::kBehind);
  EXPECT_EQ(query.Pause(), 0ms);
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&consistent");
  TakeGood(query, 8);  // the server was behind
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&stale&index=8&wait=5000ms");
  EXPECT_EQ(query.TakeAnswer(Answer(6)), Verdict::kBehind);
  EXPECT_EQ(query.TakeAnswer(Lost()), Verdict::kFailed);
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&consistent");
  TakeGood(query, 3);  // all began anew
  EXPECT_EQ(query.Target(5s), "/v1/catalog/services?dc=east&stale&index=3&wait=5000ms");
}

TEST(ConsulQueryTest, WithoutAnIndexItIsAskedNowAndThen) {
  ConsulQuery query = Query();
  TakeGood(query, 0);
  EXPECT_EQ(query.Pause(), 10s);
  EXPECT_FALSE(query.blocks());
}

}  // namespace
}  // namespace fairlead::source
