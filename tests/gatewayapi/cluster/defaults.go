package cluster

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// applyDefaults fills in what a definition's schema says of absent fields, as an API server does on every write.
func applyDefaults(value any, schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name := range schema.Properties {
			property := schema.Properties[name]
			if _, there := v[name]; !there && property.Default != nil {
				var fresh any
				if json.Unmarshal(property.Default.Raw, &fresh) == nil {
					v[name] = fresh
				}
			}
			if child, there := v[name]; there {
				applyDefaults(child, &property)
			}
		}
		if schema.AdditionalProperties != nil {
			for _, child := range v {
				applyDefaults(child, schema.AdditionalProperties.Schema)
			}
		}
	case []any:
		if schema.Items != nil {
			for _, child := range v {
				applyDefaults(child, schema.Items.Schema)
			}
		}
	}
}
