// Command reference writes the reference pages of the c5c3 API. It runs in the
// operator's folder and takes the folder of the pages as its argument.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/reference"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/metrics"
)

const command = "make generate"

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
	if err := writeAPI(filepath.Join(folder, "api-c5c3.md")); err != nil {
		return err
	}
	constants, err := constants("api/v1alpha1/conditions.go", "api/v1alpha1/events.go")
	if err != nil {
		return err
	}
	for _, kind := range c5c3v1alpha1.Vocabularies() {
		if err := writeVocabulary(folder, kind, constants); err != nil {
			return err
		}
	}
	return reference.Page{Command: command}.WriteOperator(folder, "c5c3", controller.Outlines(), metrics.Definitions())
}

func writeAPI(path string) error {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"controlplanes", "credentialrotations", "secretaggregates"} {
		crd, err := readCRD(filepath.Join("config", "crd", "bases", "c5c3.io_"+plural+".yaml"))
		if err != nil {
			return err
		}
		crds = append(crds, crd)
	}
	var page bytes.Buffer
	description := reference.Page{
		Title: "ControlPlane API", Command: command,
		External: map[string]string{
			"status.conditions": "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/",
		},
	}
	if err := description.WriteCRDs(&page, crds...); err != nil {
		return err
	}
	return os.WriteFile(path, page.Bytes(), 0o644)
}

func readCRD(path string) (*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return crd, nil
}

func constants(files ...string) ([]reference.Constant, error) {
	var all []reference.Constant
	for _, file := range files {
		found, err := reference.Constants(file)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func writeVocabulary(folder string, kind c5c3v1alpha1.Vocabulary, constants []reference.Constant) error {
	vocabulary := reference.Vocabulary{Kind: kind.Kind, Constants: constants}
	for _, doc := range kind.Conditions {
		vocabulary.Conditions = append(vocabulary.Conditions, reference.Condition(doc))
	}
	for _, doc := range kind.Events {
		vocabulary.Events = append(vocabulary.Events, reference.Event(doc))
	}
	return reference.Page{Command: command}.WriteVocabularyFiles(folder, vocabulary)
}
