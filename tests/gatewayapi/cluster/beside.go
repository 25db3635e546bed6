package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func metav1GroupResource(r *Resource) schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// serveLog gives the lines that a Pod's container printed since a time.
func (s *Server) serveLog(w http.ResponseWriter, r *http.Request, t *target) {
	text, err := os.ReadFile(filepath.Join(s.folders.Logs, t.namespace+"_"+t.name))
	if err != nil {
		fail(w, apierrors.NewNotFound(metav1GroupResource(t.resource), t.name))
		return
	}
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("sinceTime"))
	if err != nil {
		since = time.Time{}
	}
	for _, line := range strings.Split(string(text), "\n") {
		stamp, rest, _ := strings.Cut(line, " ")
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil && !at.Before(since) {
			_, _ = w.Write([]byte(rest + "\n"))
		}
	}
}

// status is a file of Fairlead's --statusDir.
type status struct {
	Kind, APIVersion, Namespace, Name string
	Generation                        int64
	Status                            object
}

// taken is what was last taken over of a file: as it was then, for which object.
type taken struct {
	changed time.Time
	object  types.UID
	of      status
}

// A file that is older than its object tells of an earlier one of that name; if it is still there after this time, what
// was said of that one holds for this one.
const staleFor = 3 * time.Second

// ReadStatuses takes over what Fairlead says of objects, until the context ends.
func (s *Server) ReadStatuses(ctx context.Context) {
	seen := map[string]taken{}
	for ctx.Err() == nil {
		s.readStatuses(seen)
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) readStatuses(seen map[string]taken) {
	entries, err := os.ReadDir(s.folders.Statuses)
	if err != nil {
		return // Fairlead has not made it yet
	}
	there := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil || strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".json") {
			continue
		}
		there[name] = true
		if got, ok := s.takeStatus(name, info.ModTime(), seen[name]); ok {
			seen[name] = got
		}
	}
	for name, was := range seen {
		if !there[name] {
			delete(seen, name)
			was.of.Status = object{}
			s.put(was.of)
		}
	}
}

// takeStatus writes the status of a file to its object, unless that was done. False where there is nothing new.
func (s *Server) takeStatus(name string, changed time.Time, was taken) (taken, bool) {
	if was.of.Kind == "" || !was.changed.Equal(changed) {
		text, err := os.ReadFile(filepath.Join(s.folders.Statuses, name))
		if err != nil || json.Unmarshal(text, &was.of) != nil {
			return was, false
		}
		was = taken{changed: changed, of: was.of}
	}
	o := s.of(was.of)
	if o == nil || o.GetUID() == was.object {
		return was, true
	}
	if changed.Before(o.GetCreationTimestamp().Time) && time.Since(o.GetCreationTimestamp().Time) < staleFor {
		return was, true
	}
	if s.put(was.of) {
		was.object = o.GetUID()
	}
	return was, true
}

func (s *Server) resourceOf(what status) *Resource {
	gv, _ := schema.ParseGroupVersion(what.APIVersion)
	for _, r := range s.resources {
		if r.Group == gv.Group && r.Kind == what.Kind && r.statusApart {
			return r
		}
	}
	return nil
}

func (s *Server) of(what status) *unstructured.Unstructured {
	r := s.resourceOf(what)
	if r == nil {
		return nil
	}
	o, err := s.store.Get(r, what.Namespace, what.Name)
	if err != nil {
		return nil
	}
	return o
}

func (s *Server) put(what status) bool {
	r := s.resourceOf(what)
	encoded, err := json.Marshal(object{"metadata": object{"namespace": what.Namespace, "name": what.Name}, "status": what.Status})
	if r == nil || err != nil {
		return false
	}
	o := &unstructured.Unstructured{}
	if o.UnmarshalJSON(withKind(encoded, r)) != nil {
		return false
	}
	_, err = s.store.UpdateStatus(r, o)
	return err == nil
}

func withKind(text []byte, r *Resource) []byte {
	return append([]byte(`{"apiVersion":"`+r.apiVersion(r.Versions[0])+`","kind":"`+r.Kind+`",`), text[1:]...)
}
