#ifndef FAIRLEAD_XDS_REQUEST_H_
#define FAIRLEAD_XDS_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/hash.h"
#include "xds/resource_set.h"

namespace fairlead::xds {

// The names of an earlier state-of-the-world request, as they were encoded. A proxy repeats thousands of them
// with each answer: those that are known are found by size and hash, and not read one by one.
struct KnownNames {
  size_t size = 0;  // bytes; 0: nothing is known
  Hash128 hash = {};

  static KnownNames Of(std::string_view encoded);
  friend bool operator==(const KnownNames&, const KnownNames&) = default;
};

// A DiscoveryRequest or DeltaDiscoveryRequest, read in place: everything points into the bytes it was decoded
// from.
struct DecodedRequest {
  std::string_view type_url;
  std::string_view nonce;
  std::string_view version;                 // state of the world
  std::vector<std::string_view> subscribe;  // state of the world: all names
  // State of the world: the names as they are encoded, where they stand one after the other, as all encoders
  // write them; else nothing.
  std::string_view encoded_names;
  // They are these, which were known: then `subscribe` is left empty.
  std::optional<KnownNames> known_names;
  std::vector<std::string_view> unsubscribe;                                    // delta
  std::vector<std::pair<std::string_view, std::string_view>> initial_versions;  // delta: name, version
  bool rejected = false;  // has an error_detail: the client did not take the response
  int error_code = 0;
  std::string_view error_message;
  bool has_node = false;
  std::string_view node;  // an encoded Node
};

// InvalidArgument where the bytes are no such message.
absl::StatusOr<DecodedRequest> DecodeRequest(Framing framing, std::string_view bytes,
                                             std::span<const KnownNames> known = {});

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_REQUEST_H_
