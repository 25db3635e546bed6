#include <cstddef>
#include <cstdint>
#include <string_view>

#include "envoy/config/core/v3/base.pb.h"
#include "model/proxy.h"
#include "proto/json.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: the node of a first request, in JSON, as no bytes of a fuzzer get through protobuf's maps
// and structs as easily. A node that is taken has its parts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = fairlead::proto::FromJson("envoy.config.core.v3.Node", text);
  if (!bytes.ok()) return 0;
  envoy::config::core::v3::Node node;
  if (!node.ParseFromString(*bytes)) return 0;
  const auto proxy = fairlead::model::ParseProxy(node);
  Require(proxy.ok() || !proxy.status().message().empty(), "refused without a reason");
  if (!proxy.ok()) return 0;
  Require(*proxy != nullptr && (*proxy)->node_id == node.id(), "id");
  Require(!(*proxy)->ip_addresses.empty(), "a proxy without an address");
  fairlead::model::ParseIstioVersion(text);
  return 0;
}
