package cli

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// version is set by the linker for a release.
var version = "dev"

// versionDocument is what the command prints for programs.
type versionDocument struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	APIs    []string `json:"apis"`
}

// String is the version for people.
func (v versionDocument) String() string {
	return fmt.Sprintf("kubectl-forge %s (%s) for %s", v.Version, v.Go, strings.Join(v.APIs, ", "))
}

func currentVersion() versionDocument {
	document := versionDocument{Version: version, Go: runtime.Version()}
	for _, kind := range inventory.TargetKinds() {
		document.APIs = append(document.APIs, kind.GroupVersion().String())
	}
	return document
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and the APIs it knows",
		Args:  cobra.NoArgs,
	}
	format := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return show.Write(a.Out, *format, currentVersion(), func(out io.Writer) { fmt.Fprintln(out, currentVersion()) })
	}
	return cmd
}
