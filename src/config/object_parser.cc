#include <string>
#include <utility>

#include "base/strings.h"
#include "config/check/check.h"
#include "config/content_hash.h"
#include "config/endpoints.h"
#include "config/metadata.h"
#include "config/read/kubernetes_reader.h"
#include "config/read/kubernetes_schema.h"
#include "config/read/manifests.h"
#include "config/read/proto_kinds.h"
#include "config/read/proto_reader.h"
#include "config/schema/crd_schema.h"

namespace fairlead::config {
namespace {

bool IsHeader(std::string_view key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

// Custom resources have a spec and a status and nothing else.
void CheckTopLevel(Node document, Report& report) {
  for (const Node::Entry& entry : document.entries()) {
    if (IsHeader(entry.key) || entry.key == "spec" || entry.key == "status") continue;
    report.UnknownField(entry, FieldPath(), {"metadata", "spec", "status"});
  }
}

Payload ReadProtoPayload(Kind kind, Node document, Report& report) {
  CheckTopLevel(document, report);
  const Node spec = document.Find("spec");
  const std::shared_ptr<google::protobuf::Message> message = NewSpec(kind);
  if (!spec.IsNull()) ReadProto(spec, FieldPath(FieldPath(), "spec"), report, message.get());
  return {message, spec.Hash()};
}

// The document without what ObjectMeta and Origin hold. A status is not checked: an API server drops the one
// that an author writes.
Payload ReadTreePayload(const KindInfo& kind, Node document, Report& report) {
  const std::string_view api_version = document.Find("apiVersion").String();
  const bool core = kind.group == "networking.k8s.io";
  if (core) CheckKubernetes(document, KubernetesMessage(api_version, kind.name), FieldPath(), report);
  const Node schema = core ? Node() : CrdSchemaOf(kind, api_version.substr(api_version.find('/') + 1));
  if (schema) CheckTopLevel(document, report);
  const FieldPath root;
  TreeBuilder builder;
  builder.BeginMapping(document.line());
  for (const Node::Entry& entry : document.entries()) {
    if (IsHeader(entry.key) || entry.value.IsNull()) continue;
    builder.Key(entry.key, entry.key_line);
    const Node below = entry.key == "status" ? Node() : schema.Find("properties").Find(entry.key);
    CopyBySchema(entry.value, below, FieldPath(root, entry.key), report, builder);
  }
  builder.End();
  auto tree = std::make_shared<const Tree>(builder.Build());
  const Hash128 hash = tree->root().Hash();
  return {std::move(tree), hash};
}

// Kubernetes' own kinds are checked against its schema. Custom resources have none there.
bool IsCustomResource(const KindInfo& kind) {
  return kind.kind == Kind::kServiceExport || kind.kind == Kind::kServiceImport;
}

bool CheckStruct(const KindInfo& kind, std::string_view api_version, Node document, Report& report) {
  return IsCustomResource(kind) ||
         CheckKubernetes(document, KubernetesMessage(api_version, kind.name), FieldPath(), report);
}

Payload ReadStructPayload(const KindInfo& kind, Node document, Report& report) {
  if (IsCustomResource(kind)) CheckTopLevel(document, report);
  if (!CheckStruct(kind, document.Find("apiVersion").String(), document, report)) return {};
  return ReadKubernetes(kind, document, report);
}

// An API server has filled in the defaults and knows its own schema better than we do.
Payload CopyStoredTree(Node document) {
  TreeBuilder builder;
  builder.BeginMapping(document.line());
  for (const Node::Entry& entry : document.entries()) {
    if (IsHeader(entry.key) || entry.value.IsNull()) continue;
    builder.Key(entry.key, entry.key_line);
    builder.Copy(entry.value);
  }
  builder.End();
  auto tree = std::make_shared<const Tree>(builder.Build());
  const Hash128 hash = tree->root().Hash();
  return {std::move(tree), hash};
}

Payload ReadStoredProto(Kind kind, Node document, Report& report) {
  const Node spec = document.Find("spec");
  const std::shared_ptr<google::protobuf::Message> message = NewSpec(kind);
  if (!spec.IsNull())
    ReadProto(spec, FieldPath(FieldPath(), "spec"), report, message.get(), UnknownFields::kWarning);
  return {message, spec.Hash()};
}

ConfigPtr MakeObject(const KindInfo& kind, std::string_view api_version, ObjectMeta meta, Node document,
                     Payload payload, const Interned& file) {
  std::shared_ptr<const ObjectStatus> status = ReadStatus(kind.kind, document);
  ContentHash hash;
  hash.Add(static_cast<uint8_t>(kind.kind)).Add(meta).Add(payload.hash);
  if (status != nullptr) hash.Add(*status);
  Origin origin{file, document.line(), api_version};
  return std::make_shared<const ConfigObject>(kind.kind, std::move(meta), std::move(origin),
                                              std::move(payload.value), hash.value(), std::move(status));
}

}  // namespace

ConfigPtr ParseObject(const KindInfo& kind, const ObjectKey& key, Node document, Report& report) {
  const size_t errors_before = report.errors();
  const bool metadata_checked = kind.payload == PayloadType::kStruct || kind.group == "networking.k8s.io";
  Payload payload;
  switch (kind.payload) {
    case PayloadType::kProto:
      payload = ReadProtoPayload(kind.kind, document, report);
      break;
    case PayloadType::kStruct:
      payload = ReadStructPayload(kind, document, report);
      break;
    case PayloadType::kTree:
      payload = ReadTreePayload(kind, document, report);
      break;
  }
  ObjectMeta meta = ReadMetadata(key, document, metadata_checked, report);
  if (IsEndpoints(kind)) LabelMirror(meta);
  if (report.errors() != errors_before) return nullptr;
  return MakeObject(kind, document.Find("apiVersion").String(), std::move(meta), document, std::move(payload),
                    report.file());
}

ConfigPtr ReadStoredObject(const KindInfo& kind, std::string_view api_version, const ObjectKey& key,
                           Node document, Report& report) {
  const size_t errors_before = report.errors();
  report.PassOverUnknownFields();
  Payload payload;
  switch (kind.payload) {
    case PayloadType::kProto:
      payload = ReadStoredProto(kind.kind, document, report);
      break;
    case PayloadType::kStruct:
      if (CheckStruct(kind, api_version, document, report)) payload = ReadKubernetes(kind, document, report);
      break;
    case PayloadType::kTree:
      payload = CopyStoredTree(document);
      break;
  }
  ObjectMeta meta = ReadMetadata(key, document, kind.payload == PayloadType::kStruct, report);
  if (report.errors() != errors_before) return nullptr;
  return MakeObject(kind, api_version, std::move(meta), document, std::move(payload), report.file());
}

ConfigPtr AdmitObject(const KindInfo& kind, const ObjectKey& key, Node document, Report& report) {
  ConfigPtr object = ParseObject(kind, key, document, report);
  if (object == nullptr) return nullptr;
  const size_t errors_before = report.errors();
  if (kind.payload == PayloadType::kProto) {
    check::CheckObject(kind, object->meta(), document, object->Spec<google::protobuf::Message>(), report);
  } else if (kind.payload == PayloadType::kTree && kind.group != "networking.k8s.io") {
    check::CheckDefinition(kind, object->origin().api_version, object->meta(), object->Spec<Tree>().root(),
                           report);
  }
  return report.errors() == errors_before ? object : nullptr;
}

}  // namespace fairlead::config
