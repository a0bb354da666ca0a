package docs

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a command of a shell script: its words, without quotes. A word that is
// only known when the script runs, for example because it contains a variable, is
// "".
type Command []string

// Commands returns the commands in a shell script, including those in substitutions
// and functions. It fails if the script has a syntax error.
func Commands(script string) ([]Command, error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, fmt.Errorf("not a valid shell script: %w", err)
	}
	var commands []Command
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			words := make(Command, 0, len(call.Args))
			for _, arg := range call.Args {
				words = append(words, literal(arg.Parts))
			}
			commands = append(commands, words)
		}
		return true
	})
	return commands, nil
}

func literal(parts []syntax.WordPart) string {
	var out strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.WriteString(strings.ReplaceAll(part.Value, "\\\n", ""))
		case *syntax.SglQuoted:
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner := literal(part.Parts)
			if inner == "" && len(part.Parts) > 0 {
				return ""
			}
			out.WriteString(inner)
		default:
			return ""
		}
	}
	return out.String()
}

// Program returns the name of the program that the command runs.
func (c Command) Program() string { return c[0] }

// kubectlValues are the flags of kubectl and helm that take their value from the
// next word.
var kubectlValues = map[string]bool{
	"-n": true, "--namespace": true, "-o": true, "--output": true, "-l": true, "--selector": true, "-p": true, "--patch": true,
	"-f": true, "--filename": true, "-c": true, "--container": true, "--set": true, "--values": true, "--image": true, "--name": true,
}

// Arguments returns the words after the program, up to "--", without flags and
// their values.
func (c Command) Arguments() []string {
	var arguments []string
	for i := 1; i < len(c); i++ {
		switch word := c[i]; {
		case word == "--":
			return arguments
		case kubectlValues[word]:
			i++
		case !strings.HasPrefix(word, "-"):
			arguments = append(arguments, word)
		}
	}
	return arguments
}

// Values returns the values of a flag, such as all values of --set.
func (c Command) Values(flag string) []string {
	var values []string
	for i, word := range c {
		if value, ok := strings.CutPrefix(word, flag+"="); ok {
			values = append(values, value)
		}
		if word == flag && i+1 < len(c) {
			values = append(values, c[i+1])
		}
	}
	return values
}
