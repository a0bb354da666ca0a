package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/kubectl-forge/internal/backup"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

type restoreOptions struct {
	rotation
	at, filename *string
	replace      *bool
}

func (a *app) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore [TARGET]",
		Short: "Restore a backup of a ControlPlane",
		Long: "Restores the databases of a ControlPlane and Keystone's keys from the backup that is closest to a time, and follows the\n" +
			"restore until the ControlPlane is ready. The operator loads the backup into another server first. It replaces the\n" +
			"databases only after it has proven there that the keys fit.\n\n" +
			"In an empty cluster, --filename names the manifest of the ControlPlane, which is created for the restore.",
		Example: "  kubectl forge restore --filename controlplane.yaml -n openstack\n" +
			"  kubectl forge restore controlplane/controlplane -n openstack --replace --time 2026-11-21T01:00:00Z",
	}
	flags := restoreOptions{
		rotation: rotationFlags(cmd),
		at:       cmd.Flags().String("time", "", "Time of the backup, such as 2026-11-21T01:00:00Z; the default is the last backup."),
		filename: cmd.Flags().StringP("filename", "f", "", "Manifest of a ControlPlane that does not exist."),
		replace:  cmd.Flags().Bool("replace", false, "Replace the databases that the ControlPlane uses."),
	}
	existing := a.onActive(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.restoreExisting(ctx, session, ref, flags)
	}, inventory.KindControlPlane).RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case *flags.filename == "":
			return existing(cmd, args)
		case len(args) > 0:
			return usageError("--filename names the ControlPlane: omit %s", args[0])
		}
		session, err := a.open()
		if err != nil {
			return err
		}
		return a.restoreNew(cmd.Context(), session, flags)
	}
	return cmd
}

// restoreNew creates the ControlPlane of a manifest for the restore.
func (a *app) restoreNew(ctx context.Context, session *kube.Session, flags restoreOptions) error {
	at, err := timeOf(*flags.at)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(*flags.filename)
	if err != nil {
		return usageError("--filename: %w", err)
	}
	cp := &c5c3v1alpha1.ControlPlane{}
	if err := yaml.UnmarshalStrict(content, cp); err != nil || cp.Kind != inventory.KindControlPlane {
		return usageError("--filename=%s: it is not the manifest of one ControlPlane", *flags.filename)
	}
	if err := backup.Check(cp); err != nil {
		return notReady(err)
	}
	// The API server gets the manifest itself, so that it sets the defaults.
	manifest := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &manifest.Object); err != nil {
		return err
	}
	manifest.SetNamespace(cmp.Or(cp.Namespace, session.Namespace))
	annotations := manifest.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c5c3v1alpha1.AnnotationRestore] = at
	manifest.SetAnnotations(annotations)
	if err := session.Create(ctx, manifest); err != nil {
		return fmt.Errorf("creating ControlPlane %s: %w", cp.Name, err)
	}
	ref := inventory.Ref{Kind: inventory.KindControlPlane, Namespace: manifest.GetNamespace(), Name: cp.Name}
	return a.followRestore(ctx, session, ref, at, flags)
}

func (a *app) restoreExisting(ctx context.Context, session *kube.Session, ref inventory.Ref, flags restoreOptions) error {
	at, err := timeOf(*flags.at)
	if err != nil {
		return err
	}
	cp, err := kube.ControlPlane(ctx, session, ref)
	if err != nil {
		return err
	}
	if err := backup.Check(cp); err != nil {
		return notReady(err)
	}
	if len(cp.Status.Services) > 0 && !*flags.replace {
		return usageError("%s uses its databases, and a restore replaces them: confirm it with --replace", ref.Arg())
	}
	before := cp.DeepCopy()
	metav1.SetMetaDataAnnotation(&cp.ObjectMeta, c5c3v1alpha1.AnnotationRestore, at)
	if err := session.Patch(ctx, cp, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("changing %s: %w", ref.Arg(), err)
	}
	return a.followRestore(ctx, session, ref, at, flags)
}

// timeOf returns the time of the backup for the annotation.
func timeOf(flag string) (string, error) {
	if flag == "" {
		return time.Now().UTC().Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339, flag); err != nil {
		return "", usageError("--time=%s: it is not a time such as 2026-11-21T01:00:00Z", flag)
	}
	return flag, nil
}

func (a *app) followRestore(ctx context.Context, session *kube.Session, ref inventory.Ref, at string, flags restoreOptions) error {
	fmt.Fprintf(a.Out, "%s restores the backup that is closest to %s\n", ref.Arg(), at)
	if *flags.noWait {
		return nil
	}
	err := follow.Until(ctx, a.progress(*flags.timeout), func(ctx context.Context) (follow.View, error) {
		cp, err := kube.ControlPlane(ctx, session, ref)
		return backup.RestoreView(cp, at), err
	})
	if err != nil {
		return followError(err)
	}
	return nil
}
