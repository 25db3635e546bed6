package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Folders where the server meets the others.
type Folders struct {
	Objects  string // a file an object, written
	Statuses string // --statusDir of Fairlead, read
	Logs     string // NAMESPACE_POD, what a container printed: lines, each after its time; read
	Networks string // NAMESPACE_POD, the name of the Pod's network namespace; read
	Client   string // the program that is `client` in a Pod of the mesh
}

// Server answers as an API server does, as far as clients need it: create, read, list by labels, replace, merge patch,
// delete, status and a container's log.
type Server struct {
	Mapper    meta.RESTMapper
	folders   Folders
	resources []*Resource
	store     *Store
}

// New makes a server that knows Kubernetes' kinds that the tests need and those of the definitions in `definitions`.
func New(folders Folders, definitions fs.FS) (*Server, error) {
	found, err := readDefinitions(definitions)
	if err != nil {
		return nil, err
	}
	s := &Server{folders: folders, resources: builtIn(), store: newStore(&mirror{folders.Objects})}
	for _, d := range found {
		s.resources = append(s.resources, fromDefinition(d))
	}
	s.Mapper = mapper(s.resources)
	for _, d := range found {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
		if err != nil {
			return nil, err
		}
		if _, err := s.store.Create(s.find("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
			&unstructured.Unstructured{Object: o}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) find(group, version, plural string) *Resource {
	for _, r := range s.resources {
		if r.Group == group && r.Plural == plural && r.defines(version) {
			return r
		}
	}
	return nil
}

// target is what a path names.
type target struct {
	resource                     *Resource
	version                      string
	namespace, name, subresource string
}

// parse reads /api/v1/… and /apis/GROUP/VERSION/…, with or without namespaces/NAME.
func (s *Server) parse(path string) (*target, bool) {
	words := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case len(words) > 2 && words[0] == "api":
		words = words[1:]
	case len(words) > 3 && words[0] == "apis":
		group, words = words[1], words[2:]
	default:
		return nil, false
	}
	t := &target{version: words[0]}
	words = words[1:]
	if len(words) > 2 && words[0] == "namespaces" && words[2] != "status" {
		t.namespace, words = words[1], words[2:]
	}
	t.resource = s.find(group, t.version, words[0])
	if len(words) > 1 {
		t.name = words[1]
	}
	if len(words) > 2 {
		t.subresource = words[2]
	}
	return t, t.resource != nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t, ok := s.parse(r.URL.Path)
	if !ok {
		fail(w, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: r.URL.Path}})
		return
	}
	switch t.subresource {
	case "log":
		s.serveLog(w, r, t)
		return
	case "exec":
		s.serveExec(w, r, t)
		return
	}
	answer, err := s.serve(r, t)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, answer)
}

func (s *Server) serve(r *http.Request, t *target) (any, error) {
	switch r.Method {
	case http.MethodGet:
		if t.name == "" {
			return s.list(r, t)
		}
		return t.shown(s.store.Get(t.resource, t.namespace, t.name))
	case http.MethodPost, http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return s.write(r.Method, t, body)
	case http.MethodPatch:
		return s.patch(r, t)
	case http.MethodDelete:
		return &metav1.Status{Status: metav1.StatusSuccess}, s.store.Delete(t.resource, t.namespace, t.name)
	}
	return nil, apierrors.NewMethodNotSupported(metav1GroupResource(t.resource), r.Method)
}

// shown gives an object in the version that was asked for: all that differs between versions of what is kept here.
func (t *target) shown(o *unstructured.Unstructured, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	o.SetAPIVersion(t.resource.apiVersion(t.version))
	o.SetKind(t.resource.Kind)
	return o.Object, nil
}

func (s *Server) list(r *http.Request, t *target) (any, error) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	found, revision := s.store.List(t.resource, t.namespace, selector)
	items := []any{}
	for _, o := range found {
		item, _ := t.shown(o, nil)
		items = append(items, item)
	}
	return object{"apiVersion": t.resource.apiVersion(t.version), "kind": t.resource.Kind + "List",
		"metadata": object{"resourceVersion": fmt.Sprint(revision)}, "items": items}, nil
}

func (s *Server) write(method string, t *target, body []byte) (any, error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o.SetAPIVersion(t.resource.apiVersion(t.version))
	o.SetKind(t.resource.Kind)
	if t.resource.Namespaced {
		o.SetNamespace(t.namespace)
	}
	switch {
	case method == http.MethodPost:
		return t.shown(s.store.Create(t.resource, o))
	case t.subresource == "status":
		return t.shown(s.store.UpdateStatus(t.resource, o))
	}
	return t.shown(s.store.Update(t.resource, o))
}

func (s *Server) patch(r *http.Request, t *target) (any, error) {
	if kind := r.Header.Get("Content-Type"); kind != "application/merge-patch+json" {
		return nil, apierrors.NewBadRequest("not a merge patch: " + kind)
	}
	change, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	old, err := t.shown(s.store.Get(t.resource, t.namespace, t.name))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	changed, err := jsonpatch.MergePatch(text, change)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.write(http.MethodPut, t, changed)
}

func reply(w http.ResponseWriter, code int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func fail(w http.ResponseWriter, err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	reply(w, int(status.Code), status)
}
