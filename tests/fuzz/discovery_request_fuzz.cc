#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/service/discovery/v3/discovery.pb.h"
#include "tests/fuzz/choices.h"
#include "xds/request.h"

// For libFuzzer: any bytes may come as a request. Beyond not crashing: what protobuf writes is read as
// protobuf reads it, names that are known from an earlier request mean the same, and what is read lies in the
// bytes.
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryRequest;
using fairlead::fuzz::Require;
using fairlead::xds::DecodedRequest;
using fairlead::xds::DecodeRequest;
using fairlead::xds::Framing;
using fairlead::xds::KnownNames;

void RequireInside(std::string_view part, std::string_view bytes) {
  Require(part.empty() || (part.data() >= bytes.data() && part.end() <= bytes.end()), "it lies elsewhere");
}

template <typename Names>
bool SameNames(const std::vector<std::string_view>& read, const Names& names) {
  return std::equal(read.begin(), read.end(), names.begin(), names.end());
}

template <typename Message>
void RequireSameBasics(const DecodedRequest& read, const Message& message) {
  Require(read.type_url == message.type_url(), "type_url");
  Require(read.nonce == message.response_nonce(), "response_nonce");
  Require(read.rejected == message.has_error_detail(), "error_detail");
  Require(read.error_code == message.error_detail().code(), "code");
  Require(read.error_message == message.error_detail().message(), "message");
  Require(read.has_node == message.has_node(), "node");
  Require(read.node == message.node().SerializeAsString(), "the node's fields");
}

// With the names of the request itself as known ones.
void RequireSameWhenKnown(const std::string& bytes, const DecodedRequest& read) {
  if (read.encoded_names.empty()) return;
  const std::array known = {KnownNames{}, KnownNames::Of(read.encoded_names)};
  const auto again = DecodeRequest(Framing::kStateOfTheWorld, bytes, known);
  Require(again.ok() && again->known_names == known[1], "its own names are not known");
  Require(again->type_url == read.type_url && again->nonce == read.nonce, "known names change the rest");
  Require(again->rejected == read.rejected && again->node == read.node, "known names change the rest");
}

void CheckStateOfTheWorld(std::string_view input) {
  DiscoveryRequest message;
  if (!message.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  message.DiscardUnknownFields();
  message.clear_resource_locators();
  const std::string bytes = message.SerializeAsString();
  const auto read = DecodeRequest(Framing::kStateOfTheWorld, bytes);
  Require(read.ok(), "protobuf reads it");
  RequireSameBasics(*read, message);
  Require(read->version == message.version_info(), "version_info");
  Require(SameNames(read->subscribe, message.resource_names()), "resource_names");
  Require(read->subscribe.empty() || !read->encoded_names.empty(), "the names stand together");
  RequireSameWhenKnown(bytes, *read);
}

void CheckDelta(std::string_view input) {
  DeltaDiscoveryRequest message;
  if (!message.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  message.DiscardUnknownFields();
  message.clear_resource_locators_subscribe();
  message.clear_resource_locators_unsubscribe();
  const std::string bytes = message.SerializeAsString();
  const auto read = DecodeRequest(Framing::kDelta, bytes);
  Require(read.ok(), "protobuf reads it");
  RequireSameBasics(*read, message);
  Require(SameNames(read->subscribe, message.resource_names_subscribe()), "subscribe");
  Require(SameNames(read->unsubscribe, message.resource_names_unsubscribe()), "unsubscribe");
  const auto& versions = message.initial_resource_versions();
  Require(read->initial_versions.size() == static_cast<size_t>(versions.size()), "initial versions");
  for (const auto& [name, version] : read->initial_versions) {
    const auto found = versions.find(std::string(name));
    Require(found != versions.end() && found->second == version, "an initial version");
  }
}

void CheckInside(Framing framing, std::string_view bytes) {
  const auto read = DecodeRequest(framing, bytes);
  if (!read.ok()) return;
  for (std::string_view part :
       {read->type_url, read->nonce, read->version, read->node, read->error_message, read->encoded_names})
    RequireInside(part, bytes);
  for (std::string_view name : read->subscribe) RequireInside(name, bytes);
  for (std::string_view name : read->unsubscribe) RequireInside(name, bytes);
  for (const auto& [name, version] : read->initial_versions) {
    RequireInside(name, bytes);
    RequireInside(version, bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckInside(Framing::kStateOfTheWorld, bytes);
  CheckInside(Framing::kDelta, bytes);
  CheckStateOfTheWorld(bytes);
  CheckDelta(bytes);
  return 0;
}
