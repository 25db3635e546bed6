#ifndef FAIRLEAD_GEN_PATCH_PATCH_H_
#define FAIRLEAD_GEN_PATCH_PATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/object.h"
#include "gen/resource/origins.h"

namespace google::protobuf {
class Message;
}
namespace istio::networking::v1alpha3 {
class EnvoyFilter_EnvoyConfigObjectMatch;
class EnvoyFilter_EnvoyConfigObjectPatch;
enum EnvoyFilter_ApplyTo : int;          // NOLINT: a name of protobuf's
enum EnvoyFilter_Patch_Operation : int;  // NOLINT: a name of protobuf's
}  // namespace istio::networking::v1alpha3
namespace re2 {
class RE2;
}

// EnvoyFilters as what is applied to messages: plain values, read once from the objects.
namespace fairlead::gen::patch {

using ApplyTo = istio::networking::v1alpha3::EnvoyFilter_ApplyTo;
using Operation = istio::networking::v1alpha3::EnvoyFilter_Patch_Operation;
using Match = istio::networking::v1alpha3::EnvoyFilter_EnvoyConfigObjectMatch;

// The side and the kind of proxy that a message is for. Source: EnvoyFilter.PatchContext.
enum class Side : uint8_t { kInbound, kOutbound, kGateway };

// The subject of a generator. Only patches for this subject reach it.
enum class Stage : uint8_t {
  kListeners,  // with everything in them, and inbound routes, which are
  kRoutes,     // that are asked for by name
  kClusters,
  kExtensions,  // configurations that are asked for by name, for whatever side a patch is
};

// One of an EnvoyFilter's configPatches.
struct Patch {
  config::ConfigPtr object;
  // Of `object`; with an empty one where it has none.
  const istio::networking::v1alpha3::EnvoyFilter_EnvoyConfigObjectPatch* spec = nullptr;
  ApplyTo apply_to = {};
  Operation operation = {};  // as it counts: an insertion into what has no order is an addition
  // A message of apply_to's type; null if the patch has none, and only REMOVE may have none.
  std::shared_ptr<const google::protobuf::Message> value;
  std::shared_ptr<const re2::RE2> proxy_version;  // null: any
  bool for_no_proxy = false;                      // its proxyVersion is too long to be matched

  const Match& match() const;
  bool Adds() const;           // ADD
  bool Merges() const;         // MERGE and MERGE_AND_REPLACE_LIST
  bool ReplacesLists() const;  // the latter
  bool Removes() const;
  // Whether it is for this side. An addition to a proxy's clusters or listeners that does not say where is
  // for what leaves the workload.
  bool IsFor(Side side) const;
  template <typename T>
  const T& Value() const {
    return static_cast<const T&>(*value);
  }
};
using PatchPtr = std::shared_ptr<const Patch>;

// The patches of an EnvoyFilter in its order. Unreadable patches are left out and logged once. So are patches
// with a Lua script that does not compile (config/read/lua.h).
using PatchList = std::vector<PatchPtr>;
PatchList ReadPatches(const config::ConfigPtr& object);

// The patches that concern a message, or the messages of a generator, in the order in which they count.
// Immutable; made and compared by PatchPool, which yields one object for equal sets.
class PatchSet {
 public:
  PatchSet(Side side, PatchList all);

  Side side() const { return side_; }
  const PatchList& all() const { return all_; }
  const std::vector<const Patch*>& Of(ApplyTo apply_to) const {
    return by_apply_to_[static_cast<size_t>(apply_to)];
  }
  bool Has(ApplyTo apply_to) const { return !Of(apply_to).empty(); }
  // Whether one of them may give messages another name: what else concerns a message then depends on it.
  bool renames() const { return renames_; }

 private:
  static constexpr size_t kApplyTos = 16;
  const Side side_;
  const PatchList all_;
  std::array<std::vector<const Patch*>, kApplyTos> by_apply_to_;
  bool renames_ = false;
};
using PatchSetPtr = std::shared_ptr<const PatchSet>;  // null: no patches
// The EnvoyFilters that the patches are of.
void AddOrigins(const PatchSet& patches, OriginList* out);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_PATCH_H_
