#ifndef FAIRLEAD_PUSH_STREAM_OBJECT_TYPES_H_
#define FAIRLEAD_PUSH_STREAM_OBJECT_TYPES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gen/generator.h"
#include "model/peer_identity.h"
#include "push/stream/authorizer.h"

// The types of the mesh's own objects, "networking.istio.io/v1/VirtualService", which are served besides
// those of xds/types.h. Source: Istio's generator "api", which all types fall to that no other generator has.
namespace fairlead::push {

// The GENERATOR that clients name who want nothing but objects: of a type that is none they are told that
// there are no such resources.
inline constexpr std::string_view kObjectGenerator = "api";

struct ObjectTypes {
  std::vector<std::unique_ptr<gen::Generator>> generators;
  // By type URL: a kind has one for each version in which it is read.
  std::map<std::string, gen::Generator*, std::less<>> by_url;
  // Whether a peer may see the objects of all namespaces; a status ends its stream.
  std::function<absl::Status(const StreamPeer&, const std::optional<model::PeerIdentity>&)> authorize;

  // Null for a type that has no objects.
  gen::Generator* Find(std::string_view url) const;
};

// Every kind of Istio's and the Gateway API's, and "core/v1alpha1/MeshConfig".
ObjectTypes MakeObjectTypes();

// Whether a URL has their form, GROUP/VERSION/KIND.
bool IsObjectType(std::string_view url);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_OBJECT_TYPES_H_
