package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// Log is the part of a container's log that was read.
type Log struct {
	Pod, Container string
	Previous       bool
	Content        string
	// Err says why it could not be read.
	Err error
}

// Contents is everything that goes into an archive.
type Contents struct {
	Inventory *inventory.Inventory
	// ConfigMaps are those of the namespace.
	ConfigMaps []corev1.ConfigMap
	// Secrets are described without their values, and their values are redacted
	// in everything else.
	Secrets []corev1.Secret
	Logs    []Log
	// Pages are the outputs of other commands, by file name.
	Pages map[string]string
	// Gaps list what could not be read, in addition to the gaps of the inventory.
	Gaps []string
}

func (c Contents) objectFiles(redactor Redactor, scheme *runtime.Scheme) (files []File, err error) {
	for _, obj := range c.objects() {
		file, err := objectFile(redactor, obj, scheme)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// Files returns the files of the archive. They contain no secrets.
func Files(c Contents, scheme *runtime.Scheme) ([]File, error) {
	redactor := NewRedactor(c.Secrets)
	files, err := c.objectFiles(redactor, scheme)
	if err != nil {
		return nil, err
	}
	for _, log := range c.Logs {
		files = append(files, logFile(redactor, log))
	}
	files = append(files,
		File{"events.txt", redactor.Text(events(c.Inventory.Events))},
		File{"secrets.txt", secrets(c.Secrets)},
		File{"gaps.txt", gaps(slices.Concat(c.Inventory.Gaps, c.Gaps))},
	)
	for _, name := range slices.Sorted(maps.Keys(c.Pages)) {
		files = append(files, File{name, redactor.Text(c.Pages[name])})
	}
	return files, nil
}

// objects returns all objects that are written unchanged except for redactions.
func (c Contents) objects() []client.Object {
	found := c.Inventory
	objects := slices.Concat(
		pointers(found.ControlPlanes), pointers(found.Rotations), pointers(found.Aggregates),
		pointers(found.Deployments), pointers(found.Jobs), pointers(found.CronJobs), pointers(found.Pods),
		pointers(found.Foreign), pointers(c.ConfigMaps),
	)
	for _, service := range found.Services {
		objects = append(objects, service.Resource)
	}
	if found.Store != nil {
		objects = append(objects, found.Store)
	}
	return objects
}

// pointers returns the elements as objects.
func pointers[T any, P interface {
	*T
	client.Object
}](list []T) []client.Object {
	objects := make([]client.Object, 0, len(list))
	for i := range list {
		objects = append(objects, P(&list[i]))
	}
	return objects
}

func objectFile(redactor Redactor, obj client.Object, scheme *runtime.Scheme) (File, error) {
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
	return File{path.Join("objects", folder(gvk), obj.GetName()+".yaml"), string(encoded)}, nil
}

// folder is the kind with its group, since two projects have a kind User.
func folder(gvk schema.GroupVersionKind) string {
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group == "" {
		return kind
	}
	return kind + "." + gvk.Group
}

func logFile(redactor Redactor, log Log) File {
	name := log.Container
	if log.Previous {
		name += ".previous"
	}
	content := log.Content
	if log.Err != nil {
		content += fmt.Sprintf("could not be read: %s\n", log.Err)
	}
	return File{path.Join("logs", log.Pod, name+".log"), redactor.Text(content)}
}

func events(list []corev1.Event) string {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b corev1.Event) int {
		return inventory.EventTime(&a).Compare(inventory.EventTime(&b))
	})
	var out strings.Builder
	for i := range sorted {
		event := &sorted[i]
		fmt.Fprintf(&out, "%s %-7s %s %s/%s: %s\n", inventory.EventTime(event).UTC().Format(time.RFC3339), event.Type, event.Reason,
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

func gaps(list []string) string {
	if len(list) == 0 {
		return "Everything could be read.\n"
	}
	return strings.Join(list, "\n") + "\n"
}
