package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/login"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// loginOptions are the flags of the command.
type loginOptions struct {
	print         bool
	file, address string
}

func (a *app) loginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login [TARGET] [-- COMMAND...]",
		Short: "Open a shell as the administrator, or write a clouds.yaml",
		Long: "Opens a shell in which the OpenStack client runs as the administrator, or runs COMMAND instead. Its clouds.yaml is a file\n" +
			"that only you can read, and is removed afterwards. A Keystone that is reachable only inside the cluster is reached\n" +
			"through a port forward. A ControlPlane's administrator has an application credential, a Keystone's a password.\n\n" +
			"--clouds-yaml prints the clouds.yaml and --file writes it, for clients that can reach Keystone themselves.",
		Example: "  kubectl forge login\n  kubectl forge login controlplane/controlplane -- openstack catalog list\n" +
			"  kubectl forge login --file clouds.yaml",
		ValidArgsFunction: a.completeTargets,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		targets, _ := cutAtDash(cmd, args)
		return cobra.MaximumNArgs(1)(cmd, targets)
	}
	o := loginOptions{}
	cmd.Flags().BoolVar(&o.print, "clouds-yaml", false, "Print the clouds.yaml, which holds the credential.")
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "Write the clouds.yaml to this file, which must not exist.")
	cmd.Flags().StringVar(&o.address, "address", "", "Keystone's URL, instead of a forwarded port or the one in the clouds.yaml.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		targets, command := cutAtDash(cmd, args)
		switch {
		case o.print && o.file != "":
			return usageError("--clouds-yaml and --file cannot be combined: specify one of them")
		case len(command) > 0 && (o.print || o.file != ""):
			return usageError("a COMMAND cannot be combined with --clouds-yaml or --file")
		}
		session, err := a.open()
		if err != nil {
			return err
		}
		ref, err := kube.One(cmd.Context(), session, targets, withIdentity...)
		if err != nil {
			return err
		}
		return a.login(cmd.Context(), session, ref, o, command)
	}
	return cmd
}

// cutAtDash returns the arguments before and after "--".
func cutAtDash(cmd *cobra.Command, args []string) (before, after []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}

func (a *app) login(ctx context.Context, session *kube.Session, ref inventory.Ref, o loginOptions, command []string) error {
	source, clouds, err := credentials(ctx, session, ref)
	if err != nil {
		return err
	}
	if o.address != "" {
		if clouds, err = login.Redirect(clouds, source.Cloud, o.address); err != nil {
			return err
		}
	}
	switch {
	case o.print:
		_, err := a.Out.Write(clouds)
		return err
	case o.file != "":
		if err := login.WriteFile(o.file, clouds); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "wrote %s with cloud %s\n", o.file, source.Cloud)
		return nil
	}
	// The shell handles interrupts itself.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if o.address == "" && !source.Public {
		if clouds, err = a.forwarded(ctx, session, source, clouds); err != nil {
			return err
		}
	}
	if len(command) == 0 {
		fmt.Fprintf(a.ErrOut, "shell as the administrator of %s; type exit to leave it\n", ref.Arg())
	}
	return login.Shell(ctx, a.IOStreams, clouds, source.Cloud, command)
}

// forwarded makes the cloud use a local port that leads to Keystone until the
// context ends.
func (a *app) forwarded(ctx context.Context, session *kube.Session, source login.Source, clouds []byte) ([]byte, error) {
	pods, err := reach.ReadyPods(ctx, session, source.Namespace, keystonev1alpha1.SelectorLabels(source.Service))
	switch {
	case err != nil:
		return nil, err
	case len(pods) == 0:
		return nil, fmt.Errorf("no API pod of Keystone %s is ready: see \"kubectl forge status keystone/%s\"", source.Service, source.Service)
	}
	address, err := a.forward(ctx, session)(ctx, source.Namespace, pods[0].Name, keystonev1alpha1.APIPort)
	if err != nil {
		return nil, err
	}
	return login.Redirect(clouds, source.Cloud, "http://"+address+"/v3")
}

// credentials returns where the credentials are and the clouds.yaml with them.
func credentials(ctx context.Context, session *kube.Session, ref inventory.Ref) (source login.Source, clouds []byte, err error) {
	if ref.Kind == inventory.KindControlPlane {
		cp, err := kube.ControlPlane(ctx, session, ref)
		if err != nil {
			return source, nil, err
		}
		source = login.FromControlPlane(cp)
		clouds, err = secretValue(ctx, session, source)
		return source, clouds, err
	}
	k, err := kube.Keystone(ctx, session, ref)
	if err != nil {
		return source, nil, err
	}
	if source, err = login.FromKeystone(k); err != nil {
		return source, nil, notReady(err)
	}
	password, err := secretValue(ctx, session, source)
	if err != nil {
		return source, nil, err
	}
	clouds, err = login.KeystoneClouds(k, string(password))
	return source, clouds, err
}

func secretValue(ctx context.Context, session *kube.Session, source login.Source) ([]byte, error) {
	secret := &corev1.Secret{}
	err := session.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: source.Secret}, secret)
	if apierrors.IsNotFound(err) || err == nil && len(secret.Data[source.Key]) == 0 {
		err = notReady(fmt.Errorf("secret %s has no key %s yet: see \"kubectl forge status -n %s\"", source.Secret, source.Key, source.Namespace))
	}
	return secret.Data[source.Key], err
}
