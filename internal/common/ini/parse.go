package ini

import (
	"errors"
	"fmt"
	"strings"
)

// Parse parses the output of Render as well as comments and blank lines. It
// splits lines like oslo.config (the first '=' or ':' ends the key, white space
// around key and value is dropped) but keeps quotes and dollar signs. A File holds one
// value per option, so Parse rejects what oslo.config reads as several values:
// repeated options and continuation lines. Errors contain the line number but no
// content.
func Parse(text string) (File, error) {
	parsed, repeated, err := ParseRepeated(text)
	if err == nil && len(repeated) > 0 {
		return nil, errors.New("an option is set twice in its section: keep one of them")
	}
	return parsed, err
}

// ParseRepeated is Parse for a file in which an option may stand several times. The File
// holds the last of its values, as an option has that takes one.
func ParseRepeated(text string) (File, Repeated, error) {
	p := parser{ini: File{}, repeated: Repeated{}}
	section := ""
	for n, line := range strings.Split(text, "\n") {
		next, err := p.parseLine(section, line)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		section = next
	}
	return p.ini, p.repeated, nil
}

type parser struct {
	ini      File
	repeated Repeated
}

// parseLine adds one line of the given section and returns the section of the next
// line.
func (p parser) parseLine(section, line string) (string, error) {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "", trimmed[0] == '#', trimmed[0] == ';':
		return section, nil
	case line[0] == ' ', line[0] == '\t':
		return "", errors.New("continuation lines are not supported: put the value on one line")
	case trimmed[0] == '[':
		return p.ini.parseHeader(trimmed)
	case section == "":
		return "", errors.New("option before the first section: add a [section] line above it")
	}
	end := strings.IndexAny(trimmed, "=:")
	if end < 0 {
		return "", errors.New("expected 'key = value'")
	}
	key := strings.TrimSpace(trimmed[:end])
	if err := ValidateKey(key); err != nil {
		return "", err
	}
	value := strings.TrimSpace(trimmed[end+1:])
	if err := ValidateValue(value); err != nil {
		return "", err
	}
	if first, ok := p.ini.Get(section, key); ok {
		p.repeated.add(section, key, first, value)
	}
	p.ini.Set(section, key, value)
	return section, nil
}

func (i File) parseHeader(line string) (string, error) {
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok {
		return "", errors.New("section header must end with ']'")
	}
	if err := ValidateSection(name); err != nil {
		return "", err
	}
	if i[name] == nil {
		i[name] = map[string]string{}
	}
	return name, nil
}
