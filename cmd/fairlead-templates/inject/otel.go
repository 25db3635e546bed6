package inject

import (
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// The attributes of a service after OpenTelemetry's conventions for Kubernetes
// (https://opentelemetry.io/docs/specs/semconv/non-normative/k8s-attributes), if a provider of the mesh asks for them.
func otelResourceAttributes(mesh *meshconfig.MeshConfig, annotations, labels map[string]string, namespace string,
	containers []corev1.Container,
) string {
	if !wantsAttributes(mesh) {
		return ""
	}
	const own = "resource.opentelemetry.io/"
	var all []string
	add := func(name string, candidates ...string) {
		for _, value := range candidates {
			if value != "" {
				all = append(all, name+"="+value)
				return
			}
		}
	}
	version, instance := "", ""
	if len(containers) == 1 {
		version = versionOfImage(containers[0].Image)
	}
	if len(containers) > 0 {
		// The name of the pod is not known: Kubernetes puts it in.
		instance = namespace + ".$(POD_NAME)." + containers[0].Name
	}
	add("service.namespace", annotations[own+"service.namespace"], namespace)
	add("service.version", annotations[own+"service.version"], labels["app.kubernetes.io/version"], version)
	add("service.instance.id", annotations[own+"service.instance.id"], instance)
	return strings.Join(all, ",")
}

func wantsAttributes(mesh *meshconfig.MeshConfig) bool {
	for _, provider := range mesh.GetExtensionProviders() {
		if provider.GetOpentelemetry().GetServiceAttributeEnrichment() ==
			meshconfig.MeshConfig_ExtensionProvider_OTEL_SEMANTIC_CONVENTIONS {
			return true
		}
	}
	return false
}

// TAG, DIGEST or TAG@DIGEST of [HOST[:PORT]/]NAME[:TAG][@DIGEST].
func versionOfImage(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	tag := ""
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		tag = name[colon+1:]
	}
	if tag != "" && digest != "" {
		return tag + "@" + digest
	}
	return tag + digest
}
