package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/doctor"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// checkList is the document of findings.
type checkList struct {
	Checks []check.Finding `json:"checks"`
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether the cluster has what ControlPlanes and services need",
		Long: "Checks the cluster and the namespace: the version of Kubernetes, the kinds and their versions, the operators, the secret\n" +
			"store and whether the namespace may use it, DNS, volumes, quotas, and which commands your permissions are sufficient for.\n\n" +
			"Checks for which you lack permission are Unknown. The exit code is 3 if a check has failed.",
		Example: "  kubectl forge doctor -n openstack\n  kubectl forge doctor -o json",
		Args:    cobra.NoArgs,
	}
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		session, err := a.open()
		if err != nil {
			return err
		}
		findings, err := doctor.Examine(cmd.Context(), session)
		if err != nil {
			return err
		}
		err = show.Write(a.Out, *format, checkList{findings}, func(out io.Writer) { show.StyleOf(a.Out).Findings(out, findings) })
		if err == nil && check.AnyFailed(findings) {
			return errSaid
		}
		return err
	}
	return cmd
}
