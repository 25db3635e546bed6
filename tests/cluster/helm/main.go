// Prints what `helm template` does: a chart's manifests with values, in the order in which helm installs them. It is made of
// helm's own packages, without what talks to clusters and registries.
//
//	helm CHART NAMESPACE [VALUES.yaml…]
package main

import (
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "helm CHART NAMESPACE [VALUES.yaml…]")
		os.Exit(2)
	}
	text, err := render(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

func render(folder, namespace string, files []string) (string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return "", err
	}
	values := map[string]any{}
	for _, file := range files {
		more, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return "", err
		}
		values = chartutil.CoalesceTables(more, values)
	}
	release := chartutil.ReleaseOptions{Name: chart.Name(), Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	manifests, err := engine.Render(chart, all)
	if err != nil {
		return "", err
	}
	_, sorted, err := releaseutil.SortManifests(manifests, nil, releaseutil.InstallOrder)
	if err != nil {
		return "", err
	}
	text := ""
	for _, manifest := range sorted {
		text += fmt.Sprintf("---\n# Source: %s\n%s\n", manifest.Name, manifest.Content)
	}
	return text, nil
}
