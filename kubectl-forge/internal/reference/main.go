// Command reference writes the reference page of the plugin's commands. It takes
// the folder of the pages as its argument.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/c5c3/forge/kubectl-forge/internal/cli"
)

const preface = `<!-- Written by make generate. Do not edit. -->

# kubectl forge

Every command of the plugin with its flags. See [how to use it](../kubectl-forge.md).

`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reference FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) error {
	page := bytes.NewBufferString(preface)
	root := cli.New(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	root.DisableAutoGenTag = true
	if err := write(page, root); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "kubectl-forge.md"), append(bytes.TrimSpace(page.Bytes()), '\n'), 0o644)
}

// write adds the command and its subcommands. The global flags are listed at
// the root only.
func write(page *bytes.Buffer, cmd *cobra.Command) error {
	var section bytes.Buffer
	if err := doc.GenMarkdownCustom(cmd, &section, anchor); err != nil {
		return err
	}
	page.WriteString(shorten(section.String()))
	for _, child := range cmd.Commands() {
		if !child.IsAvailableCommand() || child.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if err := write(page, child); err != nil {
			return err
		}
	}
	return nil
}

// anchor returns the anchor on this page of the command that cobra would link to.
func anchor(file string) string {
	return "#" + strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "_", "-")
}

// shorten removes the global flags, and the links between commands,
// which are all on this page.
func shorten(section string) string {
	section, _, _ = strings.Cut(section, "### SEE ALSO")
	section, _, _ = strings.Cut(section, "### Options inherited from parent commands")
	return strings.TrimRight(section, "\n") + "\n\n"
}
