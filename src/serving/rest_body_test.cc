#include "serving/rest_body.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"

namespace fairlead::serving {
namespace {

constexpr char kNode[] = R"({"node": {"id": "sidecar~10.1.0.1~x.a~a.svc.cluster.local", "metadata": )";

std::string Repeat(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string Refused(const std::string& body) {
  return std::string(FromAbsl(CheckRestBody(body, {}).message()));
}

TEST(RestBody, OrdinaryRequestsPass) {
  EXPECT_EQ(Refused(StrCat(kNode, R"({"LABELS": {"app": "web"}}}, "resource_names": ["80"]})")), "");
  EXPECT_EQ(Refused(""), "");
  EXPECT_EQ(Refused("{"), "");
  EXPECT_EQ(Refused("\"\\"), "");
  EXPECT_EQ(Refused(StrCat(kNode, R"({"ANNOTATIONS": {"a": ")", std::string(256 << 10, 'x'), "\"}}}}")), "");
}

TEST(RestBody, NamesAreNotCounted) {
  const std::string names = Repeat(R"("outbound|80||web.shop.svc.cluster.local",)", 60'000);
  EXPECT_EQ(Refused(StrCat(R"({"resource_names": [)", names, R"("x"], "type_url": "t"})")), "");
  EXPECT_EQ(Refused(StrCat(R"({"resourceNames": [)", names, R"("x"]})")), "");
}

TEST(RestBody, WhatIsNotNamesIsBounded) {
  const std::string many = Repeat("0,", 30'000);
  EXPECT_EQ(Refused(StrCat(kNode, R"({"X": [)", many, "0]}}}")), "the node has more than 20000 values");
  EXPECT_EQ(Refused(StrCat(R"({"resource_names": [[)", many, "0]]}")), "the node has more than 20000 values");
  EXPECT_EQ(Refused(StrCat(R"({"node": {"resource_names": [)", many, "0]}}")),
            "the node has more than 20000 values");
  EXPECT_EQ(
      Refused(StrCat(R"({"resource_names": ["x"], "error_detail": {"details": [{"x": [)", many, "0]}]}}")),
      "the node has more than 20000 values");
  EXPECT_EQ(Refused(StrCat(kNode, R"({"X": ")", std::string(2 << 20, 'x'), "\"}}}")).substr(0, 20),
            "the request has 2097");
  EXPECT_EQ(Refused(Repeat("[", 101)), "the request is nested deeper than 100 levels");
}

}  // namespace
}  // namespace fairlead::serving
