#ifndef FAIRLEAD_GATEWAY_API_REVISION_H_
#define FAIRLEAD_GATEWAY_API_REVISION_H_

#include <set>
#include <string>
#include <string_view>

#include "config/object.h"

namespace fairlead::gateway_api {

// Whether the object is for the control plane of a revision, by its label istio.io/rev: without a label it is
// for all. Source: Istio's LabelsInRevision.
bool InRevision(const config::ConfigObject& object, std::string_view revision);

// The labels istio.io/rev of the objects that this control plane alone writes to or deploys: its revision,
// the tags that point to it, and "" for objects without a label. Source: Istio's pkg/revisions, TagWatcher.
using OwnRevisions = std::set<std::string, std::less<>>;

// Those of a revision without tags: objects without a label are the revision's named default.
OwnRevisions OwnRevisionsOf(std::string_view revision);

// Whether the object is among them, by its label, else by its namespace's. `ns`: null where it is not known;
// then every control plane takes the object. Source: Istio's TagWatcher.IsMine.
bool IsOwn(const config::ConfigObject& object, const config::ConfigPtr& ns, const OwnRevisions& own);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_REVISION_H_
