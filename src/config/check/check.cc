#include "config/check/check.h"

#include "base/go_bool.h"
#include "config/check/kinds.h"
#include "config/check/names.h"
#include "config/derived_object.h"
#include "config/schema/api_schema.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::config::check {
namespace {

using istio::security::v1beta1::AuthorizationPolicy;

KindCheck FindCheck(Kind kind) {
  switch (kind) {
    case Kind::kVirtualService:
      return CheckVirtualService;
    case Kind::kDestinationRule:
      return CheckDestinationRule;
    case Kind::kServiceEntry:
      return CheckServiceEntry;
    case Kind::kWorkloadEntry:
      return CheckWorkloadEntry;
    case Kind::kWorkloadGroup:
      return CheckWorkloadGroup;
    case Kind::kGateway:
      return CheckGateway;
    case Kind::kSidecar:
      return CheckSidecar;
    case Kind::kEnvoyFilter:
      return CheckEnvoyFilter;
    case Kind::kProxyConfig:
      return CheckProxyConfig;
    case Kind::kPeerAuthentication:
      return CheckPeerAuthentication;
    case Kind::kRequestAuthentication:
      return CheckRequestAuthentication;
    case Kind::kAuthorizationPolicy:
      return CheckAuthorizationPolicy;
    case Kind::kTelemetry:
      return CheckTelemetry;
    case Kind::kWasmPlugin:
      return CheckWasmPlugin;
    case Kind::kTrafficExtension:
      return CheckTrafficExtension;
    default:
      return nullptr;
  }
}

void CheckDryRun(Kind kind, std::string_view value, const google::protobuf::Message& spec, const Spot& at) {
  if (kind != Kind::kAuthorizationPolicy)
    return at.Error("unsupported", "only an AuthorizationPolicy may have this annotation");
  const auto action = static_cast<const AuthorizationPolicy&>(spec).action();
  if (action != AuthorizationPolicy::ALLOW && action != AuthorizationPolicy::DENY)
    return at.Error("unsupported", "a dry run is only possible with the actions ALLOW and DENY");
  if (!ParseGoBool(value)) at.Refuse(StrCat("expected true or false, got \"", value, "\""));
}

// Annotations that Istio keeps for itself, or that not every kind may have.
void CheckAnnotations(Kind kind, const google::protobuf::Message& spec, const Spot& root) {
  const Spot metadata(root, "metadata");
  const Spot annotations(metadata, "annotations");
  for (const auto& [name, value] : root.meta().annotations) {
    const Spot at(annotations, name);
    if (name == "istio.io/dry-run") CheckDryRun(kind, value, spec, at);
    if (name == "internal.istio.io/webhook-always-reject")
      at.Error("unsupported", "this annotation refuses the object");
    if (name == kParentsAnnotation || name == kParentNamespaceAnnotation)
      at.Error("unsupported", "this annotation may not be set by users");
  }
}

// What was a Gateway API object before may be called otherwise.
bool HasGatewayName(const ObjectMeta& meta) {
  const auto semantics = meta.annotations.find(kGatewaySemanticsAnnotation);
  return IsDns1123Label(meta.name) ||
         (semantics != meta.annotations.end() && semantics->second == kGatewaySemantics);
}

// Kubernetes' rules for the metadata of every object.
void CheckMetadata(Kind kind, const Spot& root) {
  const Spot metadata(root, "metadata");
  if (kind == Kind::kGateway && !HasGatewayName(root.meta()))
    metadata.Field("name").Error("invalid-value", "a gateway's name is one DNS label");
  if (!IsDns1123Subdomain(root.meta().name)) {
    metadata.Field("name").Error(
        "invalid-value",
        "a name has lower-case letters, digits, \"-\" and \".\", and begins and ends with a letter or digit");
  }
  const Spot labels(metadata, "labels");
  for (const auto& [name, value] : root.meta().labels) labels.Field(name).Refuse(LabelProblem(name, value));
}

void CheckSchema(const KindInfo& kind, std::string_view api_version, Subject subject) {
  CelBudget budget;
  subject.cel_budget = &budget;
  const Node document = subject.document;
  const ApiSchema* schema = ApiSchemaOf(kind, api_version.substr(api_version.find('/') + 1));
  if (schema == nullptr) return;
  const Spot root(subject);
  for (const std::string& name : schema->required) {
    if (document.Find(name).IsNull()) root.Field(name).Error("missing-field", "this field is required");
  }
  const auto it = schema->properties.find("spec");
  const Node written = document.Find("spec");
  if (it != schema->properties.end() && !written.IsNull())
    CheckBySchema(written, *it->second, Spot(root, "spec"));
}

}  // namespace

void CheckObject(const KindInfo& kind, const ObjectMeta& meta, Node document,
                 const google::protobuf::Message& message, Report& report) {
  const KindCheck check = FindCheck(kind.kind);
  if (check == nullptr) return;
  std::set<std::string> wrong;
  const Subject subject{report, document, meta, &wrong};
  const Spot root(subject);
  CheckMetadata(kind.kind, root);
  CheckAnnotations(kind.kind, message, root);
  check(message, Spot(root, "spec"));
  // Many rules of the schema say what was found by now, in other words.
  CheckSchema(kind, document.Find("apiVersion").String(), Subject{report, document, meta, nullptr, &wrong});
}

void CheckDefinition(const KindInfo& kind, std::string_view api_version, const ObjectMeta& meta,
                     Node document, Report& report) {
  CheckSchema(kind, api_version, Subject{report, document, meta});
}

}  // namespace fairlead::config::check
