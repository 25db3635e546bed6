package inject

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Adds a network, NAME or NAMESPACE/NAME, to the annotation of the Multus plugin: a list with commas, or JSON. A list
// that has it, or that cannot be read, stays.
func appendMultusNetwork(list, network string) string {
	if list == "" {
		return network
	}
	if end := strings.LastIndex(list, "]"); end >= 0 {
		return appendToJSON(list, end, network)
	}
	for _, one := range strings.Split(list, ",") {
		if strings.TrimSpace(one) == network {
			return list
		}
	}
	return list + ", " + network
}

func appendToJSON(list string, end int, network string) string {
	namespace, name, qualified := strings.Cut(network, "/")
	if !qualified {
		namespace, name = "", network
	}
	var known []map[string]any
	if json.Unmarshal([]byte(list), &known) != nil {
		return list
	}
	for _, one := range known {
		of := one["namespace"]
		if of == nil {
			of = ""
		}
		if one["name"] == name && of == namespace {
			return list
		}
	}
	added := fmt.Sprintf(`, {"name": "%s"}`, name)
	if namespace != "" {
		added = fmt.Sprintf(`, {"name": "%s", "namespace": "%s"}`, name, namespace)
	}
	return list[:end] + added + list[end:]
}
