package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const projectHead = `# Read by Kubebuilder and by people who know its layout. Each operator is a Go
# module of its own, so the scaffolding commands are of no use here. Written by
# make generate.
`

const (
	domain     = "c5c3.io"
	repository = "github.com/c5c3/forge"
)

// project is the content of Kubebuilder's PROJECT file. See
// https://book.kubebuilder.io/reference/project-config.
type project struct {
	CLIVersion  string     `json:"cliVersion"`
	Domain      string     `json:"domain"`
	Layout      []string   `json:"layout"`
	MultiGroup  bool       `json:"multigroup"`
	ProjectName string     `json:"projectName"`
	Repo        string     `json:"repo"`
	Resources   []resource `json:"resources"`
	Version     string     `json:"version"`
}

// resource is a kind of the project.
type resource struct {
	API        resourceAPI       `json:"api"`
	Controller bool              `json:"controller"`
	Domain     string            `json:"domain"`
	Group      string            `json:"group,omitempty"`
	Kind       string            `json:"kind"`
	Path       string            `json:"path"`
	Version    string            `json:"version"`
	Webhooks   *resourceWebhooks `json:"webhooks,omitempty"`
}

type resourceAPI struct {
	CRDVersion string `json:"crdVersion"`
	Namespaced bool   `json:"namespaced"`
}

type resourceWebhooks struct {
	Defaulting     bool   `json:"defaulting,omitempty"`
	Validation     bool   `json:"validation,omitempty"`
	WebhookVersion string `json:"webhookVersion"`
}

// projectOf returns the content of PROJECT for some operators.
func projectOf(operators []operator) ([]byte, error) {
	file := project{
		CLIVersion: "4.15.0", Domain: domain, Layout: []string{"go.kubebuilder.io/v4"}, MultiGroup: true,
		ProjectName: "forge", Repo: repository, Version: "3",
	}
	for _, o := range operators {
		found, err := o.resources()
		if err != nil {
			return nil, err
		}
		file.Resources = append(file.Resources, found...)
	}
	content, err := yaml.Marshal(file)
	return append([]byte(projectHead), content...), err
}

// resources returns the operator's kinds.
func (o operator) resources() ([]resource, error) {
	crds, err := o.definitions()
	if err != nil {
		return nil, err
	}
	webhooks, err := o.webhooks()
	if err != nil {
		return nil, err
	}
	var found []resource
	for _, crd := range crds {
		for i := range crd.Spec.Versions {
			found = append(found, o.resource(crd, crd.Spec.Versions[i].Name, webhooks[crd.Spec.Names.Plural]))
		}
	}
	return found, nil
}

// resource describes a version of a kind.
func (o operator) resource(crd *apiextensionsv1.CustomResourceDefinition, version string, webhooks *resourceWebhooks) resource {
	return resource{
		API:        resourceAPI{CRDVersion: "v1", Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped},
		Controller: true, Domain: domain, Group: strings.TrimSuffix(strings.TrimSuffix(crd.Spec.Group, domain), "."),
		Kind: crd.Spec.Names.Kind, Path: repository + "/operators/" + o.name + "/api/" + version, Version: version,
		Webhooks: webhooks,
	}
}

// webhooks returns the webhooks of the operator's resources by plural name.
func (o operator) webhooks() (map[string]*resourceWebhooks, error) {
	file, err := os.Open(filepath.Join(o.folder, "config", "webhook", "manifests.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found := map[string]*resourceWebhooks{}
	decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		// Mutating and validating configurations are equal in the fields that are
		// read here.
		var configuration admissionv1.ValidatingWebhookConfiguration
		if err := decoder.Decode(&configuration); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		addWebhooks(found, configuration)
	}
}

// addWebhooks adds the webhooks of a configuration to those by plural name.
func addWebhooks(found map[string]*resourceWebhooks, configuration admissionv1.ValidatingWebhookConfiguration) {
	for _, plural := range pluralsOf(configuration.Webhooks) {
		if found[plural] == nil {
			found[plural] = &resourceWebhooks{WebhookVersion: "v1"}
		}
		if strings.HasPrefix(configuration.Kind, "Mutating") {
			found[plural].Defaulting = true
		} else {
			found[plural].Validation = true
		}
	}
}

func pluralsOf(webhooks []admissionv1.ValidatingWebhook) []string {
	var plurals []string
	for i := range webhooks {
		for _, rule := range webhooks[i].Rules {
			plurals = slices.Concat(plurals, rule.Resources)
		}
	}
	return plurals
}
