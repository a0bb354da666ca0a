package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/upgrade"
)

// upgradeOptions are the flags of the command.
type upgradeOptions struct {
	to                              string
	abort, preflight, force, noWait bool
	timeout                         *time.Duration
}

const upgradeTimeout = 30 * time.Minute

func (a *app) upgradeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upgrade [TARGET] (--to RELEASE | --abort)",
		Short: "Upgrade to another release, or roll back an upgrade in progress",
		Long: "Checks for what would block an upgrade, sets the release in the spec, and follows the phases of the upgrade.\n" +
			"Interrupting the command does not interrupt the upgrade; the same command follows it again.\n\n" +
			"--abort sets the installed release again, which is possible until phase Contracting.\n" +
			"The services of a ControlPlane are upgraded through the ControlPlane, even if one of them is the TARGET.",
		Example: "  kubectl forge upgrade --to 2026.1 --preflight\n  kubectl forge upgrade controlplane/controlplane --to 2026.1\n" +
			"  kubectl forge upgrade controlplane/controlplane --abort",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeTargets,
	}
	o := upgradeOptions{timeout: timeoutFlag(cmd, upgradeTimeout)}
	cmd.Flags().StringVar(&o.to, "to", "", "The release to upgrade to, such as 2026.1.")
	cmd.Flags().BoolVar(&o.abort, "abort", false, "Roll back to the installed release.")
	cmd.Flags().BoolVar(&o.preflight, "preflight", false, "Only check whether the upgrade can begin.")
	cmd.Flags().BoolVar(&o.force, "force", false, "Begin even if a check has failed. The operator still refuses invalid upgrades.")
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "Start it and return.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(exclusive(cmd, "to", "abort"), exclusive(cmd, "preflight", "abort")); err != nil {
			return err
		}
		if o.to == "" && !o.abort {
			return usageError{errors.New("specify the release with --to, or --abort to roll back")}
		}
		session, ref, err := a.target(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.upgrade(cmd.Context(), session, ref, o)
	}
	return cmd
}

func (a *app) upgrade(ctx context.Context, session *kube.Session, ref inventory.Ref, o upgradeOptions) error {
	facts, err := upgradeFacts(ctx, session, ref)
	if err != nil {
		return err
	}
	change, done, err := a.plan(ctx, session, facts, o)
	if done || err != nil {
		return err
	}
	if facts, err = setRelease(ctx, session, facts, change, false); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "set release %s on %s\n", change, facts.Target().Arg())
	if o.noWait {
		return nil
	}
	err = follow.Until(ctx, a.progress(*o.timeout), func(ctx context.Context) (follow.View, error) {
		latest, err := upgradeFacts(ctx, session, facts.Target())
		if err != nil {
			return follow.View{}, err
		}
		facts = latest
		return upgrade.View(facts, change), nil
	})
	if errors.Is(err, follow.ErrTimeout) {
		err = a.explainTimeout(ctx, session, facts.Target(), err)
	}
	if err != nil {
		return upgradeError(facts, o, followError(err))
	}
	fmt.Fprintf(a.Out, "%s runs release %s\n", facts.Target().Arg(), change)
	return nil
}

// upgradeError adds what can be done about an upgrade that has not ended as it should.
func upgradeError(facts upgrade.Facts, o upgradeOptions, err error) error {
	ref := facts.Target()
	next := "the same command follows it again"
	if _, impossible := upgrade.Abort(facts); !o.abort && impossible == nil {
		next += fmt.Sprintf("; \"kubectl forge upgrade %s -n %s --abort\" rolls it back", ref.Arg(), ref.Namespace)
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; the operator continues: %s", err, next)
	}
	return fmt.Errorf("%w\nsee \"kubectl forge status %s -n %s\"\nthe operator continues, and retries a failed step after %.0f minutes: %s",
		err, ref.Arg(), ref.Namespace, job.RetryAfter.Minutes(), next)
}

