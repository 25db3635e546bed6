// Prints the table of Kubernetes' types that src/injection/kubernetes_types.txt holds: those of pods, workloads and
// what a gateway's deployment consists of.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Packages of the same name get another one.
var packages = map[string]string{
	"k8s.io/api/core/v1": "core", "k8s.io/api/apps/v1": "apps", "k8s.io/api/batch/v1": "batch",
	"k8s.io/api/autoscaling/v2": "autoscaling", "k8s.io/api/policy/v1": "policy",
	"k8s.io/apimachinery/pkg/apis/meta/v1": "meta",
}

// Types that read themselves.
var special = map[string]bool{
	"resource.Quantity": true, "intstr.IntOrString": true, "meta.Time": true, "meta.MicroTime": true, "meta.Duration": true,
	"meta.FieldsV1": true, "runtime.RawExtension": true,
}

type table map[string]string

func nameOf(t reflect.Type) string {
	if name, found := packages[t.PkgPath()]; found {
		return name + "." + t.Name()
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

func (all table) typeText(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + all.typeText(t.Elem())
	case reflect.Slice:
		return "[]" + all.typeText(t.Elem())
	case reflect.Map:
		return "{" + all.typeText(t.Key()) + "}" + all.typeText(t.Elem())
	case reflect.Struct:
		all.add(t)
		return nameOf(t)
	}
	if t.PkgPath() == "" {
		return t.Name()
	}
	return nameOf(t) + "(" + t.Kind().String() + ")"
}

func (all table) add(t reflect.Type) {
	name := nameOf(t)
	if _, found := all[name]; found || special[name] {
		return
	}
	all[name] = ""
	var fields []string
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		words := strings.Split(field.Tag.Get("json"), ",")
		if words[0] == "-" {
			continue
		}
		text := words[0]
		if text == "" {
			text = "+" + field.Name
		}
		for _, word := range words[1:] {
			if word == "omitempty" {
				text += "?"
			}
		}
		text += ":" + all.typeText(field.Type)
		if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
			text += "!" + strategy
		}
		if key := field.Tag.Get("patchMergeKey"); key != "" {
			text += "@" + key
		}
		fields = append(fields, text)
	}
	all[name] = strings.Join(fields, " ")
}

func main() {
	all := table{}
	for _, root := range []any{
		corev1.Pod{}, corev1.ReplicationController{}, appsv1.Deployment{}, appsv1.StatefulSet{}, appsv1.DaemonSet{},
		appsv1.ReplicaSet{}, batchv1.Job{}, batchv1.CronJob{}, corev1.Service{}, corev1.ServiceAccount{},
		autoscalingv2.HorizontalPodAutoscaler{}, policyv1.PodDisruptionBudget{},
	} {
		all.add(reflect.TypeOf(root))
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	for _, name := range names {
		fmt.Fprintln(out, strings.TrimSpace(name+" "+all[name]))
	}
	if out.Flush() != nil {
		os.Exit(1)
	}
}
