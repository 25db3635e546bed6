#include "kube/api_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/strings.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using kube::ApiAnswer;
using kube::ApiRequest;
using Verb = ApiRequest::Verb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConfigMaps[] = "/api/v1/configmaps";
constexpr char kInN[] = "/api/v1/namespaces/n/configmaps";

class ApiWriterTest : public ::testing::Test {
 protected:
  ApiWriterTest() {
    server_.Serve(kConfigMaps);
    options_.first_backoff = 5ms;
    options_.most_backoff = 20ms;
    access_.server = server_.url();
    access_.proxy = "";
  }
  kube::ApiWriter& writer() {
    if (writer_ == nullptr) writer_ = std::make_unique<kube::ApiWriter>(options_, access_, &client_);
    return *writer_;
  }
  ApiAnswer Do(Verb verb, const std::string& path, const std::string& body = "") {
    return writer().SendAndWait({.verb = verb, .path = path, .body = body});
  }
  std::string Now() { return server_.Get(kConfigMaps, "n", "a"); }

  ApiServerFake server_;
  kube::ApiWriter::Options options_;
  kube::ServerAccess access_;
  fetch::Client client_;
  std::unique_ptr<kube::ApiWriter> writer_;
};

const std::string kA = kube::ObjectPath(kInN, "a");  // NOLINT: a constant of a test

TEST_F(ApiWriterTest, AnObjectIsMadeReadChangedAndDeleted) {
  EXPECT_TRUE(absl::IsNotFound(Do(Verb::kGet, kA).status));
  const ApiAnswer made = Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"},"data":{"k":"1"}})");
  ASSERT_TRUE(made.status.ok()) << made.status;
  EXPECT_EQ(made.http_status, 201);
  EXPECT_THAT(Do(Verb::kGet, kA).body, HasSubstr(R"("k":"1")"));
  EXPECT_TRUE(Do(Verb::kUpdate, kA, R"({"metadata":{"name":"a"},"data":{"k":"2"}})").status.ok());
  EXPECT_THAT(Now(), HasSubstr(R"("k":"2")"));
  EXPECT_TRUE(Do(Verb::kDelete, kA).status.ok());
  EXPECT_EQ(Now(), "");
}

TEST_F(ApiWriterTest, PatchesChangeWhatTheyName) {
  server_.Put(kConfigMaps, "n", "a", R"("data":{"k":"1","other":"2"})");
  EXPECT_TRUE(Do(Verb::kMergePatch, kA, R"({"data":{"k":"3"}})").status.ok());
  EXPECT_THAT(Now(), HasSubstr(R"({"k":"3","other":"2"})"));
  EXPECT_TRUE(Do(Verb::kJsonPatch, kA, R"([{"op":"remove","path":"/data/other"}])").status.ok());
  EXPECT_THAT(Now(), HasSubstr(R"("data":{"k":"3"})"));
  EXPECT_TRUE(Do(Verb::kApply, kA, R"({"data":{"mine":"4"}})").status.ok());
  EXPECT_THAT(Now(), HasSubstr(R"("mine":"4")"));
  EXPECT_THAT(server_.Requests().back(), HasSubstr("a?fieldManager=fairlead"));
}

TEST_F(ApiWriterTest, TheStatusAloneIsChangedBelowItsName) {
  server_.Put(kConfigMaps, "n", "a", R"("data":{"k":"1"})");
  const std::string patch = R"({"data":{"k":"2"},"status":{"ok":true}})";
  EXPECT_TRUE(Do(Verb::kMergePatch, kube::ObjectPath(kInN, "a", "status"), patch).status.ok());
  EXPECT_THAT(Now(), HasSubstr(R"("k":"1")"));
  EXPECT_THAT(Now(), HasSubstr(R"("status":{"ok":true})"));
}

TEST_F(ApiWriterTest, ConflictsAreToldApartFromNamesThatAreTaken) {
  server_.Put(kConfigMaps, "n", "a", R"("data":{"k":"1"})");
  const std::string stale = R"({"metadata":{"name":"a","resourceVersion":"1"},"data":{"k":"2"}})";
  const ApiAnswer conflict = Do(Verb::kUpdate, kA, stale);
  EXPECT_TRUE(absl::IsAborted(conflict.status)) << conflict.status;
  EXPECT_TRUE(absl::IsAborted(Do(Verb::kMergePatch, kA, stale).status));
  EXPECT_TRUE(absl::IsAlreadyExists(Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"}})").status));
  EXPECT_THAT(Now(), HasSubstr(R"("k":"1")"));
}

TEST_F(ApiWriterTest, RefusalsAreNotRepeated) {
  writer();
  server_.RefuseWrites(403, 1);
  EXPECT_TRUE(absl::IsPermissionDenied(Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"}})").status));
  server_.RefuseWrites(422, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"}})").status));
  EXPECT_EQ(server_.CountRequests("POST"), 2u);
}

TEST_F(ApiWriterTest, AServerThatIsBusyIsAskedAgainWhenItSaid) {
  server_.RefuseWrites(429, 1);
  const auto begin = Clock::now();
  EXPECT_TRUE(Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"}})").status.ok());
  EXPECT_GE(Clock::now() - begin, 900ms);  // Retry-After: 1
  EXPECT_EQ(server_.CountRequests("POST"), 2u);
}

