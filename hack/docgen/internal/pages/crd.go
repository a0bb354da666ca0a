package pages

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Page is the reference of one or more kinds.
type Page struct {
	// Title is the page's heading.
	Title string
	// Command is the command that writes the page.
	Command string
	// External maps a field, such as "spec.resources", to the address of the
	// documentation of its type. Its fields are not listed.
	External map[string]string
}

// WriteCRDs writes the reference of the kinds of some definitions as Markdown.
func (p Page) WriteCRDs(w io.Writer, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	for _, crd := range crds {
		for i := range crd.Spec.Versions {
			if err := p.writeVersion(&out, crd, &crd.Spec.Versions[i]); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (p Page) writeVersion(
	out *bytes.Buffer, crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion,
) error {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return fmt.Errorf("%s has no schema in version %s", crd.Name, version.Name)
	}
	schema := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(out, "\n## %s\n\n`apiVersion: %s/%s`\n\n%s\n", crd.Spec.Names.Kind, crd.Spec.Group, version.Name, prose(schema.Description))
	writeRules(out, schema)
	for _, part := range []string{"spec", "status"} {
		if property, ok := schema.Properties[part]; ok {
			p.writeObject(out, part, &property)
		}
	}
	return nil
}

// writeObject writes the fields of an object and then, in separate sections, those of
// the objects in it.
func (p Page) writeObject(out *bytes.Buffer, path string, schema *apiextensionsv1.JSONSchemaProps) {
	fmt.Fprintf(out, "\n### %s\n\n%s\n", path, prose(schema.Description))
	writeRules(out, schema)
	if len(schema.Properties) == 0 {
		return
	}
	out.WriteString("\n| Field | Type | Default | Meaning |\n|---|---|---|---|\n")
	names := slices.Sorted(maps.Keys(schema.Properties))
	for _, name := range names {
		property := schema.Properties[name]
		p.writeField(out, path+"."+name, slices.Contains(schema.Required, name), &property)
	}
	for _, name := range names {
		property := schema.Properties[name]
		suffix, inner := innermost(&property)
		if p.external(path+"."+name) == "" && len(inner.Properties) > 0 {
			p.writeObject(out, path+"."+name+suffix, inner)
		}
	}
}

// external returns the address of the documentation of the field's type, "" if it is on this page. A
// service of a ControlPlane has fields of the service's own kind.
func (p Page) external(path string) string {
	if of, found := strings.CutPrefix(path, "spec.services."); found {
		_, field, _ := strings.Cut(of, ".")
		path = "spec." + field
	}
	return p.External[path]
}

func (p Page) writeField(out *bytes.Buffer, path string, required bool, schema *apiextensionsv1.JSONSchemaProps) {
	name := "`" + path[strings.LastIndex(path, ".")+1:] + "`"
	typeName := typeOf(schema)
	if address := p.external(path); address != "" {
		typeName = fmt.Sprintf("[%s](%s)", typeName, address)
	}
	def := ""
	switch {
	case schema.Default != nil:
		def = "`" + string(schema.Default.Raw) + "`"
	case required:
		def = "required"
	}
	meaning := prose(schema.Description)
	if limits := limitsOf(schema); limits != "" {
		meaning = strings.TrimSpace(meaning + " " + limits)
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s |\n", name, typeName, cell(def), cell(meaning))
}

// innermost returns the object in a list or map, and the notation of its path, or
// the schema itself.
func innermost(schema *apiextensionsv1.JSONSchemaProps) (string, *apiextensionsv1.JSONSchemaProps) {
	switch {
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil:
		suffix, inner := innermost(schema.Items.Schema)
		return "[]" + suffix, inner
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		suffix, inner := innermost(schema.AdditionalProperties.Schema)
		return "{}" + suffix, inner
	}
	return "", schema
}

func typeOf(schema *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case schema.XIntOrString:
		return "integer or string"
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil:
		return "list of " + typeOf(schema.Items.Schema)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(schema.AdditionalProperties.Schema)
	case schema.Format == "date-time":
		return "time"
	}
	return schema.Type
}

func limitsOf(schema *apiextensionsv1.JSONSchemaProps) string {
	limits := boundsOf(schema)
	if len(schema.Enum) > 0 {
		values := make([]string, 0, len(schema.Enum))
		for _, value := range schema.Enum {
			values = append(values, "`"+string(value.Raw)+"`")
		}
		limits = append(limits, "one of "+strings.Join(values, ", "))
	}
	// An object's rules are in its own section.
	if _, inner := innermost(schema); len(inner.Properties) == 0 {
		for _, rule := range schema.XValidations {
			limits = append(limits, "*"+rule.Message+"*")
		}
	}
	if len(limits) == 0 {
		return ""
	}
	return "(" + strings.Join(limits, "; ") + ")"
}

func boundsOf(schema *apiextensionsv1.JSONSchemaProps) (bounds []string) {
	add := func(format string, value any) { bounds = append(bounds, fmt.Sprintf(format, value)) }
	if schema.Minimum != nil {
		add("at least %v", *schema.Minimum)
	}
	if schema.Maximum != nil {
		add("at most %v", *schema.Maximum)
	}
	if schema.MinLength != nil {
		add("at least %d long", *schema.MinLength)
	}
	if schema.MaxLength != nil {
		add("at most %d long", *schema.MaxLength)
	}
	if schema.MaxItems != nil {
		add("at most %d entries", *schema.MaxItems)
	}
	if schema.Pattern != "" {
		add("matches `%s`", schema.Pattern)
	}
	return bounds
}

func writeRules(out *bytes.Buffer, schema *apiextensionsv1.JSONSchemaProps) {
	for i, rule := range schema.XValidations {
		if i == 0 {
			out.WriteString("\nRules:\n\n")
		}
		where := ""
		if rule.FieldPath != "" {
			where = "`" + strings.TrimPrefix(rule.FieldPath, ".") + "`: "
		}
		fmt.Fprintf(out, "- %s%s\n", where, rule.Message)
	}
}

// prose joins the lines of a description and keeps its paragraphs.
func prose(description string) string {
	paragraphs := strings.Split(description, "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// cell makes a text fit into a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n\n", "<br>", "\n", " ").Replace(text)
}
