package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/c5c3/forge/hack/docgen/internal/dashboards"
	"github.com/c5c3/forge/hack/docgen/internal/pages"
	"github.com/c5c3/forge/internal/common/testutil/source"
)

// command is the command that the pages name as their generator.
const command = "make generate"

const (
	kubernetesAPI = "https://kubernetes.io/docs/reference/kubernetes-api/"
	podAPI        = kubernetesAPI + "workload-resources/pod-v1/"
	volumeFiles   = kubernetesAPI + "config-and-storage-resources/volume/#KeyToPath"
)

// external maps fields of services with a type of Kubernetes to the documentation
// of the type.
var external = map[string]string{
	"spec.resources":                      podAPI + "#resources",
	"spec.tolerations":                    podAPI + "#scheduling",
	"spec.affinity":                       podAPI + "#scheduling",
	"spec.hostAliases":                    podAPI + "#hostname-and-name-resolution",
	"spec.extraEnv":                       podAPI + "#environment-variables",
	"spec.extraVolumes[].configMap.items": volumeFiles,
	"spec.extraVolumes[].secret.items":    volumeFiles,
	"spec.strategy":                       kubernetesAPI + "workload-resources/deployment-v1/#DeploymentSpec",
	"spec.topologySpreadConstraints":      podAPI + "#scheduling",
	"spec.networkPolicy.additionalEgress": kubernetesAPI +
		"policy-resources/network-policy-v1/#NetworkPolicySpec",
}

// words returns the files with the constants of the operator's conditions, reasons and events.
func (o operator) words() []string {
	api := filepath.Join(o.folder, "api", "v1alpha1")
	shared := filepath.Join(o.folder, "..", "..", "internal", "common", "vocabulary")
	words := []string{filepath.Join(api, "conditions.go")}
	for _, file := range []string{"words.go", "event_words.go", "service_words.go", "attachment.go"} {
		words = append(words, filepath.Join(shared, file))
	}
	// A service may have no events beyond those of all services.
	if events := filepath.Join(api, "events.go"); exists(events) {
		words = append(words, events)
	}
	return words
}

// writePages writes all pages of the operator into a folder.
func (o operator) writePages(folder string) error {
	help, err := o.help()
	if err != nil {
		return err
	}
	err = write(filepath.Join(folder, "flags-"+o.name+"-operator.md"), func(w io.Writer) error {
		return o.page("Flags").WriteFlags(w, help)
	})
	if err != nil || !exists(filepath.Join(o.folder, "api")) {
		return err
	}
	found, err := o.describe()
	if err != nil {
		return err
	}
	constants, err := source.Constants(o.words()...)
	if err != nil {
		return err
	}
	if err := (pages.Page{Command: command}).WriteVocabularies(folder, found.Kinds, constants); err != nil {
		return err
	}
	return errors.Join(
		o.writeAPI(filepath.Join(folder, "api-"+o.name+".md")),
		write(filepath.Join(folder, "steps-"+o.name+"-operator.md"), func(w io.Writer) error {
			return o.page("Steps").WritePipelines(w, found.Controllers...)
		}),
		write(filepath.Join(folder, "metrics-"+o.name+"-operator.md"), func(w io.Writer) error {
			return o.page("Metrics").WriteMetrics(w, found.Metrics)
		}),
		o.writeDashboard(found),
	)
}

func (o operator) page(title string) pages.Page {
	return pages.Page{Title: title + " of " + o.name + "-operator", Command: command}
}

// writeDashboard writes the operator's dashboard. Its own panels are in a file next to it,
// if it has any.
func (o operator) writeDashboard(found description) error {
	dashboard := dashboards.Operator{Name: o.name, Metrics: found.Metrics}
	for _, kind := range found.Kinds {
		dashboard.Kinds = append(dashboard.Kinds, kind.Kind)
	}
	folder := filepath.Join(o.folder, "dashboards")
	source := filepath.Join(folder, "panels.yaml")
	own, err := os.ReadFile(source)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	content, err := dashboard.Write(own)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, o.name+"-operator.json"), content, 0o644)
}

// writeAPI writes the page about the operator's kinds, which is named after the
// first one.
func (o operator) writeAPI(path string) error {
	crds, err := o.definitions()
	if err != nil {
		return err
	}
	description := pages.Page{
		Title: crds[0].Spec.Names.Kind + " API", Command: command, External: maps.Clone(external),
	}
	// A page about one kind links to one page of conditions.
	description.External["status.conditions"] = kubernetesAPI + "common-definitions/"
	if len(crds) == 1 {
		description.External["status.conditions"] = strings.ToLower(crds[0].Spec.Names.Kind) + "-conditions.md"
	}
	return write(path, func(w io.Writer) error { return description.WriteCRDs(w, crds...) })
}

// write writes the output of fill to a file, unless fill fails.
func write(path string, fill func(io.Writer) error) error {
	var content bytes.Buffer
	if err := fill(&content); err != nil {
		return err
	}
	return os.WriteFile(path, content.Bytes(), 0o644)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
