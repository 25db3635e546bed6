package inject

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"text/template"

	"google.golang.org/protobuf/types/known/durationpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const emptyObject = "{}"

// The functions that Istio adds to sprig's; of equal names these count. Their types decide how the engine refuses
// arguments.
func functions(environment map[string]string) template.FuncMap {
	same := func(s string) string { return s }
	return template.FuncMap{
		"annotation":             annotation,
		"appendMultusNetwork":    appendMultusNetwork,
		"applicationPorts":       applicationPorts,
		"contains":               func(needle, haystack string) bool { return strings.Contains(haystack, needle) },
		"directory":              func(file string) string { folder, _ := path.Split(file); return folder },
		"env":                    environmentReader(environment),
		"excludeInboundPort":     excludeInboundPort,
		"excludeInterfaces":      same,
		"formatDuration":         func(d *durationpb.Duration) string { return d.AsDuration().String() },
		"fromJSON":               fromJSON,
		"includeInboundPorts":    includeInboundPorts,
		"indent":                 indent,
		"isset":                  func(m map[string]string, key string) bool { _, found := m[key]; return found },
		"kubevirtInterfaces":     same,
		"mergeMaps":              mergeMaps,
		"omit":                   omit,
		"omitNil":                omitNil,
		"otelResourceAttributes": otelResourceAttributes,
		"protoToJSON":            protoToJSON,
		"strdict":                strdict,
		"structToJSON":           structToJSON,
		"toJSON":                 toJSON,
		"toJsonMap":              toJSONMap,
		"toLower":                strings.ToLower,
		"toYaml":                 toYaml,
		"valueOrDefault":         valueOrDefault,
	}
}

func environmentReader(first map[string]string) func(string, string) string {
	return func(name, fallback string) string {
		value, found := first[name]
		if !found {
			value = os.Getenv(name)
		}
		if value == "" {
			return fallback
		}
		return value
	}
}

func annotation(meta metav1.ObjectMeta, name string, fallback any) string {
	if value, found := meta.Annotations[name]; found {
		return value
	}
	return fmt.Sprint(fallback)
}

func valueOrDefault(value any, fallback any) any {
	if value == nil || value == "" {
		return fallback
	}
	return value
}

// A list that has the port already, and one that nothing is added to, stays as it is written.
func excludeInboundPort(port any, list string) string {
	added := strings.TrimSpace(fmt.Sprint(port))
	if added == "" || added == "0" {
		return list
	}
	var kept []string
	for _, one := range strings.Split(list, ",") {
		if one == added {
			return list
		}
		if one = strings.TrimSpace(one); one != "" {
			kept = append(kept, one)
		}
	}
	return strings.Join(append(kept, added), ",")
}

func includeInboundPorts(containers []corev1.Container) string { return tcpPorts(containers, "") }

func applicationPorts(containers []corev1.Container) string {
	return tcpPorts(containers, "istio-proxy")
}

// The ports of all containers but the one of that name; no protocol is TCP.
func tcpPorts(containers []corev1.Container, without string) string {
	var ports []string
	for _, container := range containers {
		if container.Name == without && without != "" {
			continue
		}
		for _, port := range container.Ports {
			if port.Protocol != corev1.ProtocolUDP && port.Protocol != corev1.ProtocolSCTP {
				ports = append(ports, fmt.Sprint(port.ContainerPort))
			}
		}
	}
	return strings.Join(ports, ",")
}

func indent(blanks int, text string) string {
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = fmt.Sprintf("%*s%s", blanks, "", lines[i])
	}
	return strings.Join(lines, "\n")
}

func toYaml(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

func jsonOr(value any, fallback string) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fallback
	}
	return string(text)
}

func toJSON(m map[string]string) string {
	if m == nil {
		return emptyObject
	}
	return jsonOr(m, emptyObject)
}

func structToJSON(value any) string {
	if value == nil {
		return emptyObject
	}
	return jsonOr(value, emptyObject)
}

func toJSONMap(maps ...map[string]string) string { return jsonOr(mergeMaps(maps...), "") }

func fromJSON(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return emptyObject
	}
	return value
}

func strdict(words ...string) map[string]string {
	made := map[string]string{}
	for len(words) > 1 {
		made[words[0]] = words[1]
		words = words[2:]
	}
	if len(words) == 1 {
		made[words[0]] = ""
	}
	return made
}

func mergeMaps(maps ...map[string]string) map[string]string {
	if len(maps) == 0 {
		return nil
	}
	merged := map[string]string{}
	for _, one := range maps {
		for key, value := range one {
			merged[key] = value
		}
	}
	return merged
}

func omit(m map[string]string, names ...string) map[string]string {
	rest := mergeMaps(m)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// Without nulls, and without the maps and lists that become empty by that; those that were empty stay.
func omitNil(value any) any {
	rest, _ := withoutNil(value)
	return rest
}

func withoutNil(value any) (rest any, changed bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case map[string]any:
		kept := make(map[string]any, len(value))
		for key, member := range value {
			inner, different := withoutNil(member)
			changed = changed || different
			if inner != nil {
				kept[key] = inner
			}
		}
		if changed && len(kept) == 0 {
			return nil, true
		}
		if changed {
			return kept, true
		}
	case []any:
		kept := make([]any, 0, len(value))
		for _, element := range value {
			inner, different := withoutNil(element)
			changed = changed || different
			if inner != nil {
				kept = append(kept, inner)
			}
		}
		if changed && len(kept) == 0 {
			return nil, true
		}
		if changed {
			return kept, true
		}
	}
	return value, false
}
