package cluster

import (
	"io/fs"
	"path"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Resource is a kind that the server keeps, in every version in which it may be asked for.
type Resource struct {
	Group, Plural, Kind string
	Namespaced          bool
	Versions            []string
	// By version; nil where nothing is known of defaults.
	schemas map[string]*apiextensionsv1.JSONSchemaProps
	// Whether the status is written apart, by PUT and PATCH on /status.
	statusApart bool
}

func (r *Resource) defines(version string) bool {
	for _, v := range r.Versions {
		if v == version {
			return true
		}
	}
	return false
}

func (r *Resource) apiVersion(version string) string {
	return schema.GroupVersion{Group: r.Group, Version: version}.String()
}

func builtIn() []*Resource {
	resource := func(group, version, plural, kind string, namespaced bool) *Resource {
		return &Resource{Group: group, Plural: plural, Kind: kind, Namespaced: namespaced, Versions: []string{version}}
	}
	return []*Resource{
		resource("", "v1", "namespaces", "Namespace", false),
		resource("", "v1", "pods", "Pod", true),
		resource("", "v1", "services", "Service", true),
		resource("", "v1", "secrets", "Secret", true),
		resource("", "v1", "configmaps", "ConfigMap", true),
		resource("", "v1", "serviceaccounts", "ServiceAccount", true),
		resource("apps", "v1", "deployments", "Deployment", true),
		resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true),
		resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false),
	}
}

// readDefinitions reads the definitions of a folder; files of other kinds are passed over.
func readDefinitions(folder fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		text, err := fs.ReadFile(folder, path.Clean(name))
		if err != nil {
			return nil, err
		}
		for _, document := range strings.Split(string(text), "\n---") {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal([]byte(document), definition); err != nil {
				return nil, err
			}
			if definition.Kind == "CustomResourceDefinition" {
				found = append(found, definition)
			}
		}
	}
	return found, nil
}

func fromDefinition(d *apiextensionsv1.CustomResourceDefinition) *Resource {
	r := &Resource{
		Group: d.Spec.Group, Plural: d.Spec.Names.Plural, Kind: d.Spec.Names.Kind,
		Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		schemas:    map[string]*apiextensionsv1.JSONSchemaProps{},
	}
	for _, version := range d.Spec.Versions {
		if !version.Served {
			continue
		}
		r.Versions = append(r.Versions, version.Name)
		if version.Schema != nil {
			r.schemas[version.Name] = version.Schema.OpenAPIV3Schema
		}
		if version.Subresources != nil && version.Subresources.Status != nil {
			r.statusApart = true
		}
	}
	return r
}

// mapper tells clients where each kind is, so that they need not ask.
func mapper(resources []*Resource) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, r := range resources {
		scope := meta.RESTScopeRoot
		if r.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		for _, version := range r.Versions {
			gv := schema.GroupVersion{Group: r.Group, Version: version}
			m.AddSpecific(gv.WithKind(r.Kind), gv.WithResource(r.Plural), gv.WithResource(strings.ToLower(r.Kind)), scope)
		}
	}
	return m
}
