package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
	"github.com/c5c3/forge/kubectl-forge/internal/upgrade"
)

// upgradeOptions are the flags of the command.
type upgradeOptions struct {
	to                              string
	digests                         []string
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
			"A digest in the spec belongs to one tag: --digest replaces it, and --abort sets that of the installed release again.\n" +
			"The services of a ControlPlane are upgraded through the ControlPlane, even if one of them is the TARGET.",
		Example: "  kubectl forge upgrade --to 2026.1 --preflight\n  kubectl forge upgrade controlplane/controlplane --to 2026.1\n" +
			"  kubectl forge upgrade controlplane/controlplane --abort",
	}
	o := upgradeOptions{timeout: cmd.Flags().Duration("timeout", upgradeTimeout, timeoutUsage)}
	cmd.Flags().StringVar(&o.to, "to", "", "The release to upgrade to, such as 2026.1.")
	cmd.Flags().StringArrayVar(&o.digests, "digest", nil,
		"The digest of the image of the new release, or \"none\" to go by its tag, where the spec has that of the old one. "+
			"Of several services, the one before =, as in keystone=sha256:...")
	cmd.Flags().BoolVar(&o.abort, "abort", false, "Roll back to the installed release.")
	cmd.Flags().BoolVar(&o.preflight, "preflight", false, "Only check whether the upgrade can begin.")
	cmd.Flags().BoolVar(&o.force, "force", false, "Begin even if a check has failed. The operator still refuses invalid upgrades.")
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "Start it and return.")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case o.abort && o.to != "":
			return usageError("--to and --abort cannot be combined: specify one of them")
		case o.abort && len(o.digests) > 0:
			return usageError("--digest and --abort cannot be combined: specify one of them")
		case o.abort && o.preflight:
			return usageError("--preflight and --abort cannot be combined: specify one of them")
		case o.to == "" && !o.abort:
			return usageError("specify the release with --to, or --abort to roll back")
		}
		return nil
	}
	return a.onActive(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.upgrade(ctx, session, ref, o)
	})
}

func (a *app) upgrade(ctx context.Context, session *kube.Session, ref inventory.Ref, o upgradeOptions) error {
	digests, err := upgrade.ParseDigests(o.digests)
	if err != nil {
		return usageError("%w", err)
	}
	facts, err := upgradeFacts(ctx, session, ref)
	if err != nil {
		return err
	}
	facts.Digests = digests
	change, done, err := a.plan(ctx, session, facts, o)
	if done || err != nil {
		return err
	}
	if err := setRelease(ctx, session, facts, change); err != nil {
		return err
	}
	if facts, err = upgradeFacts(ctx, session, facts.Target()); err != nil {
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

// followError classifies the failure of an operation that was followed as not ready,
// rather than as a failure of the command.
func followError(err error) error {
	if errors.Is(err, follow.ErrTimeout) || errors.Is(err, context.Canceled) || kube.IsMissingRight(err) {
		return err
	}
	return notReady(err)
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

// upgradeFacts reads the ControlPlane with its services, or the service that belongs to none.
func upgradeFacts(ctx context.Context, session *kube.Session, ref inventory.Ref) (upgrade.Facts, error) {
	facts := upgrade.Facts{}
	if ref.Kind != inventory.KindControlPlane {
		facts.Named = strings.ToLower(ref.Kind)
		service, err := kube.Service(ctx, session, ref)
		if err != nil {
			return facts, err
		}
		plane := inventory.PlaneOf(service)
		if plane == nil {
			return upgrade.Facts{Services: []inventory.Instance{service}}, nil
		}
		ref = *plane
	}
	var err error
	if facts.ControlPlane, err = kube.ControlPlane(ctx, session, ref); err != nil {
		return facts, err
	}
	facts.Services, err = kube.ServicesOf(ctx, session, facts.ControlPlane)
	if err == nil && len(facts.Services) == 0 {
		err = notReady(fmt.Errorf("%s has no service yet: see \"kubectl forge status %s\"", ref.Arg(), ref.Arg()))
	}
	return facts, err
}

// plan returns the change to make, an upgrade only after its preflight. done is set if the
// command ends without one.
func (a *app) plan(
	ctx context.Context, session *kube.Session, facts upgrade.Facts, o upgradeOptions,
) (_ upgrade.Change, done bool, _ error) {
	if o.abort {
		change, err := upgrade.Abort(facts)
		if err != nil {
			err = notReady(err)
		}
		return change, false, err
	}
	change, refused := upgrade.Upgrade(facts, o.to)
	findings := upgrade.Preflight(facts, o.to)
	if refused == nil {
		admission := check.Finding{Name: "Admission", Result: check.OK, Text: "the API server accepts the change"}
		if err := setRelease(ctx, session, facts, change, client.DryRunAll); kube.IsMissingRight(err) {
			return change, true, err
		} else if err != nil {
			admission.Result, admission.Text = check.Failed, err.Error()
		}
		findings = append(findings, admission)
	}
	show.StyleOf(a.Out).Findings(a.Out, findings)
	switch {
	case check.AnyFailed(findings) && !o.force:
		return change, true, errSaid
	case o.preflight:
		return change, true, nil
	case refused != nil:
		return change, true, notReady(refused)
	}
	return change, false, nil
}

// setRelease writes the release into the spec or, as a dry run, checks whether the
// API server would accept it.
func setRelease(
	ctx context.Context, session *kube.Session, facts upgrade.Facts, change upgrade.Change, options ...client.PatchOption,
) error {
	patch, err := upgrade.Patch(facts, change)
	if err != nil {
		return err
	}
	target, err := kube.Target(ctx, session, facts.Target())
	if err != nil {
		return err
	}
	options = append(options, client.FieldOwner("kubectl-forge"))
	return session.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), options...)
}