// planeOf returns the ControlPlane that a service belongs to, and whether there is one.
func planeOf(service inventory.Service) (inventory.Ref, bool) {
	owner := metav1.GetControllerOf(service)
	if owner == nil || owner.Kind != inventory.KindControlPlane {
		return inventory.Ref{}, false
	}
	return inventory.Ref{Kind: owner.Kind, Namespace: service.GetNamespace(), Name: owner.Name}, true
}

// upgradeFacts reads the ControlPlane with its services, or the service that belongs to none.
func upgradeFacts(ctx context.Context, session *kube.Session, ref inventory.Ref) (upgrade.Facts, error) {
	named := ""
	if ref.Kind != inventory.KindControlPlane {
		named = strings.ToLower(ref.Kind)
		service, err := kube.Service(ctx, session, ref)
		if err != nil {
			return upgrade.Facts{}, err
		}
		var owned bool
		if ref, owned = planeOf(service); !owned {
			return upgrade.Facts{Services: []inventory.Service{service}}, nil
		}
	}
	plane, err := kube.ControlPlane(ctx, session, ref)
	if err != nil {
		return upgrade.Facts{}, err
	}
	services, err := kube.ServicesOf(ctx, session, plane)
	if err == nil && len(services) == 0 {
		err = notReadyError{fmt.Errorf("%s has no service yet: see \"kubectl forge status %s\"", ref.Arg(), ref.Arg())}
	}
	return upgrade.Facts{ControlPlane: plane, Services: services, Named: named}, err
}

// plan returns the change to make, an upgrade only after its preflight. done is set if the
// command ends without one.
func (a *app) plan(ctx context.Context, session *kube.Session, facts upgrade.Facts, o upgradeOptions) (upgrade.Change, bool, error) {
	if o.abort {
		change, err := upgrade.Abort(facts)
		if err != nil {
			err = notReadyError{err}
		}
		return change, false, err
	}
	change, refused := upgrade.Upgrade(facts, o.to)
	findings := upgrade.Preflight(facts, o.to)
	if refused == nil {
		admission, err := admissionOf(ctx, session, facts, change)
		if err != nil {
			return change, true, err
		}
		findings = append(findings, admission)
	}
	a.style().Findings(a.Out, findings)
	switch {
	case check.AnyFailed(findings) && !o.force:
		return change, true, errSaid
	case o.preflight:
		return change, true, nil
	case refused != nil:
		return change, true, notReadyError{refused}
	}
	return change, false, nil
}

// admissionOf asks the API server whether it would accept the change.
func admissionOf(ctx context.Context, session *kube.Session, facts upgrade.Facts, change upgrade.Change) (check.Finding, error) {
	admission := check.Finding{Name: "Admission", Result: check.OK, Text: "the API server accepts the change"}
	if _, err := setRelease(ctx, session, facts, change, true); err != nil {
		if _, missing := errors.AsType[*kube.MissingRightError](err); missing {
			return admission, err
		}
		admission.Result, admission.Text = check.Failed, err.Error()
	}
	return admission, nil
}

// setRelease writes the release into the spec or, as a dry run, checks whether the
// API server would accept it. It returns the facts with the API server's answer.
func setRelease(
	ctx context.Context, session *kube.Session, facts upgrade.Facts, change upgrade.Change, dryRun bool,
) (upgrade.Facts, error) {
	patch, err := upgrade.Patch(facts, change)
	if err != nil {
		return facts, err
	}
	options := []client.PatchOption{client.FieldOwner("kubectl-forge")}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	after := facts
	var target client.Object
	if facts.ControlPlane != nil {
		after.ControlPlane = facts.ControlPlane.DeepCopy()
		target = after.ControlPlane
	} else {
		service := inventory.Service{Resource: facts.Services[0].Of.Empty(), Of: facts.Services[0].Of}
		service.SetNamespace(facts.Target().Namespace)
		service.SetName(facts.Target().Name)
		after.Services = []inventory.Service{service}
		target = service.Resource
	}
	return after, kube.Explain(session.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), options...))
}
