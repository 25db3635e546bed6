package cluster

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: doors.example.com}
spec:
  group: example.com
  names: {kind: Door, plural: doors}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, default: red}
              locks: {type: array, items: {type: object, properties: {kind: {type: string, default: bolt}}}}
`

var ctx = context.Background()

func start(t *testing.T) (client.Client, Folders) {
	folders := Folders{Objects: t.TempDir(), Statuses: t.TempDir(), Logs: t.TempDir()}
	server, err := New(folders, fstest.MapFS{"doors.yaml": {Data: []byte(definition)}})
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	done, stop := context.WithCancel(ctx)
	t.Cleanup(stop)
	go server.ReadStatuses(done)
	s := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(s))
	c, err := client.New(&rest.Config{Host: listening.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}},
		client.Options{Scheme: s, Mapper: server.Mapper})
	require.NoError(t, err)
	return c, folders
}

func door(spec object) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{"apiVersion": "example.com/v1", "kind": "Door",
		"metadata": object{"namespace": "house", "name": "front"}, "spec": spec}}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	c, folders := start(t)
	d := door(object{"locks": []any{object{}}})
	require.NoError(t, c.Create(ctx, d))
	require.Equal(t, object{"color": "red", "locks": []any{object{"kind": "bolt"}}}, d.Object["spec"])
	text, err := os.ReadFile(filepath.Join(folders.Objects, "Door_house_front.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"color": "red"`)
	require.NoError(t, c.Delete(ctx, d))
	require.NoFileExists(t, filepath.Join(folders.Objects, "Door_house_front.json"))
}

func TestTheGenerationCountsWhatIsWanted(t *testing.T) {
	c, _ := start(t)
	d := door(object{"color": "green"})
	require.NoError(t, c.Create(ctx, d))
	require.EqualValues(t, 1, d.GetGeneration())
	before := d.DeepCopy()
	d.SetLabels(map[string]string{"a": "b"})
	require.NoError(t, c.Patch(ctx, d, client.MergeFrom(before)))
	require.EqualValues(t, 1, d.GetGeneration())
	require.NotEqual(t, before.GetResourceVersion(), d.GetResourceVersion())
	before = d.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(d.Object, "blue", "spec", "color"))
	require.NoError(t, c.Patch(ctx, d, client.MergeFrom(before)))
	require.EqualValues(t, 2, d.GetGeneration())
	require.True(t, apierrors.IsConflict(c.Update(ctx, before)))
}

func TestStatusesComeFromFiles(t *testing.T) {
	c, folders := start(t)
	d := door(object{})
	d.Object["status"] = object{"open": true}
	require.NoError(t, c.Create(ctx, d))
	require.NotContains(t, d.Object, "status", "it is written apart")
	file := filepath.Join(folders.Statuses, "Door.house.front.json")
	require.NoError(t, os.WriteFile(file, []byte(
		`{"kind":"Door","apiVersion":"example.com/v1","namespace":"house","name":"front","status":{"open":false}}`), 0o644))
	status := func() any {
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(d), d))
		return d.Object["status"]
	}
	require.Eventually(t, func() bool { s, _ := status().(object); return s["open"] == false }, 5*time.Second, 20*time.Millisecond)
	require.EqualValues(t, 1, d.GetGeneration())
	d.Object["status"] = object{"open": true}
	require.NoError(t, c.Update(ctx, d))
	require.Equal(t, object{"open": false}, status())
	require.NoError(t, os.Remove(file))
	require.Eventually(t, func() bool { s, _ := status().(object); return len(s) == 0 }, 5*time.Second, 20*time.Millisecond)
}

func TestServicesHaveAddressesOfTheirOwn(t *testing.T) {
	c, _ := start(t)
	service := func(name, address string) *corev1.Service {
		s := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: address}}
		s.Namespace, s.Name = "house", name
		require.NoError(t, c.Create(ctx, s))
		return s
	}
	one, other, headless := service("one", ""), service("other", ""), service("headless", "None")
	require.True(t, strings.HasPrefix(one.Spec.ClusterIP, "10.96."))
	require.NotEqual(t, one.Spec.ClusterIP, other.Spec.ClusterIP)
	require.Equal(t, "None", headless.Spec.ClusterIP)
	kept := one.Spec.ClusterIP
	one.Spec.ClusterIP = ""
	require.NoError(t, c.Update(ctx, one))
	require.Equal(t, kept, one.Spec.ClusterIP)
	var found corev1.ServiceList
	require.NoError(t, c.List(ctx, &found, client.InNamespace("house"), client.MatchingLabels{"a": "b"}))
	require.Empty(t, found.Items)
	require.NoError(t, c.List(ctx, &found, client.InNamespace("house")))
	require.Len(t, found.Items, 3)
}
