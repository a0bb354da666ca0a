// Package definitions creates and updates the CustomResourceDefinitions of an
// operator, which Helm itself does not do.
package definitions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/apply"
)

// VersionAnnotation holds the version of forge that a definition came with.
const VersionAnnotation = "forge.c5c3.io/version"

// Read returns the definitions in the YAML files of a file system, by path.
func Read(files fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var read []*apiextensionsv1.CustomResourceDefinition
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definition); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		read = append(read, definition)
		return nil
	})
	if err == nil && len(read) == 0 {
		err = errors.New("no CustomResourceDefinitions: this operator has none of its own")
	}
	return read, err
}

// Apply creates or updates the definitions, one after another.
// One that came with a newer version stays as it is: an older schema would drop
// fields of stored resources.
func Apply(ctx context.Context, c client.Client, wanted []*apiextensionsv1.CustomResourceDefinition) error {
	for _, definition := range wanted {
		if err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return ensure(ctx, c, definition) }); err != nil {
			return err
		}
	}
	return nil
}

func ensure(ctx context.Context, c client.Client, wanted *apiextensionsv1.CustomResourceDefinition) error {
	logger := log.FromContext(ctx).WithValues("definition", wanted.Name, "version", wanted.Annotations[VersionAnnotation])
	live, err := apply.Find(ctx, c, client.ObjectKeyFromObject(wanted), &apiextensionsv1.CustomResourceDefinition{})
	switch {
	case err != nil:
		return err
	case live == nil:
		logger.Info("creating")
		return apply.Create(ctx, c, wanted.DeepCopy())
	}
	newer, err := Newer(live, wanted)
	if err != nil {
		return fmt.Errorf("CustomResourceDefinition %s: %w", wanted.Name, err)
	}
	if newer {
		logger.Info("left alone: the installed definition is newer", "installed", live.Annotations[VersionAnnotation])
		return nil
	}
	logger.Info("updating")
	return apply.Update(ctx, c, merged(live, wanted), apply.Updating)
}

// Newer reports whether the live definition came with a newer version than the
// desired one. A definition without a version is older than any.
func Newer(live, wanted *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	installed, known := live.Annotations[VersionAnnotation]
	if !known {
		return false, nil
	}
	theirs, err := version.ParseSemantic(installed)
	if err != nil {
		return false, fmt.Errorf("annotation %s of the installed definition is not a version: correct or remove it: %w", VersionAnnotation, err)
	}
	ours, err := version.ParseSemantic(wanted.Annotations[VersionAnnotation])
	if err != nil {
		return false, fmt.Errorf("annotation %s: %w", VersionAnnotation, err)
	}
	return ours.LessThan(theirs), nil
}

// merged returns the live definition with our desired content. Labels and
// annotations of others stay, and so does the conversion, which is not in our files.
func merged(live, wanted *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	next := live.DeepCopy()
	conversion := next.Spec.Conversion
	wanted.Spec.DeepCopyInto(&next.Spec)
	if next.Spec.Conversion == nil {
		next.Spec.Conversion = conversion
	}
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	maps.Copy(next.Annotations, wanted.Annotations)
	return next
}

// Served returns nil if the API server serves what the definitions declare, otherwise
// an error that names what it does not serve yet.
func Served(ctx context.Context, c client.Client, wanted []*apiextensionsv1.CustomResourceDefinition) error {
	for _, definition := range wanted {
		live := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(definition), live); err != nil {
			return err
		}
		if message := obstacle(live); message != "" {
			return fmt.Errorf("CustomResourceDefinition %s is not served: %s", live.Name, message)
		}
	}
	return nil
}

// obstacle returns why a definition is not served, "" if it is.
func obstacle(live *apiextensionsv1.CustomResourceDefinition) string {
	message := "the API server has not processed it yet"
	for _, condition := range live.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse:
			return condition.Message
		case condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue:
			message = ""
		}
	}
	return message
}
