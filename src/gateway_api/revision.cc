#include "gateway_api/revision.h"

#include "gateway_api/names.h"

namespace fairlead::gateway_api {

bool InRevision(const config::ConfigObject& object, std::string_view revision) {
  const auto label = object.meta().labels.find(kRevisionLabel);
  return label == object.meta().labels.end() || label->second == revision;
}

OwnRevisions OwnRevisionsOf(std::string_view revision) {
  OwnRevisions own{std::string(revision)};
  if (revision == kRevision) own.emplace();
  return own;
}

bool IsOwn(const config::ConfigObject& object, const config::ConfigPtr& ns, const OwnRevisions& own) {
  const auto label = object.meta().labels.find(kRevisionLabel);
  if (label != object.meta().labels.end()) return own.contains(label->second);
  return ns == nullptr || own.contains(LabelOr(ns->meta().labels, kRevisionLabel));
}

}  // namespace fairlead::gateway_api
