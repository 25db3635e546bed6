#include "config/metadata.h"

#include <string>
#include <utility>

#include "base/time_text.h"
#include "config/endpoints.h"
#include "config/read/kubernetes_schema.h"

namespace fairlead::config {
namespace {

LabelMap ReadLabels(Node mapping) {
  LabelMap labels;
  for (const Node::Entry& entry : mapping.entries())
    labels.emplace_hint(labels.end(), entry.key, entry.value.String());
  return labels;
}

OwnerReference ReadOwner(Node node) {
  OwnerReference owner;
  owner.api_version = node.Find("apiVersion").String();
  owner.kind = node.Find("kind").String();
  owner.name = node.Find("name").String();
  owner.controller = node.Find("controller").Bool();
  return owner;
}

}  // namespace

std::optional<ObjectKey> ReadKey(const KindInfo& kind, Node document) {
  const Node metadata = document.Find("metadata");
  // Texts that YAML takes for something else, such as a namespace `n`, are mistakes, but tell who is meant.
  const std::string_view name = metadata.Find("name").text();
  if (name.empty()) return std::nullopt;
  const std::string_view ns = metadata.Find("namespace").text();
  return ObjectKey{kind.kind,
                   !kind.namespaced ? ""
                   : ns.empty()     ? "default"
                                    : ns,
                   IsEndpoints(kind) ? Interned(MirrorName(name)) : Interned(name)};
}

ObjectMeta ReadMetadata(const ObjectKey& key, Node document, bool checked, Report& report) {
  const Node metadata = document.Find("metadata");
  if (!checked) {
    CheckKubernetes(metadata, "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                    FieldPath(FieldPath(), "metadata"), report);
  }
  ObjectMeta meta;
  meta.name = key.name;
  meta.ns = key.ns;
  meta.cluster = key.cluster;
  for (const Node::Entry& entry : metadata.entries()) {
    if (entry.value.IsNull()) continue;
    if (entry.key == "labels") meta.labels = ReadLabels(entry.value);
    if (entry.key == "annotations") meta.annotations = ReadLabels(entry.value);
    if (entry.key == "creationTimestamp") {
      if (const auto time = ParseTimestamp(entry.value.text())) meta.creation_time = time->seconds;
    }
    if (entry.key == "generateName") meta.generate_name = entry.value.String();
    if (entry.key == "generation") meta.generation = entry.value.Int().value_or(0);
    if (entry.key == "deletionTimestamp") meta.deleting = true;
    if (entry.key == "uid") meta.uid = entry.value.String();
    if (entry.key == "resourceVersion") meta.resource_version = entry.value.String();
    if (entry.key == "ownerReferences") {
      for (Node owner : entry.value.elements()) meta.owners.push_back(ReadOwner(owner));
    }
  }
  return meta;
}

std::shared_ptr<const ObjectStatus> ReadStatus(Kind kind, Node document) {
  if (kind != Kind::kServiceEntry && kind != Kind::kWorkloadEntry) return nullptr;
  const Node node = document.Find("status");
  ObjectStatus status;
  for (Node address : node.Find("addresses").elements()) {
    status.addresses.push_back(
        {std::string(address.Find("host").String()), std::string(address.Find("value").String())});
  }
  for (Node condition : node.Find("conditions").elements()) {
    status.conditions.push_back(
        {std::string(condition.Find("type").String()), std::string(condition.Find("status").String())});
  }
  if (status == ObjectStatus()) return nullptr;
  return std::make_shared<const ObjectStatus>(std::move(status));
}

}  // namespace fairlead::config
