#ifndef FAIRLEAD_XDS_RESPONSE_H_
#define FAIRLEAD_XDS_RESPONSE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "xds/resource_set.h"
#include "xds/types.h"

namespace fairlead::xds {

// The content of a response: whole lists, single resources, and removed names (delta).
struct Response {
  TypeId type = TypeId::kCluster;
  std::string_view url = {};  // of a type that is not in the table, for which `type` stands in; "": of `type`
  std::string version;        // of everything the client then has of the type
  std::string nonce;
  std::vector<ResourceListPtr> lists;
  std::vector<ResourcePtr> resources;
  std::vector<Interned> removed;

  size_t ResourceCount() const;
};

using Frame = Pieces;

// The response as one message, without a copy of what is shared: lists give their common body, as several
// single resources do that other clients are sent, too; a few large resources give their own bytes.
Frame Encode(Framing framing, const Response& response);

// A response of a type that is not in the table.
struct PlainResource {
  std::string name;
  std::string any;  // a serialized google.protobuf.Any
};
struct PlainResponse {
  std::string_view type_url;
  std::string version = {}, nonce = {};
  std::vector<PlainResource> resources = {};
  std::vector<std::string> removed = {};  // delta
  std::string_view control_plane = {};    // ControlPlane.identifier
};
Frame Encode(Framing framing, const PlainResponse& response);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_RESPONSE_H_
