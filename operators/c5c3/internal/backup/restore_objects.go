package backup

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// CheckServer returns the name of the MariaDB that gets a backup first.
func CheckServer(cp *c5c3v1alpha1.ControlPlane) string { return cp.Name + "-restore-check" }

// The names of the other objects of a restore.
func readName(cp *c5c3v1alpha1.ControlPlane) string  { return cp.Name + "-restore-read" }
func proofName(cp *c5c3v1alpha1.ControlPlane) string { return cp.Name + "-restore-proof" }
func dropName(cp *c5c3v1alpha1.ControlPlane) string  { return cp.Name + "-restore-drop" }
func loadName(cp *c5c3v1alpha1.ControlPlane) string  { return cp.Name + "-restore" }

// checkServer builds a server without a volume, like one of the control plane's.
func checkServer(cp *c5c3v1alpha1.ControlPlane, like *infraapi.MariaDB) *infraapi.MariaDB {
	return &infraapi.MariaDB{
		ObjectMeta: controlplane.ChildMeta(cp, CheckServer(cp)),
		Spec: infraapi.MariaDBSpec{
			Image: like.Spec.Image, ImagePullSecrets: like.Spec.ImagePullSecrets,
			Replicas: new(int32(1)), Galera: &infraapi.Galera{}, Storage: &infraapi.Storage{Ephemeral: true},
			Resources: like.Spec.Resources,
			// mariadb-operator would generate a Secret of its own and leave it behind.
			RootPasswordSecretKeyRef: like.Spec.RootPasswordSecretKeyRef,
		},
	}
}

// load builds the Restore that loads the dump closest to the time into a server.
func load(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, name, server string, at metav1.Time) *infraapi.Restore {
	from := storage(c, cp)
	return &infraapi.Restore{
		ObjectMeta: controlplane.ChildMeta(cp, name),
		Spec: infraapi.RestoreSpec{
			MariaDBRef: infraapi.NameRef{Name: server}, S3: from.S3, Volume: from.Volume, TargetRecoveryTime: &at,
			InheritMetadata: &infraapi.Metadata{Labels: controlplane.Labels(cp)},
		},
	}
}

// The condition of a Restore that has ended, and its reason if the dump is loaded.
const (
	conditionComplete = "Complete"
	reasonJobComplete = "JobComplete"
)

// loaded reports whether the Restore has ended, and how.
func loaded(restore *infraapi.Restore) (ended, succeeded bool) {
	complete := meta.FindStatusCondition(restore.Status.Conditions, conditionComplete)
	ended = complete != nil && complete.Status == metav1.ConditionTrue
	return ended, ended && complete.Reason == reasonJobComplete
}

// A termination message has at most 12 KiB in all containers of a pod, and 4 KiB in each.
const (
	chunks    = 3
	chunkSize = maxSealed / chunks
)

// readBundleJob builds a Job whose containers write the parts of the bundle to their
// termination messages.
func readBundleJob(cp *c5c3v1alpha1.ControlPlane, access server, key string) *batchv1.Job {
	built := access.job(cp, readName(cp), key, access.chunk(0))
	pod := &built.Spec.Template.Spec
	for i := 1; i < chunks; i++ {
		next := *pod.Containers[0].DeepCopy()
		part := access.chunk(i)
		next.Name, next.Command = part.Name, part.Command
		pod.Containers = append(pod.Containers, next)
	}
	return built
}

func (a server) chunk(i int) corev1.Container {
	return a.container(chunkName(i), fmt.Sprintf("exec %s --execute='SELECT SUBSTRING(sealed, %d, %d) FROM %s' >/dev/termination-log",
		mariadbClient, i*chunkSize+1, chunkSize, bundleTable))
}

func chunkName(i int) string { return fmt.Sprintf("part-%d", i) }

// messages returns the termination messages of the containers of readBundleJob.
func messages(pod *corev1.Pod) string {
	parts := make([]string, chunks)
	for _, status := range pod.Status.ContainerStatuses {
		for i := range parts {
			if status.Name == chunkName(i) && status.State.Terminated != nil {
				parts[i] = strings.TrimSpace(status.State.Terminated.Message)
			}
		}
	}
	return strings.Join(parts, "")
}

// runText builds a Job that runs statements without secrets.
func runText(cp *c5c3v1alpha1.ControlPlane, access server, name, statements, key string) *batchv1.Job {
	container := access.container("statements", `printf '%s' "$STATEMENTS" | `+mariadbClient)
	container.Env = append(container.Env, corev1.EnvVar{Name: "STATEMENTS", Value: statements})
	return access.job(cp, name, key, container)
}

// dropping returns the statements that remove the databases.
func dropping(databases []string) string {
	var text strings.Builder
	for _, name := range append(databases, bundleDatabase) {
		fmt.Fprintf(&text, "DROP DATABASE IF EXISTS `%s`;\n", name)
	}
	return text.String()
}
