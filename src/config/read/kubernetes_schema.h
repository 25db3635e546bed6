#ifndef FAIRLEAD_CONFIG_READ_KUBERNETES_SCHEMA_H_
#define FAIRLEAD_CONFIG_READ_KUBERNETES_SCHEMA_H_

#include <string>
#include <string_view>

#include "config/field_path.h"
#include "config/report.h"
#include "config/tree.h"

namespace fairlead::config {

// Checks a mapping against a message of the Kubernetes API ("k8s.io.api.core.v1.Service") as an API server
// does with strict field validation: unknown fields and wrong types are reported. Returns whether there were
// none. At the root of an object, `apiVersion` and `kind` are passed over. Thread-safe.
bool CheckKubernetes(Node node, std::string_view message, const FieldPath& path, Report& report);

// Whether the Kubernetes API has such a kind, "apps/v1" and "Deployment", though a mesh does not read it.
bool IsKubernetesKind(std::string_view api_version, std::string_view kind);

// The message of a core kind's group and version: "discovery.k8s.io/v1" and "EndpointSlice" give
// "k8s.io.api.discovery.v1.EndpointSlice".
std::string KubernetesMessage(std::string_view api_version, std::string_view kind);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_KUBERNETES_SCHEMA_H_
