// Package cluster stands in for a Kubernetes API server where there is none: it keeps objects, answers clients over
// HTTP, and has each object as a file in a folder, which is all that Fairlead sees. It knows nothing of what the
// objects mean; what controllers would do is done elsewhere.
package cluster

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

type object = map[string]any

type key struct {
	group, plural, namespace, name string
}

// Store keeps objects as an API server does: versions count up, the generation counts changes of anything but metadata
// and status. Thread-safe.
type Store struct {
	mutex     sync.Mutex
	objects   map[key]*unstructured.Unstructured
	revision  int64
	addresses int
	mirror    *mirror
}

func newStore(m *mirror) *Store {
	return &Store{objects: map[key]*unstructured.Unstructured{}, mirror: m}
}

func (r *Resource) key(namespace, name string) key {
	return key{r.Group, r.Plural, namespace, name}
}

func (r *Resource) notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Plural}, name)
}

// Get gives a copy.
func (s *Store) Get(r *Resource, namespace, name string) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.objects[r.key(namespace, name)]
	if found == nil {
		return nil, r.notFound(name)
	}
	return found.DeepCopy(), nil
}

// List gives copies, by namespace and name; an empty namespace stands for all.
func (s *Store) List(r *Resource, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := []*unstructured.Unstructured{}
	for k, o := range s.objects {
		if k.group == r.Group && k.plural == r.Plural && (namespace == "" || k.namespace == namespace) &&
			selector.Matches(labels.Set(o.GetLabels())) {
			found = append(found, o.DeepCopy())
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		return a.GetNamespace()+"/"+a.GetName() < b.GetNamespace()+"/"+b.GetName()
	})
	return found, s.revision
}

func (s *Store) Create(r *Resource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	k := r.key(o.GetNamespace(), o.GetName())
	if s.objects[k] != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: r.Group, Resource: r.Plural}, o.GetName())
	}
	o.SetUID(types.UID(uuid.NewString()))
	o.SetGeneration(1)
	unstructured.SetNestedField(o.Object, time.Now().UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
	if r.statusApart {
		unstructured.RemoveNestedField(o.Object, "status")
	}
	s.fillIn(r, o)
	return s.put(r, k, o)
}

// Update replaces an object, all but its status where that is written apart.
func (s *Store) Update(r *Resource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return s.replace(r, o, func(old *unstructured.Unstructured) *unstructured.Unstructured {
		keep(old, o, "metadata", "uid")
		keep(old, o, "metadata", "creationTimestamp")
		if r.statusApart {
			keep(old, o, "status")
		}
		s.fillIn(r, o)
		o.SetGeneration(old.GetGeneration())
		if !reflect.DeepEqual(desired(old), desired(o)) {
			o.SetGeneration(old.GetGeneration() + 1)
		}
		return o
	})
}

// UpdateStatus replaces the status alone.
func (s *Store) UpdateStatus(r *Resource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return s.replace(r, o, func(old *unstructured.Unstructured) *unstructured.Unstructured {
		fresh := old.DeepCopy()
		keep(o, fresh, "status")
		return fresh
	})
}

// replace puts what is made of the object that is there in its place, if `o` is not made of an earlier one.
func (s *Store) replace(r *Resource, o *unstructured.Unstructured,
	change func(old *unstructured.Unstructured) *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	k := r.key(o.GetNamespace(), o.GetName())
	old := s.objects[k]
	if err := s.mayReplace(r, old, o); err != nil {
		return nil, err
	}
	return s.put(r, k, change(old))
}

func (s *Store) Delete(r *Resource, namespace, name string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	k := r.key(namespace, name)
	if s.objects[k] == nil {
		return r.notFound(name)
	}
	s.revision++
	delete(s.objects, k)
	return s.mirror.remove(r, namespace, name)
}

func (s *Store) mayReplace(r *Resource, old, o *unstructured.Unstructured) error {
	if old == nil {
		return r.notFound(o.GetName())
	}
	if v := o.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Group: r.Group, Resource: r.Plural}, o.GetName(),
			fmt.Errorf("the object has been modified"))
	}
	return nil
}

// put takes the object over and gives a copy; an object that did not change keeps its version.
func (s *Store) put(r *Resource, k key, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if old := s.objects[k]; old != nil {
		o.SetResourceVersion(old.GetResourceVersion())
		if reflect.DeepEqual(old.Object, o.Object) {
			return o.DeepCopy(), nil
		}
	}
	s.revision++
	o.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	s.objects[k] = o
	return o.DeepCopy(), s.mirror.write(r, o)
}

// fillIn gives what an API server fills in: defaults, a Namespace's name as its label, addresses of Services.
func (s *Store) fillIn(r *Resource, o *unstructured.Unstructured) {
	version := o.GroupVersionKind().Version
	applyDefaults(o.Object, r.schemas[version])
	switch r.Kind {
	case "Namespace":
		l := o.GetLabels()
		if l == nil {
			l = map[string]string{}
		}
		l["kubernetes.io/metadata.name"] = o.GetName()
		o.SetLabels(l)
	case "Service":
		s.fillInService(o)
	}
}

func (s *Store) fillInService(o *unstructured.Unstructured) {
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "type")
	if kind == "" {
		unstructured.SetNestedField(o.Object, "ClusterIP", "spec", "type")
	}
	address, _, _ := unstructured.NestedString(o.Object, "spec", "clusterIP")
	if address != "" || kind == "ExternalName" {
		return
	}
	if old := s.objects[key{"", "services", o.GetNamespace(), o.GetName()}]; old != nil {
		keep(old, o, "spec", "clusterIP")
		keep(old, o, "spec", "clusterIPs")
		return
	}
	s.addresses++
	address = fmt.Sprintf("10.96.%d.%d", s.addresses/250, s.addresses%250+1)
	unstructured.SetNestedField(o.Object, address, "spec", "clusterIP")
	unstructured.SetNestedStringSlice(o.Object, []string{address}, "spec", "clusterIPs")
}

// keep copies a field, or its absence.
func keep(from, to *unstructured.Unstructured, fields ...string) {
	if value, there, _ := unstructured.NestedFieldCopy(from.Object, fields...); there {
		unstructured.SetNestedField(to.Object, value, fields...)
	} else {
		unstructured.RemoveNestedField(to.Object, fields...)
	}
}

// desired is what the generation counts changes of.
func desired(o *unstructured.Unstructured) object {
	rest := object{}
	for name, value := range o.Object {
		if name != "metadata" && name != "status" && name != "apiVersion" {
			rest[name] = value
		}
	}
	return rest
}
