package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/bundle"
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
		Short: "Show what is wrong, where to look and which command to run next",
		Long: "Shows a ControlPlane or a service with everything it consists of: what it waits for and for how long, the pod, Job or\n" +
			"other object that explains it with the end of its log, and the command to run next.\n\n" +
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

// quotedLines is the number of log lines that are read to find the last relevant ones.
const quotedLines = 40

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
