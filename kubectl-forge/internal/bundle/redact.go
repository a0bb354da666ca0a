// Package bundle writes the diagnostics of a namespace into an archive
// that may be shared: it contains no secrets.
package bundle

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/redact"
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
