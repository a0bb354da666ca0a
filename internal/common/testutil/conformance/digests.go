package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// digests verifies that an image with a digest is used once a Job has found the release of
// its tag in it.
func (s suite[T]) digests(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	wrong, right := "sha256:"+strings.Repeat("0a", 32), "sha256:"+strings.Repeat("1b", 32)
	const refusal = "the image holds another release"
	i.Resource.ServiceSpec().Image.Digest = wrong
	i.setJob(schema.TaskSync, standin.FailWith(image.Unfit, refusal))
	i.Create()
	i.database(vocabulary.ReasonDBSyncFailed, refusal)
	expect.Gone(t, s.Admin, i.deployment())

	i.setJob(schema.TaskSync, holds(t, s.versionOf(t, i.tag()), "/bin/application", ""))
	i.setDigest(right)
	i.Ready()
	i.Condition(vocabulary.ConditionReleaseConsistent, metav1.ConditionTrue, vocabulary.ReasonReleaseMatches, right)
	i.usesDigest(right)

	i.setJob(schema.TaskSync, standin.FailWith(image.Unfit, refusal))
	i.setDigest(wrong)
	i.database(vocabulary.ReasonDBSyncFailed, refusal)
	i.usesDigest(right)
	i.setJob(schema.TaskSync, standin.Succeed())
	i.setDigest("")
	i.Ready()
	i.runs(i.tag())
}

func (i *Instance[T]) setDigest(digest string) {
	i.Helper()
	i.change(func(spec *commonv1.ServiceSpec) { spec.Image.Digest = digest })
}

// usesDigest waits until the API pods and CronJobs have the image with the digest.
func (i *Instance[T]) usesDigest(digest string) {
	i.Helper()
	spec := i.Resource.ServiceSpec().Image
	spec.Digest = digest
	expect.Eventually(i.T, "the digest", func(context.Context) error {
		for name, template := range i.templates() {
			got := template.Spec.Containers[0].Image
			if !strings.HasPrefix(name, "Job ") && got != spec.Reference() {
				return fmt.Errorf("%s has image %s, expected %s", name, got, spec.Reference())
			}
		}
		return nil
	})
}
