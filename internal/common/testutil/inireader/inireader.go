// Package inireader imitates the Python readers of configuration files, including everything
// that makes them find more than one option in a text, and their errors.
package inireader

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Options are what a reader finds in a file, by section and option.
type Options = map[string]map[string]string

// pythonLines splits a text like a file opened in text mode.
func pythonLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

// Oslo imitates oslo_config.iniparser: a line that begins with white space
// continues the option before it, and one pair of quotes around a value is removed.
func Oslo(text string) (Options, error) {
	read, section, key := Options{}, "", ""
	for _, line := range pythonLines(text) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		switch {
		case line == "":
			key = ""
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return nil, errors.New("unexpected continuation line")
			}
			read[section][key] += "\n" + strings.TrimLeftFunc(line, unicode.IsSpace)
		case line[0] == '[':
			if !strings.HasSuffix(line, "]") || len(line) <= 2 {
				return nil, errors.New("invalid section")
			}
			section, key = line[1:len(line)-1], ""
			if read[section] == nil {
				read[section] = map[string]string{}
			}
		case line[0] == '#' || line[0] == ';':
		default:
			name, value, err := osloOption(line)
			if err != nil {
				return nil, err
			}
			if _, twice := read[section][name]; twice {
				return nil, fmt.Errorf("two values of %q", name)
			}
			set(read, section, name, value)
			key = name
		}
	}
	return read, nil
}

func set(options Options, section, key, value string) {
	if options[section] == nil {
		options[section] = map[string]string{}
	}
	options[section][key] = value
}

func osloOption(line string) (key, value string, err error) {
	end := strings.IndexAny(line, "=:")
	if end < 0 {
		return "", "", errors.New("no ':' or '=' found in assignment")
	}
	if key = strings.TrimSpace(line[:end]); key == "" {
		return "", "", errors.New("key cannot be empty")
	}
	return key, Unquoted(strings.TrimSpace(line[end+1:])), nil
}

// Unquoted removes one pair of quotes like oslo.config, which treats a lone quote
// as a pair.
func Unquoted(value string) string {
	if value == "" || (value[0] != '"' && value[0] != '\'') || value[0] != value[len(value)-1] {
		return value
	}
	return value[1:max(1, len(value)-1)]
}

// Configparser imitates Python's configparser as paste.deploy configures it:
// names are case-sensitive, comments have their own lines, and deeper indentation
// continues a value. Interpolation is omitted.
func Configparser(text string) (Options, error) {
	read, section, key, indent := Options{}, "", "", 0
	for _, line := range pythonLines(text) {
		stripped := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
		switch {
		case stripped == "" || stripped[0] == '#' || stripped[0] == ';':
			continue
		case section != "" && key != "" && depth > indent:
			read[section][key] += "\n" + stripped
			continue
		}
		indent = depth
		if stripped[0] == '[' && strings.Contains(stripped, "]") {
			section, key = stripped[1:strings.LastIndex(stripped, "]")], ""
			if read[section] != nil {
				return nil, fmt.Errorf("duplicate section %q", section)
			}
			read[section] = map[string]string{}
			continue
		}
		end := strings.IndexAny(stripped, "=:")
		if section == "" || end <= 0 {
			return nil, fmt.Errorf("cannot parse %q", line)
		}
		key = strings.TrimSpace(stripped[:end])
		set(read, section, key, strings.TrimSpace(stripped[end+1:]))
	}
	return read, nil
}
