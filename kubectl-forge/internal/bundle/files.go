package bundle

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// File is a file of the archive.
type File struct {
	Name    string
	Content string
}

// Files returns the files of the archive. They contain no secrets.
func Files(c Contents, scheme *runtime.Scheme) (files []File, err error) {
	redactor := NewRedactor(c.Secrets)
	objects := slices.Concat(c.Inventory.Objects(), inventory.Pointers(c.Inventory.Pods), inventory.Pointers(c.ConfigMaps))
	if c.Inventory.Store != nil {
		objects = append(objects, c.Inventory.Store)
	}
	for _, obj := range objects {
		file, err := objectFile(redactor, obj, scheme)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	for _, texts := range []map[string]string{c.Logs, {
		"events.txt": events(c.Inventory.Events), "gaps.txt": gaps(c.Inventory.Gaps),
	}, c.Pages} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			files = append(files, File{name, redactor.Text(texts[name])})
		}
	}
	return append(files, File{"secrets.txt", secrets(c.Secrets)}), nil
}

func objectFile(redactor Redactor, obj client.Object, scheme *runtime.Scheme) (File, error) {
	if service, is := obj.(inventory.Instance); is {
		obj = service.Resource
	}
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return File{}, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
	if err != nil {
		return File{}, fmt.Errorf("%s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	content["apiVersion"], content["kind"] = gvk.ToAPIVersionAndKind()
	encoded, err := yaml.Marshal(redactor.Object(content))
	if err != nil {
		return File{}, fmt.Errorf("%s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	// The folder has the group, too: two projects have a kind User.
	folder := strings.TrimSuffix(strings.ToLower(gvk.Kind)+"."+gvk.Group, ".")
	return File{path.Join("objects", folder, obj.GetName()+".yaml"), string(encoded)}, nil
}

func events(list []corev1.Event) string {
	var out strings.Builder
	for _, event := range inventory.ByTime(list) {
		fmt.Fprintf(&out, "%s %-7s %s %s/%s: %s\n", inventory.EventTime(&event).UTC().Format(time.RFC3339), event.Type, event.Reason,
			event.InvolvedObject.Kind, event.InvolvedObject.Name, strings.Join(strings.Fields(event.Message), " "))
	}
	return out.String()
}

// secrets lists the Secrets with their keys. Not even the length of a value is
// shown.
func secrets(list []corev1.Secret) string {
	var out strings.Builder
	for i := range list {
		keys := slices.Sorted(maps.Keys(list[i].Data))
		fmt.Fprintf(&out, "%s, type %s, keys: %s\n", list[i].Name, list[i].Type, strings.Join(keys, ", "))
	}
	return out.String()
}

func gaps(list []error) string {
	if len(list) == 0 {
		return "Everything could be read.\n"
	}
	return errors.Join(list...).Error() + "\n"
}
