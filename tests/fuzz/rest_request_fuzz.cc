#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/json.h"
#include "tests/fuzz/choices.h"
#include "xds/request.h"

// For libFuzzer: the body of a REST poll. What is taken for a DiscoveryRequest can be read as one, and comes
// back from JSON as it was.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::fuzz::Require;
  constexpr std::string_view kType = "envoy.service.discovery.v3.DiscoveryRequest";
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto bytes = fairlead::proto::FromJson(kType, body);
  if (!bytes.ok()) return 0;
  const auto request = fairlead::xds::DecodeRequest(fairlead::xds::Framing::kStateOfTheWorld, *bytes);
  Require(request.ok(), "what came from JSON is no request");
  const auto text = fairlead::proto::ToJson(kType, *bytes);
  if (!text.ok()) return 0;  // an Any whose content is none of its type
  const auto again = fairlead::proto::FromJson(kType, *text);
  Require(again.ok(), "its own JSON is refused: ", *text);
  const auto text_again = fairlead::proto::ToJson(kType, *again);
  Require(text_again.ok() && *text_again == *text, "JSON of JSON differs: ", *text);
  return 0;
}
