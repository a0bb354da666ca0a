package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/bundle"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/doctor"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// statusList is the document of several reports.
type statusList struct {
	Items []*report.Report `json:"items"`
	// Workloads describe the remaining workloads of the namespaces, if requested.
	Workloads []report.Workloads `json:"workloads,omitempty"`
}

// ready reports whether all reports and workloads are fine.
func (l statusList) ready() bool {
	return !slices.ContainsFunc(l.Items, func(r *report.Report) bool { return !r.Ready }) &&
		!slices.ContainsFunc(l.Workloads, func(w report.Workloads) bool { return len(w.LookAt) > 0 })
}

// statusOptions are the flags of the command.
type statusOptions struct {
	format                string
	everywhere, workloads bool
}

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [TARGET...]",
		Short: "Show what is wrong and where to look",
		Long: "Shows a ControlPlane or a service with everything it consists of: what it waits for and for how long, the pod, Job or\n" +
			"other object that explains it, and the end of its log.\n\n" +
			"Without TARGET it shows every ControlPlane, and every service that belongs to none.\n" +
			"The exit code is 3 if any of them is not ready.",
		Example: "  kubectl forge status\n  kubectl forge status keystone/keystone -n openstack\n  kubectl forge status -A -o json\n" +
			"  kubectl forge status --workloads -n keystone-system",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeTargets,
	}
	o := statusOptions{}
	format := outputFlag(cmd)
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "Cover all namespaces.")
	cmd.Flags().BoolVar(&o.workloads, "workloads", false,
		"Show what is wrong with every pod, Job and Deployment in the namespace, even without a ControlPlane or a service.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.everywhere && len(args) > 0 {
			return usageError("--all-namespaces cannot be combined with TARGET: a name is looked up in one namespace")
		}
		session, err := a.open()
		if err != nil {
			return err
		}
		namespaces := []string{session.Namespace}
		if o.everywhere {
			if namespaces, err = kube.Namespaces(cmd.Context(), session); err != nil {
				return err
			}
		}
		o.format = *format
		return a.status(cmd.Context(), session, namespaces, args, o)
	}
	return cmd
}

func (a *app) status(ctx context.Context, session *kube.Session, namespaces, args []string, o statusOptions) error {
	list, now, style := statusList{Items: []*report.Report{}}, time.Now(), show.StyleOf(a.Out)
	for _, namespace := range namespaces {
		if err := list.add(ctx, session, namespace, args, o.workloads); err != nil {
			return err
		}
	}
	err := show.Write(a.Out, o.format, list, func(out io.Writer) {
		for i, r := range list.Items {
			if i > 0 {
				fmt.Fprintln(out)
			}
			style.Report(out, r, now)
		}
		for i, w := range list.Workloads {
			if i > 0 || len(list.Items) > 0 {
				fmt.Fprintln(out)
			}
			style.Workloads(out, w, now)
		}
	})
	if err == nil && !list.ready() {
		return errSaid
	}
	return err
}

// add describes a namespace.
func (l *statusList) add(ctx context.Context, session *kube.Session, namespace string, args []string, workloads bool) error {
	found, err := kube.Read(ctx, session, namespace, workloads)
	if err != nil {
		return err
	}
	if !workloads || len(args) > 0 || len(found.Roots()) > 0 {
		reports, err := reportsOf(ctx, session, found, args)
		if err != nil {
			return err
		}
		l.Items = append(l.Items, reports...)
	}
	if workloads {
		w := report.BuildWorkloads(found)
		w.Gaps = quoteLogs(ctx, session, found.Namespace, w.LookAt, w.Gaps)
		l.Workloads = append(l.Workloads, w)
	}
	return nil
}

// reportsOf describes the objects that the arguments name, with the ends of their logs.
func reportsOf(ctx context.Context, session *kube.Session, found *inventory.Inventory, args []string) ([]*report.Report, error) {
	candidates := found.All()
	if len(args) == 0 {
		candidates = found.Roots()
	}
	targets, err := kube.Targets(candidates, found.Namespace, args)
	if err != nil {
		return nil, err
	}
	reports := make([]*report.Report, 0, len(targets))
	for _, target := range targets {
		r, err := report.Build(found, target)
		if err != nil {
			return nil, err
		}
		r.Gaps = quoteLogs(ctx, session, target.Namespace, r.LookAt, r.Gaps)
		reports = append(reports, r)
	}
	return reports, nil
}

// quotedLines is the number of log lines that are read to find the relevant ones. The reason of a pod that is not ready is
// repeated with each probe, and there may be tracebacks in between.
const quotedLines = 400

// quoteLogs adds the end of its log to each exhibit. What the user may not read is
// a gap; a container that never ran has no log.
func quoteLogs(ctx context.Context, session *kube.Session, namespace string, exhibits []report.Exhibit, gaps []string) []string {
	for i := range exhibits {
		exhibit := &exhibits[i]
		if exhibit.Container == "" {
			continue
		}
		log, err := session.Logs.Read(ctx, kube.LogRequest{
			Namespace: namespace, Pod: exhibit.Name, Container: exhibit.Container, Previous: exhibit.Previous, Lines: quotedLines,
		})
		switch {
		case err == nil:
			exhibit.Log = bundle.Redactor{}.Text(report.Quote(log))
		case kube.IsMissingRight(err) && !slices.Contains(gaps, err.Error()):
			gaps = append(slices.Clone(gaps), err.Error())
		}
	}
	return gaps
}

func (a *app) waitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wait [TARGET]",
		Short: "Wait for readiness, and show the conditions as they change",
		Long: "Waits until a ControlPlane or a service is ready as its spec asks. Meanwhile it shows the conditions: as a table that\n" +
			"is updated in place on a terminal, elsewhere as a line for each change. After a timeout it shows what is wrong, like\n" +
			"\"kubectl forge status\".",
		Example: "  kubectl forge wait\n  kubectl forge wait keystone/keystone -n openstack --timeout 5m",
	}
	timeout := cmd.Flags().Duration("timeout", defaultTimeout, timeoutUsage)
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		err := follow.Until(ctx, a.progress(*timeout), func(ctx context.Context) (follow.View, error) {
			obj, err := kube.Target(ctx, session, ref)
			return follow.Ready(ref, obj), err
		})
		return a.explainTimeout(ctx, session, ref, err)
	})
}

// explainTimeout shows what is wrong after a timeout.
func (a *app) explainTimeout(ctx context.Context, session *kube.Session, ref inventory.Ref, err error) error {
	if !errors.Is(err, follow.ErrTimeout) {
		return err
	}
	fmt.Fprintln(a.Out)
	shown := a.status(ctx, session, []string{ref.Namespace}, []string{ref.Arg()}, statusOptions{format: show.Formats[0]})
	if shown != nil && !errors.Is(shown, errSaid) {
		return errors.Join(err, shown)
	}
	fmt.Fprintln(a.Out)
	return fmt.Errorf("%s is not ready: %w", ref.Arg(), err)
}

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
