package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// version is set by the linker for a release.
var version = "dev"

// versionDocument is what the command prints for programs.
type versionDocument struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	APIs    []string `json:"apis"`
}

func currentVersion() versionDocument {
	return versionDocument{
		Version: version, Go: runtime.Version(),
		APIs: []string{keystonev1alpha1.GroupVersion.String(), c5c3v1alpha1.GroupVersion.String()},
	}
}

func versionLine() string {
	v := currentVersion()
	return fmt.Sprintf("kubectl-forge %s (%s) for %s and %s", v.Version, v.Go, v.APIs[0], v.APIs[1])
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and the APIs it knows",
		Args:  cobra.NoArgs,
	}
	format := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return show.Write(a.Out, *format, currentVersion(), func(out io.Writer) { fmt.Fprintln(out, versionLine()) })
	}
	return cmd
}
