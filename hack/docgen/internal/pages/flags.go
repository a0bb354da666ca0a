package pages

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// flagLine matches the first line of a flag in the output of a program's --help,
// and defaultValue the end of the flag's last line.
var (
	flagLine     = regexp.MustCompile(`^  -(\S+)(?: (\S+))?(?:\t(.*))?$`)
	defaultValue = regexp.MustCompile(` \(default (.+)\)$`)
)

// commandLineFlag is a flag of a program.
type commandLineFlag struct {
	name, value, usage, standard string
}

// WriteFlags writes the flags of a program as Markdown. The help is the
// output of the program with --help; it fails if that lists no flags.
func (p Page) WriteFlags(w io.Writer, help string) error {
	flags := parseFlags(help)
	if len(flags) == 0 {
		return fmt.Errorf("no flags in what the program prints as its help: %q", help)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	out.WriteString("\nThe chart sets most of them from its values; set values rather than flags.\n" +
		"\n| Flag | Value | Default | Meaning |\n|---|---|---|---|\n")
	for _, f := range flags {
		standard := f.standard
		if standard != "" {
			standard = "`" + standard + "`"
		}
		fmt.Fprintf(&out, "| `--%s` | %s | %s | %s |\n", f.name, f.value, cell(standard), cell(strings.ReplaceAll(f.usage, "<", "&lt;")))
	}
	_, err := w.Write(out.Bytes())
	return err
}

func parseFlags(help string) []commandLineFlag {
	var flags []commandLineFlag
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		if match := flagLine.FindStringSubmatch(line); match != nil {
			flags = append(flags, commandLineFlag{name: match[1], value: match[2], usage: match[3]})
			continue
		}
		if usage, ok := strings.CutPrefix(line, "    \t"); ok && len(flags) > 0 {
			last := &flags[len(flags)-1]
			last.usage = strings.TrimSpace(last.usage + " " + strings.TrimSpace(usage))
		}
	}
	for i := range flags {
		if match := defaultValue.FindStringSubmatch(flags[i].usage); match != nil {
			flags[i].standard = strings.Trim(match[1], `"`)
			flags[i].usage = strings.TrimSuffix(flags[i].usage, match[0])
		}
	}
	return flags
}
