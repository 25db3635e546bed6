#ifndef FAIRLEAD_GEN_PATCH_MERGE_H_
#define FAIRLEAD_GEN_PATCH_MERGE_H_

#include <cstdint>

namespace google::protobuf {
class Any;
class Message;
}  // namespace google::protobuf

// How a patch's message goes into the one that was made. Pure.
namespace fairlead::gen::patch {

// The treatment of lists in the patch: append, or replace the previous list.
enum class Lists : uint8_t { kAppend, kReplace };

// Merges `patch` into `out` as protobuf does: scalars that are set replace, messages are merged field by
// field, map entries replace. Durations replace, too, as a half of one means nothing. A wrapper of `false` or
// 0 changes nothing where there is a value, as in Istio. REQUIRES: both are of one type. Source: Istio's
// merge.Merge and MergeWithReplaceList.
void Merge(const google::protobuf::Message& patch, Lists lists, google::protobuf::Message* out);

enum class AnyMerge : uint8_t {
  kMerged,
  kUnreadable,     // a type that no API of ours knows, or bytes that are none of it; `out` stays as it was
  kTypesMismatch,  // likewise
};

// Merges what is packed, of any type of the whole API (proto::WholeApiPool). Source: Istio's MergeAnyWithAny.
AnyMerge MergeAny(const google::protobuf::Any& patch, google::protobuf::Any* out);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_MERGE_H_
