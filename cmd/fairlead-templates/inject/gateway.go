package inject

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// GatewayTemplateData is the dot of a template that makes the objects of a Gateway's deployment. What the Gateway has is
// there without a prefix: .Name, .Namespace, .UID, .ObjectMeta, .Spec.
type GatewayTemplateData struct {
	*gatewayv1.Gateway
	GatewayClass              string
	DeploymentName            string
	ServiceAccount            string
	Ports                     []corev1.ServicePort
	ServiceType               corev1.ServiceType
	ClusterID                 string
	KubeVersion               int
	Revision                  string
	NativeSidecars            bool
	ProxyUID                  int64
	ProxyGID                  int64
	CompliancePolicy          string
	InfrastructureLabels      map[string]string
	InfrastructureAnnotations map[string]string
	GatewayNameLabel          string
	IsEastWestGateway         bool
	ControllerLabel           string

	ProxyImage        string
	AgentgatewayImage string
	ProxyConfig       *meshconfig.ProxyConfig
	MeshConfig        *meshconfig.MeshConfig
	Values            map[string]any
}

// What the caller tells of a Gateway, and texts of YAML that it wants to be read along.
type gatewayRequest struct {
	Number                    int                  `json:"number"`
	Template                  string               `json:"template"`
	Gateway                   gatewayv1.Gateway    `json:"gateway"`
	GatewayClass              string               `json:"gatewayClass"`
	DeploymentName            string               `json:"deploymentName"`
	ServiceAccount            string               `json:"serviceAccount"`
	Ports                     []corev1.ServicePort `json:"ports"`
	ServiceType               corev1.ServiceType   `json:"serviceType"`
	ClusterID                 string               `json:"clusterID"`
	KubeVersion               int                  `json:"kubeVersion"`
	Revision                  string               `json:"revision"`
	NativeSidecars            bool                 `json:"nativeSidecars"`
	ProxyUID                  int64                `json:"proxyUID"`
	ProxyGID                  int64                `json:"proxyGID"`
	CompliancePolicy          string               `json:"compliancePolicy"`
	InfrastructureLabels      map[string]string    `json:"infrastructureLabels"`
	InfrastructureAnnotations map[string]string    `json:"infrastructureAnnotations"`
	ControllerLabel           string               `json:"controllerLabel"`
	ProxyImage                string               `json:"proxyImage"`
	ProxyConfig               []byte               `json:"proxyConfig"`
	Overlays                  []string             `json:"overlays"`
}

// The objects in the order of the template's output, and each overlay; or why there are none.
type gatewayAnswer struct {
	Objects  []map[string]any `json:"objects"`
	Overlays []map[string]any `json:"overlays"`
	Error    string           `json:"error,omitempty"`
}

func (s *Server) runGateway(r *gatewayRequest) any {
	if r.Number != s.number || s.templates == nil {
		return runAnswer{Unloaded: true}
	}
	proxy := &meshconfig.ProxyConfig{}
	if err := proto.Unmarshal(r.ProxyConfig, proxy); err != nil {
		return runAnswer{Broken: err.Error()}
	}
	objects, err := s.gatewayObjects(r.Template, &GatewayTemplateData{
		Gateway:                   &r.Gateway,
		GatewayClass:              r.GatewayClass,
		DeploymentName:            r.DeploymentName,
		ServiceAccount:            r.ServiceAccount,
		Ports:                     r.Ports,
		ServiceType:               r.ServiceType,
		ClusterID:                 r.ClusterID,
		KubeVersion:               r.KubeVersion,
		Revision:                  r.Revision,
		NativeSidecars:            r.NativeSidecars,
		ProxyUID:                  r.ProxyUID,
		ProxyGID:                  r.ProxyGID,
		CompliancePolicy:          r.CompliancePolicy,
		InfrastructureLabels:      r.InfrastructureLabels,
		InfrastructureAnnotations: r.InfrastructureAnnotations,
		GatewayNameLabel:          "gateway.networking.k8s.io/gateway-name",
		ControllerLabel:           r.ControllerLabel,
		ProxyImage:                r.ProxyImage,
		ProxyConfig:               proxy,
		MeshConfig:                s.mesh,
		Values:                    s.values,
	})
	if err != nil {
		return gatewayAnswer{Error: err.Error()}
	}
	answer := gatewayAnswer{Objects: objects}
	for _, text := range r.Overlays {
		overlay := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &overlay); err != nil {
			return gatewayAnswer{Error: "strategic merge patch failed: invalid JSON document"}
		}
		if overlay == nil { // the text says null
			overlay = map[string]any{}
		}
		answer.Overlays = append(answer.Overlays, overlay)
	}
	return answer
}

func (s *Server) gatewayObjects(name string, data *GatewayTemplateData) ([]map[string]any, error) {
	parsed, found := s.templates[name]
	if !found {
		return nil, fmt.Errorf("no %q template defined", name)
	}
	out := boundedText{most: s.mostOutput}
	if err := parsed.Execute(&out, data); err != nil {
		return nil, err
	}
	var objects []map[string]any
	for _, document := range yamlDocuments(string(out.text)) {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("the template's output is no YAML mapping: %v", err)
		}
		if len(object) > 0 {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// The texts between the lines that begin with three dashes.
func yamlDocuments(text string) []string {
	var all []string
	var one strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if !strings.HasPrefix(line, "---") {
			one.WriteString(line)
			continue
		}
		all = append(all, one.String())
		one.Reset()
	}
	return append(all, one.String())
}
