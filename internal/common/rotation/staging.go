// Package rotation has the common parts of the scheduled rotations of keys and of
// passwords.
//
// A CronJob generates new values and stores them in a staging Secret, the only
// object that its account may write. The operator checks them there and promotes
// them. Thus no Job can damage the values in use, and staged values are promoted
// exactly once, even if a step fails or is interrupted.
package rotation

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

const (
	// TargetLabel names the target of the rotation on a staging Secret.
	TargetLabel = "forge.c5c3.io/rotation-target"
	// CompletedAtAnnotation is the time, in RFC 3339, at which a Job finished
	// staging. It is copied to the Secret that the values replace.
	CompletedAtAnnotation = "forge.c5c3.io/rotation-completed-at"
	// ScriptFile is the name of Script next to the script that calls it.
	ScriptFile = "stage.py"
)

// Script writes to the staging Secret that the environment variables SECRET_NAME
// and SECRET_NAMESPACE name. As a program it takes the directory of a key
// repository; as a module its function stage takes names and bytes.
//
//go:embed files/stage.py
var Script string

// CompletedAt returns when staging was finished. ok is false if the Job has
// not staged anything yet; err reports an annotation that is not a time.
func CompletedAt(staging *corev1.Secret) (at time.Time, ok bool, err error) {
	text, ok := staging.Annotations[CompletedAtAnnotation]
	if !ok {
		return time.Time{}, false, nil
	}
	at, err = time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, true, fmt.Errorf(
			"the annotation %s of Secret %s is not a time in RFC 3339; delete the Secret, and the operator creates an empty one",
			CompletedAtAnnotation, staging.Name)
	}
	return at, true, nil
}

// Applied reports whether target already holds everything that was staged, as
// it does after a crash between promoting and discarding it.
func Applied(target, staging *corev1.Secret) bool {
	return target.Annotations[CompletedAtAnnotation] == staging.Annotations[CompletedAtAnnotation] &&
		maps.EqualFunc(target.Data, staging.Data, func(a, b []byte) bool { return string(a) == string(b) })
}

// Discard deletes the staging Secret as it was read. If it has changed since,
// it stays, because a Job has staged something new.
func Discard(ctx context.Context, c client.Client, staging *corev1.Secret) error {
	return apply.DeleteUnchanged(ctx, c, staging)
}

// Clear removes the staged values. It fails with a conflict if the Secret has
// changed since it was read.
func Clear(ctx context.Context, c client.Client, staging *corev1.Secret) error {
	cleared := staging.DeepCopy()
	cleared.Data = nil
	delete(cleared.Annotations, CompletedAtAnnotation)
	return apply.Update(ctx, c, cleared, "clearing the staging")
}

// StagingSecret returns an empty staging Secret.
func StagingSecret(namespace, name, target string, labels map[string]string) *corev1.Secret {
	all := maps.Clone(labels)
	all[TargetLabel] = target
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: all},
		Type:       corev1.SecretTypeOpaque,
	}
}
