package docs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// markElsewhere marks a block of shell that cannot run on the local cluster.
const markElsewhere = "elsewhere"

// The marks of YAML blocks, which define how a block becomes an object.
const (
	// markMerge names the kind whose example the block is merged into.
	markMerge = "merge="
	// markValues names the chart whose values the block sets.
	markValues = "values="
	// markThirdParty names a project whose kinds are on no test server.
	markThirdParty = "third-party="
	// markFragment marks YAML that is not part of our resources.
	markFragment = "fragment"
)

// Documents returns the documents in a text of YAML as JSON. It refuses
// duplicate fields.
func Documents(text string) ([][]byte, error) {
	var documents [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		content, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		document, err := yaml.YAMLToJSONStrict(content)
		if err != nil {
			return nil, err
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
}

// Objects returns the objects in a YAML text. It is an error if one has no kind.
func Objects(text string) ([]*unstructured.Unstructured, error) {
	documents, err := Documents(text)
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, 0, len(documents))
	for _, document := range documents {
		obj := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(document, &obj.Object); err != nil {
			return nil, err
		}
		if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
			return nil, fmt.Errorf("it is not a complete object: give it apiVersion and kind, or mark it with %sKIND, %sCHART or %s",
				markMerge, markValues, markFragment)
		}
		objects = append(objects, obj)
	}
	return objects, nil
}

// Merge merges a part of an object into an example of the kind, as kubectl patch
// --type=merge does: null removes a field.
func Merge(example *unstructured.Unstructured, part string) (*unstructured.Unstructured, error) {
	documents, err := Documents(part)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("it has %d documents, but one is merged", len(documents))
	}
	whole, err := json.Marshal(example.Object)
	if err != nil {
		return nil, err
	}
	merged, err := jsonpatch.MergePatch(whole, documents[0])
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	return obj, utiljson.Unmarshal(merged, &obj.Object)
}
