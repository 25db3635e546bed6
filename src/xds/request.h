#ifndef FAIRLEAD_XDS_REQUEST_H_
#define FAIRLEAD_XDS_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xds/resource_set.h"

namespace fairlead::xds {

// A DiscoveryRequest or DeltaDiscoveryRequest, read in place: everything points into the bytes it was decoded
// from.
struct Request {
  std::string_view type_url;
  std::string_view nonce;
  std::string_view version;                   // state of the world
  std::vector<std::string_view> subscribe;    // state of the world: all names
  std::vector<std::string_view> unsubscribe;  // delta
  std::vector<std::pair<std::string_view, std::string_view>> initial_versions;  // delta: name, version
  bool rejected = false;  // has an error_detail: the client did not take the response
  int error_code = 0;
  std::string_view error_message;
  bool has_node = false;
  std::string_view node;  // an encoded Node
};

// InvalidArgument where the bytes are no such message.
absl::StatusOr<Request> DecodeRequest(Framing framing, std::string_view bytes);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_REQUEST_H_
