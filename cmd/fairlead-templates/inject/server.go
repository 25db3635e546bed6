package inject

import (
	"encoding/json"
	"errors"
	"sort"
	"text/template"

	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Server holds the configuration that was loaded last.
type Server struct {
	mostOutput int
	number     int
	templates  map[string]*template.Template
	values     map[string]any
	mesh       *meshconfig.MeshConfig
}

// NewServer makes one whose templates may write so many bytes each.
func NewServer(mostOutput int) *Server { return &Server{mostOutput: mostOutput} }

type request struct {
	Load *loadRequest `json:"load"`
	Run  *runRequest  `json:"run"`

	Gateway *gatewayRequest `json:"gateway"`
}

// A configuration: the two texts of the injector's ConfigMap, and the encoded MeshConfig.
type loadRequest struct {
	Number      int               `json:"number"`
	Config      string            `json:"config"`
	Values      string            `json:"values"`
	Mesh        []byte            `json:"mesh"`
	Environment map[string]string `json:"environment"` // before the process's own
}

// Either what was read, or why it cannot be.
type loadAnswer struct {
	Config      *Config        `json:"config,omitempty"`
	Templates   []string       `json:"templates"`
	Values      map[string]any `json:"values"`
	ConfigError string         `json:"configError,omitempty"`
	ValuesError string         `json:"valuesError,omitempty"`
}

type runRequest struct {
	Number                   int                  `json:"number"`
	Templates                []string             `json:"templates"`
	Pod                      corev1.Pod           `json:"pod"`
	Type                     metav1.TypeMeta      `json:"type"`
	Owner                    types.NamespacedName `json:"owner"`
	ProxyConfig              []byte               `json:"proxyConfig"`
	Revision                 string               `json:"revision"`
	NativeSidecars           bool                 `json:"nativeSidecars"`
	ProxyImage               string               `json:"proxyImage"`
	ProxyInitImage           string               `json:"proxyInitImage"`
	ProxyUID                 int64                `json:"proxyUID"`
	ProxyGID                 int64                `json:"proxyGID"`
	InboundTrafficPolicyMode string               `json:"inboundTrafficPolicyMode"`
	CompliancePolicy         string               `json:"compliancePolicy"`
}

// Of each template up to the first that fails: the mapping that its output is as YAML, or that it is none.
type rendered struct {
	Overlay   map[string]any `json:"overlay,omitempty"`
	NoMapping bool           `json:"noMapping,omitempty"`
	Error     string         `json:"error,omitempty"`
}

type runAnswer struct {
	Rendered []rendered `json:"rendered,omitempty"`
	Unloaded bool       `json:"unloaded,omitempty"` // another configuration is loaded than was meant
	Broken   string     `json:"broken,omitempty"`   // the request itself
}

// Answer gives the answer to one request, ready to be encoded.
func (s *Server) Answer(text []byte) any {
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return runAnswer{Broken: err.Error()}
	}
	switch {
	case r.Load != nil:
		return s.load(r.Load)
	case r.Run != nil:
		return s.run(r.Run)
	case r.Gateway != nil:
		return s.runGateway(r.Gateway)
	default:
		return runAnswer{Broken: "neither load, run nor gateway"}
	}
}

func (s *Server) load(r *loadRequest) loadAnswer {
	s.number, s.templates = 0, nil
	config, err := readConfig(r.Config)
	if err != nil {
		return loadAnswer{ConfigError: err.Error()}
	}
	templates, err := parseAll(config.Templates, functions(r.Environment))
	if err != nil {
		return loadAnswer{ConfigError: err.Error()}
	}
	values, err := readValues(r.Values)
	if err != nil {
		return loadAnswer{ValuesError: err.Error()}
	}
	mesh := &meshconfig.MeshConfig{}
	if err := proto.Unmarshal(r.Mesh, mesh); err != nil {
		return loadAnswer{ConfigError: err.Error()}
	}
	s.number, s.templates, s.values, s.mesh = r.Number, templates, values, mesh
	names := make([]string, 0, len(templates))
	for name := range templates {
		names = append(names, name)
	}
	sort.Strings(names)
	config.Templates = nil
	return loadAnswer{Config: config, Templates: names, Values: values}
}

func (s *Server) run(r *runRequest) runAnswer {
	if r.Number != s.number || s.templates == nil {
		return runAnswer{Unloaded: true}
	}
	proxy := &meshconfig.ProxyConfig{}
	if err := proto.Unmarshal(r.ProxyConfig, proxy); err != nil {
		return runAnswer{Broken: err.Error()}
	}
	data := SidecarTemplateData{
		TypeMeta:                 r.Type,
		DeploymentMeta:           r.Owner,
		ObjectMeta:               r.Pod.ObjectMeta,
		Spec:                     r.Pod.Spec,
		ProxyConfig:              proxy,
		MeshConfig:               s.mesh,
		Values:                   s.values,
		Revision:                 r.Revision,
		NativeSidecars:           r.NativeSidecars,
		ProxyImage:               r.ProxyImage,
		ProxyInitImage:           r.ProxyInitImage,
		ProxyUID:                 r.ProxyUID,
		ProxyGID:                 r.ProxyGID,
		InboundTrafficPolicyMode: r.InboundTrafficPolicyMode,
		CompliancePolicy:         r.CompliancePolicy,
	}
	var all []rendered
	for _, name := range r.Templates {
		one := s.render(name, &data)
		all = append(all, one)
		if one.Error != "" || one.NoMapping {
			break
		}
	}
	return runAnswer{Rendered: all}
}

func (s *Server) render(name string, data *SidecarTemplateData) rendered {
	parsed, found := s.templates[name]
	if !found {
		return rendered{Error: "no template " + name}
	}
	out := boundedText{most: s.mostOutput}
	if err := parsed.Execute(&out, data); err != nil {
		return rendered{Error: err.Error()}
	}
	overlay := map[string]any{}
	if err := yaml.Unmarshal(out.text, &overlay); err != nil {
		return rendered{NoMapping: true}
	}
	return rendered{Overlay: overlay}
}

// A writer that fails beyond a size.
type boundedText struct {
	text []byte
	most int
}

var errTooLong = errors.New("the template writes more than is allowed")

func (b *boundedText) Write(more []byte) (int, error) {
	if len(b.text)+len(more) > b.most {
		return 0, errTooLong
	}
	b.text = append(b.text, more...)
	return len(more), nil
}
