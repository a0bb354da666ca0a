package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
	"github.com/c5c3/forge/kubectl-forge/internal/tempest"
	"github.com/c5c3/forge/kubectl-forge/internal/verify"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// verifyOptions are the flags of the command.
type verifyOptions struct {
	address, authorities, image string
	interfaces                  []string
	// roots are the authorities in that file, with those of the system, nil without a file.
	roots   *x509.CertPool
	tempest bool
	timeout *time.Duration
	format  *string
}

// interfaces are those that an endpoint can have.
var interfaces = []string{"public", "internal", "admin"}

func (a *app) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [TARGET]",
		Short: "Test a Keystone or a ControlPlane as one of its users would",
		Long: "Tests what is installed, as after an installation or an upgrade: logs in as the administrator, checks the token at every\n" +
			"pod of Keystone, reads the catalog, reaches each endpoint in it, and creates and deletes a project. If TARGET is a\n" +
			"ControlPlane, its application credential logs in, too. The exit code is 0 only if every check has passed.\n\n" +
			"Services inside the cluster are reached through a port forward, everything else directly and with verified certificates.\n" +
			"The project is deleted even if a check fails or you interrupt the command.\n\n" +
			"--tempest also runs OpenStack's own tests of the Identity API, in a Job in the namespace. They take long, and create and\n" +
			"delete users, projects and domains. Interrupting the command does not interrupt the Job.",
		Example: "  kubectl forge verify\n  kubectl forge verify keystone/keystone --tempest\n" +
			"  kubectl forge verify controlplane/controlplane -n openstack\n" +
			"  kubectl forge verify keystone/keystone --interface public --os-cacert ca.crt -o json",
	}
	o := verifyOptions{format: outputFlag(cmd)}
	cmd.Flags().StringVar(&o.address, "address", "", "Keystone's URL, such as https://keystone.example.com/v3, instead of a forwarded port.")
	cmd.Flags().StringVar(&o.authorities, "os-cacert", "",
		"File with certificates of authorities that endpoints may be signed by, in addition to those of the system.")
	cmd.Flags().StringSliceVar(&o.interfaces, "interface", nil, "Test only the endpoints with these interfaces: public, internal or admin.")
	cmd.Flags().BoolVar(&o.tempest, "tempest", false, "Also run OpenStack's own tests of the Identity API.")
	cmd.Flags().StringVar(&o.image, "tempest-image", tempest.Image, "The image with these tests.")
	o.timeout = cmd.Flags().Duration("timeout", tempestTimeout, "Maximum time to wait for these tests, such as 90m; 0 waits forever.")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		for _, one := range o.interfaces {
			if !slices.Contains(interfaces, one) {
				return usageError("--interface=%s: choose %s", one, strings.Join(interfaces, ", "))
			}
		}
		if o.roots, err = authorities(o.authorities); err != nil {
			return usageError("%w", err)
		}
		return nil
	}
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.verify(ctx, session, ref, o)
	}, withIdentity...)
}

// authorities returns those of the system with those of the file, nil without a file.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	certificates, err := os.ReadFile(path) //nolint:gosec // The user names the file.
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(certificates) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return pool, nil
}

func (a *app) verify(ctx context.Context, session *kube.Session, ref inventory.Ref, o verifyOptions) error {
	plan, err := verifyPlan(ctx, session, ref)
	if err != nil {
		return err
	}
	// What is forwarded outlasts an interrupt, so that the project can be deleted.
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if o.address != "" {
		plan.URL = o.address
	}
	plan.Interfaces, plan.Clock = o.interfaces, time.Now
	plan.Network = reach.New(session, ref.Namespace, a.forward(lifetime, session), o.roots)
	style, progress := show.StyleOf(a.Out), a.Out
	if *o.format != show.Formats[0] {
		progress = io.Discard
	}
	plan.Show = func(step verify.Step) { style.Step(progress, step) }
	if o.tempest {
		if err := requireTempest(ctx, session, ref); err != nil {
			return err
		}
		plan.More = []verify.Check{{Name: "Tempest", Run: func(ctx context.Context) (string, error) {
			return a.tempest(ctx, session, ref, o, progress)
		}}}
	}
	report, ended := plan.Run(ctx)
	if errors.Is(ended, context.Canceled) {
		return ended
	}
	err = show.Write(a.Out, *o.format, report, func(out io.Writer) { style.Verified(out, report) })
	switch {
	case err != nil:
		return err
	case ended != nil:
		return ended
	case !report.Passed:
		return errSaid
	}
	return nil
}

// verifyPlan returns what there is to test, with the credentials.
func verifyPlan(ctx context.Context, session *kube.Session, ref inventory.Ref) (verify.Plan, error) {
	plan := verify.Plan{Target: ref, Types: []string{verify.TypeIdentity}, Project: "forge-verify-" + rand.String(8)}
	keystone := kube.KeystoneOf(ref)
	plan.URL = keystonev1alpha1.LocalEndpoint(keystone.Namespace, keystone.Name)
	if ref.Kind == inventory.KindControlPlane {
		cp, err := kube.ControlPlane(ctx, session, ref)
		if err != nil {
			return plan, err
		}
		if cp.Spec.Services.Placement != nil {
			plan.Types = append(plan.Types, verify.TypePlacement)
		}
		credential, err := loginOf(ctx, session, ref)
		if err != nil {
			return plan, err
		}
		plan.Credential = &credential
	}
	administrator, err := loginOf(ctx, session, keystone)
	plan.Administrator = administrator
	return plan, err
}

func loginOf(ctx context.Context, session *kube.Session, ref inventory.Ref) (verify.Login, error) {
	source, clouds, err := credentials(ctx, session, ref)
	if err != nil {
		return verify.Login{}, err
	}
	return verify.ParseLogin(source.Secret, source.Cloud, clouds)
}
