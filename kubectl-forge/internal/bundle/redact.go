// Package bundle writes the diagnostics of a namespace into an archive
// that may be shared: it contains no secrets.
package bundle

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// redacted replaces a secret.
const redacted = "<redacted>"

// minLength is the minimum length of a Secret's value for its occurrences to be
// redacted. A shorter one would redact parts of ordinary words.
const minLength = 4

// public are keys of Secrets whose values are not secret. A user name is also the
// name of many objects, which would all become unreadable.
var public = []string{"username", "user", "ca.crt", "tls.crt", "cloud", "region", "namespace"}

var (
	// assignment matches an option or a variable whose name says that its value is
	// secret: in an INI file, in JSON, in YAML and on a command line.
	assignment = regexp.MustCompile(
		`(?i)("?[\w.\-]*(?:password|passwd|secret|credential|token|api_?key|private_?key|connection)["']?\s*[=:]\s*)` +
			`("[^"]+"|'[^']+'|[^\s"',;&})]+)`)

	// secretName matches the name of an option or a variable of that kind.
	secretName = regexp.MustCompile(`(?i)(password|passwd|secret|token|api_?key|private_?key|connection$|credential)`)

	// userInfo matches the credentials in a URL.
	userInfo = regexp.MustCompile(`://[^/\s@]+@`)

	// fernet matches Fernet tokens, which all begin with the same version and the
	// zeros of a time (https://github.com/fernet/spec), and other data in the same encryption.
	fernet = regexp.MustCompile(`gAAAA[\w\-]{20,}={0,2}`)

	// pem matches private keys.
	pem = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

	bearer = regexp.MustCompile(`(?i)(bearer\s+|x-(?:auth|subject)-token:\s*)[\w.\-~+/=]+`)
)

// Redactor redacts secrets.
type Redactor struct{ values *strings.Replacer }

// NewRedactor returns one that also knows the values of the Secrets, as they are
// and as they are encoded in URLs, in JSON and in base64.
func NewRedactor(secrets []corev1.Secret) Redactor {
	var values []string
	for i := range secrets {
		for key, value := range secrets[i].Data {
			if !slices.Contains(public, key) {
				values = append(values, parts(string(value))...)
			}
		}
	}
	// The longest first, so that a value within another one does not leave parts of that.
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, value := range slices.Compact(values) {
		for _, form := range redact.Forms(value) {
			pairs = append(pairs, form, redacted)
		}
	}
	return Redactor{values: strings.NewReplacer(pairs...)}
}

// parts returns the value and, if it is a file of options such as a clouds.yaml, the
// secret values in it.
func parts(value string) []string {
	trimmed := strings.TrimSpace(value)
	var found []string
	if len(trimmed) >= minLength {
		found = append(found, trimmed)
	}
	for _, match := range assignment.FindAllStringSubmatch(value, -1) {
		if inner := strings.Trim(match[2], `"'`); len(inner) >= minLength {
			found = append(found, inner)
		}
	}
	return found
}

// Text redacts the secrets in a text.
func (r Redactor) Text(text string) string {
	if r.values != nil {
		text = r.values.Replace(text)
	}
	text = pem.ReplaceAllString(text, redacted)
	text = userInfo.ReplaceAllString(text, "://"+redacted+"@")
	text = fernet.ReplaceAllString(text, redacted)
	text = bearer.ReplaceAllString(text, "${1}"+redacted)
	return assignment.ReplaceAllStringFunc(text, redactAssignment)
}

// redactAssignment redacts the value of an option, unless it only names where to find
// the value.
func redactAssignment(text string) string {
	match := assignment.FindStringSubmatch(text)
	if len(match[2]) < minLength || strings.Contains(match[2], redacted) {
		return text
	}
	return match[1] + redacted
}

