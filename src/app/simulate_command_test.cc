#include "app/simulate_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/strings.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;

struct Printed {
  int status = 0;
  std::string out, error;
};

// Asks about a workload of the demo's mesh.
Printed Simulate(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  if (arguments.front() != "--configDir") all = {"--configDir", "examples/bookinfo"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Printed printed;
  printed.status = RunSimulate(all);
  printed.out = testing::internal::GetCapturedStdout();
  printed.error = testing::internal::GetCapturedStderr();
  return printed;
}

TEST(SimulateCommand, SaysWhereARequestGoesAndWhy) {
  const Printed printed = Simulate({"--proxy", "client.bookshop", "http://reviews:9080/"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("end      outbound|9080|v1|reviews.bookshop.svc.cluster.local 75%, "
                                     "outbound|9080|v2|reviews.bookshop.svc.cluster.local 25%\n"));
  EXPECT_THAT(printed.out, HasSubstr("    10.77.1.14:9080  plaintext\n"));
  EXPECT_THAT(printed.out,
              HasSubstr("  VirtualService bookshop/reviews  examples/bookinfo/reviews-split.yaml:2\n"));
}

TEST(SimulateCommand, Json) {
  const Printed printed = Simulate(
      {"--proxy", "client.bookshop", "-H", "x-tester: yes", "-o", "json", "http://reviews:9080/a?b"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  const auto json = nlohmann::json::parse(printed.out);
  EXPECT_EQ(json["reached"], true);
  EXPECT_EQ(json["verdict"], "http");
  EXPECT_EQ(json["summary"], "outbound|9080|v2|reviews.bookshop.svc.cluster.local");
  EXPECT_EQ(json["request"]["path"], "/a?b");
  EXPECT_EQ(json["request"]["destination"], "10.77.100.13:9080");
  ASSERT_EQ(json["destinations"].size(), 1u);
  EXPECT_EQ(json["destinations"][0]["endpoints"][0]["address"], "10.77.1.14:9080");
  EXPECT_EQ(json["objects"][0]["kind"], "VirtualService");
  EXPECT_EQ(json["objects"][0]["line"], 2);
}

TEST(SimulateCommand, OneWhereNothingIsReached) {
  const Printed printed =
      Simulate({"--proxy", "client.bookshop", "--destination", "10.9.9.9:15001", "tcp://x:1"});
  EXPECT_EQ(printed.status, 1) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("closed: no endpoint of BlackHoleCluster"));
}

TEST(SimulateCommand, TwoForWrongCalls) {
  const std::vector<std::vector<std::string>> wrong = {
      {"http://reviews:9080/"},
      {"--proxy", "nobody.bookshop", "http://reviews:9080/"},
      {"--proxy", "client", "http://reviews:9080/"},
      {"--proxy", "client.bookshop"},
      {"--proxy", "client.bookshop", "ftp://reviews/"},
      {"--proxy", "client.bookshop", "http://reviews:port/"},
      {"--proxy", "client.bookshop", "tcp://reviews"},
      {"--proxy", "client.bookshop", "-H", "no colon", "http://reviews/"},
      {"--proxy", "client.bookshop", "-H", "@odd: value", "http://reviews/"},
      {"--proxy", "client.bookshop", "--source", "here", "http://reviews/"},
      {"--proxy", "client.bookshop", "--node", "a", "http://reviews/"},
      {"--node", "/nonexistent/node.json", "http://reviews/"},
      {"--meshConfig", "/nonexistent/mesh", "--proxy", "client.bookshop", "http://reviews/"},
      {"--configDir", "/nonexistent", "--proxy", "client.bookshop", "http://reviews/"},
  };
  for (const auto& arguments : wrong) {
    const Printed printed = Simulate(arguments);
    EXPECT_EQ(printed.status, 2) << arguments.back() << printed.out;
    EXPECT_FALSE(printed.error.empty()) << arguments.back();
  }
}

TEST(SimulateCommand, ANodeOfABootstrap) {
  const auto file = std::filesystem::temp_directory_path() / StrCat("fairlead-node-", getpid(), ".json");
  std::ofstream(file) << R"({"node": {"id": "sidecar~10.77.9.9~new-1.bookshop~bookshop.svc.cluster.local",
    "metadata": {"NAMESPACE": "bookshop", "LABELS": {"app": "new"}}}, "admin": {}})";
  const Printed by_file = Simulate({"--node", file.string(), "http://reviews:9080/"});
  const Printed by_id = Simulate({"--proxy", "sidecar~10.77.9.9~new-1.bookshop~bookshop.svc.cluster.local",
                                  "--label", "app=new", "http://reviews:9080/"});
  std::filesystem::remove(file);
  EXPECT_EQ(by_file.status, 0) << by_file.error;
  EXPECT_EQ(by_file.out, by_id.out);
}

}  // namespace
}  // namespace fairlead::app
