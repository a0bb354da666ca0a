// Command reference writes the reference pages of the Keystone API. It runs in
// the operator's folder and takes the folder of the pages as its argument.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/reference"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
)

const command = "make generate"

const kubernetesAPI = "https://kubernetes.io/docs/reference/kubernetes-api/"

var external = map[string]string{
	"spec.resources":                 kubernetesAPI + "workload-resources/pod-v1/#resources",
	"spec.strategy":                  kubernetesAPI + "workload-resources/deployment-v1/#DeploymentSpec",
	"spec.topologySpreadConstraints": kubernetesAPI + "workload-resources/pod-v1/#scheduling",
	"spec.networkPolicy.additionalEgress": kubernetesAPI +
		"policy-resources/network-policy-v1/#NetworkPolicySpec",
	"status.conditions": "keystone-conditions.md",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reference FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	api, err := apiPage("config/crd/bases/keystone.openstack.c5c3.io_keystones.yaml")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "api-keystone.md"), api, 0o644); err != nil {
		return err
	}
	if err := writeVocabulary(folder, "api/v1alpha1/conditions.go", "api/v1alpha1/events.go"); err != nil {
		return err
	}
	return reference.Page{Command: command}.WriteOperator(folder, "keystone", controller.Outlines(), metrics.Definitions())
}

func apiPage(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var page bytes.Buffer
	err = reference.Page{Title: "Keystone API", Command: command, External: external}.WriteCRDs(&page, crd)
	return page.Bytes(), err
}

func writeVocabulary(folder string, files ...string) error {
	var constants []reference.Constant
	for _, file := range files {
		found, err := reference.Constants(file)
		if err != nil {
			return err
		}
		constants = append(constants, found...)
	}
	vocabulary := reference.Vocabulary{Kind: "Keystone", Constants: constants}
	for _, doc := range keystonev1alpha1.Conditions() {
		vocabulary.Conditions = append(vocabulary.Conditions, reference.Condition(doc))
	}
	for _, doc := range keystonev1alpha1.Events() {
		vocabulary.Events = append(vocabulary.Events, reference.Event(doc))
	}
	return reference.Page{Command: command}.WriteVocabularyFiles(folder, vocabulary)
}
