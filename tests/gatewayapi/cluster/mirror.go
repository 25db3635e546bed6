package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mirror has a file for each object, in the manner of a folder of manifests.
type mirror struct {
	folder string
}

// What Fairlead reads of a cluster; definitions are not among it.
func mirrored(r *Resource) bool {
	return r.Group != "apiextensions.k8s.io"
}

func (m *mirror) path(r *Resource, namespace, name string) string {
	words := []string{r.Kind}
	if r.Namespaced {
		words = append(words, namespace)
	}
	return filepath.Join(m.folder, strings.Join(append(words, name), "_")+".json")
}

// write replaces the file of an object; readers see the old one or the new one. Statuses that Fairlead computes are left
// out: they come from it.
func (m *mirror) write(r *Resource, o *unstructured.Unstructured) error {
	if !mirrored(r) {
		return nil
	}
	shown := o.DeepCopy()
	if r.statusApart {
		unstructured.RemoveNestedField(shown.Object, "status")
		shown.SetResourceVersion("")
	}
	text, err := json.MarshalIndent(shown.Object, "", " ")
	if err != nil {
		return err
	}
	path := m.path(r, o.GetNamespace(), o.GetName())
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	fresh := filepath.Join(m.folder, "."+filepath.Base(path)+".new")
	if err := os.WriteFile(fresh, text, 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func (m *mirror) remove(r *Resource, namespace, name string) error {
	if !mirrored(r) {
		return nil
	}
	return os.Remove(m.path(r, namespace, name))
}