TEST_F(ApiWriterTest, AfterAllTriesTheTroubleIsSaid) {
  server_.RefuseWrites(500, 100);
  const ApiAnswer answer = writer().SendAndWait(
      {.verb = Verb::kCreate, .path = kInN, .body = R"({"metadata":{"name":"a"}})", .tries = 3});
  EXPECT_TRUE(absl::IsUnavailable(answer.status)) << answer.status;
  EXPECT_EQ(answer.http_status, 500);
  EXPECT_EQ(server_.CountRequests("POST"), 3u);
}

TEST_F(ApiWriterTest, ASlowServerIsNotWaitedForForever) {
  server_.DelayWrites(500ms);
  const ApiAnswer answer = writer().SendAndWait({.verb = Verb::kCreate,
                                                 .path = kInN,
                                                 .body = R"({"metadata":{"name":"a"}})",
                                                 .tries = 1,
                                                 .limit = 50ms});
  EXPECT_TRUE(absl::IsDeadlineExceeded(answer.status)) << answer.status;
}

TEST_F(ApiWriterTest, WhatIsTooMuchIsRefused) {
  options_.most_body = 10;
  options_.most_waiting = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(Do(Verb::kCreate, kInN, "12345678901").status));
  server_.DelayWrites(100ms);
  std::vector<std::promise<absl::Status>> promises(3);
  for (auto& promise : promises) {
    writer().Send({.verb = Verb::kCreate, .path = kInN, .body = "{}"},
                  [&promise](const ApiAnswer& answer) { promise.set_value(answer.status); });
  }
  EXPECT_TRUE(absl::IsResourceExhausted(promises[2].get_future().get()));
  EXPECT_FALSE(absl::IsResourceExhausted(promises[0].get_future().get()));
  EXPECT_FALSE(absl::IsResourceExhausted(promises[1].get_future().get()));
}

TEST_F(ApiWriterTest, NotMoreThanTheRateIsSentButUrgentRequestsAre) {
  options_.per_second = 4;
  options_.burst = 1;
  server_.Put(kConfigMaps, "n", "a");
  std::vector<std::promise<std::string>> promises(5);
  std::string order;
  const auto begin = Clock::now();
  for (size_t i = 0; i < promises.size(); ++i) {
    writer().Send({.path = kA, .urgent = i == 4}, [&, i](const ApiAnswer&) {
      order += StrCat(i);
      promises[i].set_value(order);
    });
  }
  EXPECT_LE(promises[4].get_future().get().size(), 2u);
  promises[3].get_future().wait();
  EXPECT_GE(Clock::now() - begin, 700ms);  // three more, each after 250 ms
}

TEST_F(ApiWriterTest, WhoeverWaitsIsToldOfTheEnd) {
  server_.DelayWrites(300ms);
  std::promise<absl::Status> running, later;
  writer().Send({.verb = Verb::kCreate, .path = kInN, .body = "{}"},
                [&](const ApiAnswer& answer) { running.set_value(answer.status); });
  writer().Stop();
  EXPECT_TRUE(absl::IsCancelled(running.get_future().get()));
  writer().Send({.path = kA}, [&](const ApiAnswer& answer) { later.set_value(answer.status); });
  EXPECT_TRUE(absl::IsCancelled(later.get_future().get()));
}

TEST_F(ApiWriterTest, WhatIsNotValidAnyMoreIsNotTriedAgain) {
  server_.RefuseWrites(500, 100);
  std::atomic<int> asked{0};
  const ApiAnswer answer = writer().SendAndWait(
      {.verb = Verb::kCreate, .path = kInN, .body = "{}", .valid = [&asked] { return ++asked < 2; }});
  EXPECT_TRUE(absl::IsCancelled(answer.status)) << answer.status;
  EXPECT_EQ(server_.CountRequests("POST"), 1u);
}

TEST_F(ApiWriterTest, WorkRunsInItsTime) {
  std::promise<std::vector<int>> done;
  std::vector<int> order;
  const auto now = Clock::now();
  writer().Run([&] { order.push_back(2); }, now + 20ms);
  writer().Run(
      [&] {
        order.push_back(3);
        done.set_value(order);
      },
      now + 30ms);
  writer().Run([&] { order.push_back(1); });
  EXPECT_THAT(done.get_future().get(), ElementsAre(1, 2, 3));
}

TEST_F(ApiWriterTest, MessagesHaveNothingOfWhatWasSent) {
  server_.RefuseWrites(422, 1);
  const ApiAnswer answer = Do(Verb::kCreate, kInN, R"({"metadata":{"name":"a"},"data":{"key":"secret"}})");
  EXPECT_THAT(std::string(answer.status.message()), HasSubstr("422"));
  EXPECT_THAT(std::string(answer.status.message()), Not(HasSubstr("secret")));
}

TEST(ObjectPathTest, NamesAreEscaped) {
  EXPECT_EQ(kube::ObjectPath("/api/v1/configmaps", "a/b c"), "/api/v1/configmaps/a%2Fb%20c");
  EXPECT_EQ(kube::ObjectPath("/x", "istio.io:istiod-ca:root-cert", "status"),
            "/x/istio.io:istiod-ca:root-cert/status");
}

}  // namespace
}  // namespace fairlead::source
