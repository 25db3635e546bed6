#ifndef FAIRLEAD_CONFIG_METADATA_H_
#define FAIRLEAD_CONFIG_METADATA_H_

#include <memory>
#include <optional>

#include "config/kind.h"
#include "config/object.h"
#include "config/report.h"
#include "config/tree.h"

namespace fairlead::config {

// Who a document is about; nothing where it has no name. No namespace means "default" for kinds that are in
// one. Endpoints have the key of the slice that mirrors them.
std::optional<ObjectKey> ReadKey(const KindInfo& kind, Node document);

// Kubernetes' ObjectMeta of a document that has a key. Reports unknown fields and wrong types unless
// `checked`.
ObjectMeta ReadMetadata(const ObjectKey& key, Node document, bool checked, Report& report);

// The status of the kinds whose status counts, null where it says nothing. Other fields of it are not looked
// at.
std::shared_ptr<const ObjectStatus> ReadStatus(Kind kind, Node document);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_METADATA_H_
