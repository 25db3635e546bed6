#ifndef FAIRLEAD_KUBE_LIST_SCANNER_H_
#define FAIRLEAD_KUBE_LIST_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace fairlead::kube {

// Cuts the JSON text of a list into its items while it arrives, so that no more than one item of a long list
// is kept. An item is cut at its last bracket; whether it is JSON is for its reader to say. Pure; one thread
// at a time. Source: kubernetes.io/docs/reference/using-api/api-concepts (collections: `items` of the root
// object).
class ListScanner {
 public:
  struct Limits {
    size_t most_item_bytes = 16 << 20;
    size_t most_rest_bytes = 1 << 20;
  };
  enum class Result : uint8_t {
    kMore,       // all bytes are taken
    kStopped,    // the callback said so
    kSenseless,  // `items` has something that is no object
    kTooLarge,   // an item or the rest
  };
  // One whole item, valid during the call; false: the rest of the list is not wanted.
  using OnItem = absl::FunctionRef<bool(std::string_view item)>;

  explicit ListScanner(Limits limits) : limits_(limits) {}

  // The next bytes. After another result than kMore nothing more may be fed.
  Result Feed(std::string_view bytes, OnItem on_item);
  // All but the items: {"kind":"PodList","metadata":{…},"items":[]}, as far as it came.
  const std::string& rest() const { return rest_; }

 private:
  enum class Place : uint8_t { kRest, kItems, kItem };

  Result TakeRest(const char*& at, const char* end);
  Result TakeItems(const char*& at, const char* end);
  Result TakeItem(const char*& at, const char* end, OnItem on_item);
  const char* PassString(const char* at, const char* end);
  void NoteRest(char byte);

  const Limits limits_;
  Place place_ = Place::kRest;
  size_t depth_ = 0, item_depth_ = 0;  // of the document outside of its items, and of the item
  bool in_string_ = false, escaped_ = false;
  bool key_is_items_ = false;  // the last string of the root object is "items"
  size_t string_begin_ = 0;    // of rest_, where the last string begins
  std::string rest_, item_;    // item_: the part that came before
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_LIST_SCANNER_H_
