#ifndef FAIRLEAD_GEN_PATCH_FILTER_MERGE_H_
#define FAIRLEAD_GEN_PATCH_FILTER_MERGE_H_

#include <google/protobuf/any.pb.h>

#include <string>

#include "base/strings.h"
#include "gen/patch/merge.h"
#include "gen/patch/outcome.h"
#include "gen/patch/patch.h"

// Merging of what holds its configuration packed: filters and transport sockets. Pure but for the outcome.
namespace fairlead::gen::patch {

// Merges the packed configuration. An unreadable configuration stays; with another type the patch fails
// (false).
inline bool MergeConfig(const Patch& patch, const google::protobuf::Any& from, google::protobuf::Any* out,
                        PatchOutcome* outcome) {
  if (MergeAny(from, out) != AnyMerge::kTypesMismatch) return true;
  outcome->Fail(patch, StrCat("it merges a ", from.type_url(), " into a ", out->type_url()));
  return false;
}

// Merges a filter's configuration and name. A filter that has none packed (it is discovered, say) stays.
// True where the filter was changed.
template <typename Filter>
bool MergeFilter(const Patch& patch, Filter* filter, PatchOutcome* outcome) {
  if (!filter->has_typed_config()) return false;
  const Filter& from = patch.Value<Filter>();
  if (from.has_typed_config() &&
      !MergeConfig(patch, from.typed_config(), filter->mutable_typed_config(), outcome)) {
    return false;
  }
  if (!from.name().empty()) filter->set_name(from.name());
  return true;
}

// Merges the transport socket into one of the same name. Both may lack their configuration.
template <typename Socket>
void MergeSocket(const Patch& patch, const Socket& from, Socket* socket, PatchOutcome* outcome) {
  if (!from.has_typed_config() || !socket->has_typed_config()) return;
  MergeConfig(patch, from.typed_config(), socket->mutable_typed_config(), outcome);
}

inline Lists ListsOf(const Patch& patch) { return patch.ReplacesLists() ? Lists::kReplace : Lists::kAppend; }

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_FILTER_MERGE_H_
