package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/bundle"
	"github.com/c5c3/forge/kubectl-forge/internal/doctor"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

const bundleLines = 5000

func (a *app) bundleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "support-bundle",
		Short: "Write an archive that explains the state of a namespace, without secrets",
		Long: "Writes an archive for a bug report: the output of status and doctor, the objects of the namespace, its events, and the\n" +
			"logs of its pods. Secrets are listed by name and key only, and their values are redacted wherever else they appear, even\n" +
			"when encoded. Options, variables and URLs that look secret are redacted, too.\n\n" +
			"What you may not read is omitted, and listed in the file gaps.txt in the archive. Without permission to list Secrets,\n" +
			"their values are unknown, and only what looks secret is redacted.",
		Example: "  kubectl forge support-bundle -n openstack\n  kubectl forge support-bundle --file - | tar -tz",
		Args:    cobra.NoArgs,
	}
	file := cmd.Flags().StringP("file", "f", "", "The archive, which must not exist; - means standard output. "+
		"The default is forge-NAMESPACE-TIME.tar.gz.")
	lines := cmd.Flags().Int64("log-lines", bundleLines, "Number of lines to include from each log.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		session, err := a.open()
		if err != nil {
			return err
		}
		return a.writeBundle(cmd.Context(), session, *file, *lines)
	}
	return cmd
}

func (a *app) writeBundle(ctx context.Context, session *kube.Session, path string, lines int64) error {
	found, err := kube.Read(ctx, session, session.Namespace, false)
	if err != nil {
		return err
	}
	contents, err := bundle.Read(ctx, session, found, lines)
	if err != nil {
		return err
	}
	if contents.Pages, err = pages(ctx, session, found); err != nil {
		return err
	}
	files, err := bundle.Files(contents, session.Scheme())
	if err != nil {
		return err
	}
	folder := fmt.Sprintf("forge-%s-%s", session.Namespace, found.Now.UTC().Format("20060102-150405"))
	if path == "-" {
		return bundle.Write(a.Out, folder, files, found.Now)
	}
	if path == "" {
		path = folder + ".tar.gz"
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The user names the file.
	if err != nil {
		return err
	}
	if err := errors.Join(bundle.Write(out, folder, files, found.Now), out.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	fmt.Fprintf(a.Out, "wrote %s with %d files\n", path, len(files))
	if len(found.Gaps) > 0 {
		fmt.Fprintf(a.ErrOut, "%d items could not be read: gaps.txt in the archive lists them\n", len(found.Gaps))
	}
	return nil
}

// pages returns the output of version, status and doctor.
func pages(ctx context.Context, session *kube.Session, found *inventory.Inventory) (map[string]string, error) {
	var status, findings strings.Builder
	if len(found.Roots()) > 0 {
		reports, err := reportsOf(ctx, session, found, nil)
		if err != nil {
			return nil, err
		}
		for _, r := range reports {
			show.Style{}.Report(&status, r, found.Now)
			status.WriteString("\n")
		}
	}
	checks, err := doctor.Examine(ctx, session)
	show.Style{}.Findings(&findings, checks)
	return map[string]string{
		"version.txt": currentVersion().String() + "\n", "status.txt": status.String(), "doctor.txt": findings.String(),
	}, err
}
