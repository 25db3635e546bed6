// Package inject runs an injector's templates. Its name, and that of the data's type, are part of the texts of errors
// that authors of templates see, which are Istio's.
package inject

import (
	"fmt"
	"sort"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// SidecarTemplateData is what a template sees as the dot.
type SidecarTemplateData struct {
	TypeMeta                 metav1.TypeMeta
	DeploymentMeta           types.NamespacedName
	ObjectMeta               metav1.ObjectMeta
	Spec                     corev1.PodSpec
	ProxyConfig              *meshconfig.ProxyConfig
	MeshConfig               *meshconfig.MeshConfig
	Values                   map[string]any
	Revision                 string
	NativeSidecars           bool
	ProxyImage               string
	ProxyInitImage           string
	ProxyUID                 int64
	ProxyGID                 int64
	InboundTrafficPolicyMode string
	CompliancePolicy         string
}

// InjectionPolicy says which pods are injected that do not say so themselves.
type InjectionPolicy string

// RawTemplates are texts by name.
type RawTemplates map[string]string

// Config is the member config of the injector's ConfigMap.
type Config struct {
	Policy               InjectionPolicy        `json:"policy"`
	DefaultTemplates     []string               `json:"defaultTemplates"`
	Templates            RawTemplates           `json:"templates"`
	Aliases              map[string][]string    `json:"aliases"`
	NeverInjectSelector  []metav1.LabelSelector `json:"neverInjectSelector"`
	AlwaysInjectSelector []metav1.LabelSelector `json:"alwaysInjectSelector"`
	InjectedAnnotations  map[string]string      `json:"injectedAnnotations"`
}

func readConfig(text string) (*Config, error) {
	config := &Config{}
	if err := yaml.Unmarshal([]byte(text), config); err != nil {
		return nil, fmt.Errorf("failed to unmarshal injection template: %v", err)
	}
	if len(config.DefaultTemplates) == 0 {
		config.DefaultTemplates = []string{"sidecar"}
	}
	return config, nil
}

// The values as templates see them. Nothing counts as no values.
func readValues(text string) (map[string]any, error) {
	if _, err := yaml.YAMLToJSON([]byte(text)); err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		return nil, err
	}
	return values, nil
}

// Parses in the order of the names, so that of several that cannot be read always the same is told.
func parseAll(texts RawTemplates, own template.FuncMap) (map[string]*template.Template, error) {
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	sort.Strings(names)
	all := make(map[string]*template.Template, len(texts))
	for _, name := range names {
		parsed, err := template.New("inject").Funcs(sprig.TxtFuncMap()).Funcs(own).Parse(texts[name])
		if err != nil {
			return nil, err
		}
		all[name] = parsed
	}
	return all, nil
}
