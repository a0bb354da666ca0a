// Command reference writes the reference page of the c5c3 API. It runs in the
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
)

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
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"controlplanes", "credentialrotations", "secretaggregates"} {
		path := filepath.Join("config", "crd", "bases", "c5c3.io_"+plural+".yaml")
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		crds = append(crds, crd)
	}
	var page bytes.Buffer
	description := reference.Page{
		Title: "ControlPlane API", Command: "make generate",
		External: map[string]string{
			"status.conditions": "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/",
		},
	}
	if err := description.WriteCRDs(&page, crds...); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "api-c5c3.md"), page.Bytes(), 0o644)
}
