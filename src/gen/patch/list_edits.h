#ifndef FAIRLEAD_GEN_PATCH_LIST_EDITS_H_
#define FAIRLEAD_GEN_PATCH_LIST_EDITS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include "gen/patch/patch.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

// Patches of lists whose order counts. Pure.
namespace fairlead::gen::patch {

template <typename T>
using List = google::protobuf::RepeatedPtrField<T>;

template <typename T>
void InsertAt(int at, const T& value, List<T>* list) {
  *list->Add() = value;
  for (int i = list->size() - 1; i > at; --i) list->SwapElements(i, i - 1);
}

// The first that matches; -1 where none does.
template <typename T, typename Matches>
int FindFirst(const List<T>& list, Matches&& matches) {
  for (int i = 0; i < list.size(); ++i) {
    if (matches(list.Get(i))) return i;
  }
  return -1;
}

// Keeps the order of the others. True where something was removed.
template <typename T, typename Matches>
bool RemoveMatching(Matches&& matches, List<T>* list) {
  int kept = 0;
  for (int i = 0; i < list->size(); ++i) {
    if (matches(list->Get(i))) continue;
    if (kept != i) list->SwapElements(kept, i);
    ++kept;
  }
  const int removed = list->size() - kept;
  list->DeleteSubrange(kept, removed);
  return removed > 0;
}

// INSERT_BEFORE and INSERT_AFTER what matches; where the patch names nothing to match, at the beginning and
// at the end.
template <typename T, typename Matches>
bool InsertBeside(const Patch& patch, bool names_element, Matches&& matches, List<T>* list) {
  const bool after = patch.operation == istio::networking::v1alpha3::EnvoyFilter::Patch::INSERT_AFTER;
  if (!names_element) {
    InsertAt(after ? list->size() : 0, patch.Value<T>(), list);
    return true;
  }
  const int at = FindFirst(*list, matches);
  if (at < 0) return false;
  InsertAt(after ? at + 1 : at, patch.Value<T>(), list);
  return true;
}

// Everything but merging, in a list of filters. `names_element`: whether the patch says which of them it is
// for. True where the list was changed. Source: Istio's patchListenerFilters, patchNetworkFilters,
// patchHTTPFilters.
template <typename T, typename Matches>
bool EditFilters(const Patch& patch, bool names_element, Matches&& matches, List<T>* list) {
  using Operations = istio::networking::v1alpha3::EnvoyFilter::Patch;
  switch (patch.operation) {
    case Operations::ADD:
      InsertAt(list->size(), patch.Value<T>(), list);
      return true;
    case Operations::INSERT_FIRST:
      InsertAt(0, patch.Value<T>(), list);
      return true;
    case Operations::INSERT_BEFORE:
    case Operations::INSERT_AFTER:
      return InsertBeside(patch, names_element, matches, list);
    case Operations::REPLACE: {
      const int at = names_element ? FindFirst(*list, matches) : -1;
      if (at >= 0) *list->Mutable(at) = patch.Value<T>();
      return at >= 0;
    }
    case Operations::REMOVE:
      return names_element && RemoveMatching(matches, list);
    default:
      return false;
  }
}

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_LIST_EDITS_H_
