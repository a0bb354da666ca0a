package ini

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidateSection returns an error unless the name can be used in a section header.
// The error says what to change and does not contain the name.
func ValidateSection(name string) error {
	switch {
	case name == "":
		return errors.New("section name must not be empty")
	case strings.ContainsAny(name, "[]"):
		return errors.New("section name must not contain square brackets: write the name without them")
	}
	return validateText("section name", name)
}

// ValidateKey returns an error unless the name can be used as an option. The error
// says what to change and does not contain the name.
func ValidateKey(name string) error {
	switch {
	case name == "":
		return errors.New("option name must not be empty")
	case strings.ContainsAny(name, "=:"):
		return errors.New("option name must not contain '=' or ':', which separate it from the value")
	case strings.ContainsAny(name[:1], "#;["):
		return errors.New("option name must not begin with '#', ';' or '[', which begin a comment or a section")
	}
	if err := validateText("option name", name); err != nil {
		return err
	}
	// No option has a space in its name, and paste.deploy interprets "set x" and
	// "get x" as instructions about the global configuration.
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return errors.New("option name must not contain white space")
	}
	return nil
}

// ValidateValue returns an error unless parsers read the value back unchanged. An
// empty value is valid. The error says what to change and never contains the value,
// which may be a secret.
func ValidateValue(value string) error {
	return validateText("value", value)
}

func validateText(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New(what + " must be valid UTF-8")
	case strings.ContainsFunc(text, isLineBreak):
		return errors.New(what + " must not contain a line break: put it on one line")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New(what + " must not contain control characters such as tab or NUL")
	case strings.TrimSpace(text) != text:
		return errors.New(what + " must not begin or end with white space, which readers of the file remove")
	}
	return nil
}

// isLineBreak covers everything that Python's str.splitlines splits at, so that
// even a parser that splits more eagerly than oslo.config finds no second line.
func isLineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}
