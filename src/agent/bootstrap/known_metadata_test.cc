#include "agent/bootstrap/known_metadata.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

// What the text becomes, or why it is refused.
std::string Added(const std::string& text) {
  json metadata = *ParseJson(text);
  const absl::Status status = AddKnownMetadata(&metadata);
  return status.ok() ? JsonText(metadata) : std::string(status.message());
}

TEST(KnownMetadata, HasTheFormThatAControlPlaneReads) {
  EXPECT_EQ(Added(R"({"DNS_CAPTURE": "T", "dns_auto_allocate": "1"})"),
            R"({"DNS_AUTO_ALLOCATE":"true","DNS_CAPTURE":"true","dns_auto_allocate":"1"})");
  EXPECT_EQ(
      Added(R"({"POD_PORTS": "[{\"ContainerPort\": 8, \"name\": \"h\", \"hostPort\": 9}, null]"})"),
      R"({"POD_PORTS":"[{\"name\":\"h\",\"containerPort\":8,\"protocol\":\"\"},{\"containerPort\":0,\"protocol\":\"\"}]"})");
  EXPECT_EQ(Added(R"({"labels": {"a": "b", "c": null}})"),
            R"({"LABELS":{"a":"b","c":""},"labels":{"a":"b","c":null}})");
}

TEST(KnownMetadata, WhatIsFalseEmptyOrUnknownStaysAsItWasWritten) {
  for (const char* text :
       {R"({"DNS_CAPTURE":"0"})", R"({"NETWORK":""})", R"({"NETWORK":null})", R"({"POD_PORTS":"[]"})",
        R"({"POD_PORTS":"null"})", R"({"LABELS":{}})", R"({"METADATA_DISCOVERY":null})",
        R"({"ENVOY_STATUS_PORT":7})", R"({"PILOT_SAN":["a"]})", R"({"PROXY_CONFIG":{"concurrency":1}})",
        R"({"MINE":[1,{"x":true}],"other":false})"})
    EXPECT_EQ(Added(text), text);
}

TEST(KnownMetadata, AnotherTypeThanIstiosIsRefused) {
  EXPECT_EQ(Added(R"({"DNS_CAPTURE": "yes"})"), "ISTIO_META_DNS_CAPTURE: 'yes' is neither true nor false");
  EXPECT_EQ(Added(R"({"Dns_Capture": true})"), "ISTIO_META_Dns_Capture: 'true' is neither true nor false");
  EXPECT_EQ(Added(R"({"NETWORK": 5})"), "ISTIO_META_NETWORK: not a text");
  EXPECT_EQ(Added(R"({"LABELS": "x"})"), "ISTIO_META_LABELS: not an object of texts");
  EXPECT_EQ(Added(R"({"ANNOTATIONS": {"a": 1}})"),
            "ISTIO_META_ANNOTATIONS: not an object of texts: a is none");
  EXPECT_EQ(Added(R"({"ENVOY_STATUS_PORT": "5"})"), "ISTIO_META_ENVOY_STATUS_PORT: not a whole number");
  EXPECT_EQ(Added(R"({"PILOT_SAN": "p"})"), "ISTIO_META_PILOT_SAN: not a list of texts");
  EXPECT_EQ(Added(R"({"PROXY_CONFIG": "p"})"), "ISTIO_META_PROXY_CONFIG: not an object");
  for (const char* ports :
       {R"("")", R"("{}")", R"("[1]")", R"("[{\"containerPort\": \"1\"}]")", R"("[{\"name\": 1}]")", "[]"})
    EXPECT_EQ(Added(std::string(R"({"POD_PORTS": )") + ports + "}"),
              "ISTIO_META_POD_PORTS: not a JSON list of ports");
}

}  // namespace
}  // namespace fairlead::agent
