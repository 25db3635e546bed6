#ifndef FAIRLEAD_CONFIG_READ_DOCUMENT_CLASS_H_
#define FAIRLEAD_CONFIG_READ_DOCUMENT_CLASS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "config/kind.h"
#include "config/tree.h"

namespace fairlead::config {

// What one document of a file is to a mesh. Whoever reads files asks this one function, so that all take the
// same for an object, for a mistake and for somebody else's.
struct DocumentClass {
  enum class Type : uint8_t {
    kObject,     // of `kind`
    kMistake,    // meant for a mesh, or for nobody: a kind or version that does not exist, a missing field
    kForeign,    // another program's: passed over, and said
    kKubernetes  // Kubernetes' own, which a mesh does not read: passed over in silence
  };
  Type type = Type::kObject;
  const KindInfo* kind = nullptr;  // kObject
  bool policy = false;             // no kObject: it was probably meant for a policy (see IsPolicyLike)
  // What is wrong, or whose it is, without a quotation (see Quoting). kMistake and kForeign.
  std::string_view code = {};
  std::string_view path = {};  // of the field; "" for the whole document
  std::string message = {};
};

// `item_kind`: what an item of a typed list is that does not say so itself. Lists are their items: REQUIRES:
// no list.
DocumentClass Classify(Node document, std::string_view item_kind = {});

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_DOCUMENT_CLASS_H_