// Object redacts the secrets in an object: in every text, the values of
// variables whose names suggest a secret, and the copy of the whole
// object that kubectl apply leaves in an annotation.
func (r Redactor) Object(content map[string]any) map[string]any {
	if metadata, isMap := content["metadata"].(map[string]any); isMap {
		delete(metadata, "managedFields")
		if annotations, isMap := metadata["annotations"].(map[string]any); isMap {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
	}
	clean, isMap := r.value("", content).(map[string]any)
	if !isMap {
		return nil
	}
	return clean
}

func (r Redactor) value(name string, value any) any {
	switch value := value.(type) {
	case string:
		if secretName.MatchString(name) && !reference(name) {
			return redacted
		}
		return r.literal(value)
	case []any:
		clean := make([]any, len(value))
		for i := range value {
			clean[i] = r.value(name, value[i])
		}
		return clean
	case map[string]any:
		clean := make(map[string]any, len(value))
		for key, inner := range value {
			clean[key] = r.value(key, inner)
		}
		if variable, isText := value["name"].(string); isText && secretName.MatchString(variable) && value["value"] != nil {
			clean["value"] = redacted
		}
		return clean
	}
	return value
}

// literal redacts the secrets in a text that is a separate field. Most fields
// are names and messages, and "Secret: keystone-db" in a message is a name.
func (r Redactor) literal(text string) string {
	if !strings.ContainsAny(text, "=\n") {
		if r.values != nil {
			text = r.values.Replace(text)
		}
		return fernet.ReplaceAllString(userInfo.ReplaceAllString(text, "://"+redacted+"@"), redacted)
	}
	return r.Text(text)
}

// reference reports whether a field with this name holds the name of a Secret
// rather than one of its values.
func reference(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, "name") || strings.HasSuffix(lower, "ref") || strings.HasSuffix(lower, "key") && lower != "apikey" ||
		strings.HasSuffix(lower, "path") || strings.HasSuffix(lower, "policy") || strings.HasSuffix(lower, "secrets") ||
		lower == "automountserviceaccounttoken"
}

// File is a file of the archive.
type File struct {
	Name    string
	Content string
}

// Contents is everything that goes into an archive.
type Contents struct {
	Inventory *inventory.Inventory
	// ConfigMaps are those of the namespace.
	ConfigMaps []corev1.ConfigMap
	// Secrets are described without their values, and their values are redacted
	// in everything else.
	Secrets []corev1.Secret
	// Logs are those of the containers, by file name, and Pages the outputs of other commands.
	Logs, Pages map[string]string
}

// Read reads everything about the session's namespace except the pages. What the
// user may not read is a gap of the inventory.
func Read(ctx context.Context, s *kube.Session, found *inventory.Inventory, lines int64) (Contents, error) {
	var configMaps corev1.ConfigMapList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&configMaps, &secrets} {
		if _, err := kube.ListVisible(ctx, s, list, &found.Gaps, client.InNamespace(s.Namespace)); err != nil {
			return Contents{}, err
		}
	}
	return Contents{
		Inventory: found, ConfigMaps: configMaps.Items, Secrets: secrets.Items, Logs: logs(ctx, s, found.Pods, lines), Pages: map[string]string{},
	}, nil
}

// logs reads the logs of all containers, and those of the instances before their
// last restart.
func logs(ctx context.Context, s *kube.Session, pods []corev1.Pod, lines int64) map[string]string {
	all := map[string]string{}
	for i := range pods {
		pod := &pods[i]
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			request := kube.LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: status.Name, Lines: lines}
			all[path.Join("logs", pod.Name, status.Name+".log")] = readLog(ctx, s, request)
			if request.Previous = true; status.RestartCount > 0 {
				all[path.Join("logs", pod.Name, status.Name+".previous.log")] = readLog(ctx, s, request)
			}
		}
	}
	return all
}

func readLog(ctx context.Context, s *kube.Session, request kube.LogRequest) string {
	content, err := s.Logs.Read(ctx, request)
	if err != nil {
		content += fmt.Sprintf("could not be read: %s\n", err)
	}
	return content
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
	if service, is := obj.(inventory.Service); is {
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

// Write writes the files as a compressed tar archive, below the folder.
func Write(out io.Writer, folder string, files []File, at time.Time) error {
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	var err error
	for _, file := range files {
		header := &tar.Header{
			Name: path.Join(folder, file.Name), Mode: 0o600, Size: int64(len(file.Content)), ModTime: at, Typeflag: tar.TypeReg,
		}
		if err == nil {
			err = archive.WriteHeader(header)
		}
		if err == nil {
			_, err = io.WriteString(archive, file.Content)
		}
	}
	return errors.Join(err, archive.Close(), compressed.Close())
}
