#include "serving/control_pages.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include "base/json.h"
#include "base/log.h"

// The log of a running process, asked and told over HTTP.
namespace fairlead::serving {
namespace {

LogScope test_log("control-test");

class ControlPagesTest : public testing::Test {
 protected:
  ControlPagesTest() {
    AddControlPages(&server_);
    EXPECT_TRUE(server_.Start("127.0.0.1:0").ok());
  }
  int Put(const std::string& scope, const std::string& body) {
    return Client().Put("/scopej/" + scope, body, "application/json")->status;
  }
  httplib::Client Client() { return httplib::Client("127.0.0.1", server_.port()); }

  server::HttpServer server_;
};

TEST_F(ControlPagesTest, AScopesLevelIsShownAndSet) {
  EXPECT_EQ(Put("control-test", R"({"output_level": "debug", "log_callers": true})"), 202);
  EXPECT_TRUE(test_log.Enabled(LogLevel::kDebug));
  const auto scope = ParseJson(Client().Get("/scopej/control-test")->body);
  ASSERT_TRUE(scope);
  EXPECT_EQ((*scope)["name"], "control-test");
  EXPECT_EQ((*scope)["output_level"], "debug");
  EXPECT_EQ((*scope)["log_callers"], true);
  EXPECT_EQ(Put("control-test", R"({"output_level": "warn"})"), 202);
  EXPECT_FALSE(test_log.Enabled(LogLevel::kInfo));
  EXPECT_TRUE(test_log.names_callers()) << "it was not spoken of";
}

TEST_F(ControlPagesTest, AllScopesAreListed) {
  const auto scopes = ParseJson(Client().Get("/scopej/")->body);
  ASSERT_TRUE(scopes && scopes->is_array());
  bool found = false;
  for (const auto& scope : *scopes) found |= scope["name"] == "control-test";
  EXPECT_TRUE(found);
  EXPECT_NE(Client().Get("/scopez")->body.find("control-test"), std::string::npos);
}

TEST_F(ControlPagesTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Client().Get("/scopej/nothing")->status, 400);
  EXPECT_EQ(Put("nothing", "{}"), 400);
  EXPECT_EQ(Put("control-test", "{"), 400);
  EXPECT_EQ(Put("control-test", R"({"output_level": "loud"})"), 400);
  EXPECT_EQ(Client().Get("/elsewhere")->status, 404);
}

}  // namespace
}  // namespace fairlead::serving
