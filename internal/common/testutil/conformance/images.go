package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// images verifies that the image decides how the API starts, and that an image that holds
// another release than its tag says is told and begins no upgrade.
func (s suite[T]) images(t *testing.T) {
	if !s.hasData() {
		// The Jobs of the schema look into images.
		return
	}
	t.Run("a module is served until an image has a script", s.scriptOrModule)
	t.Run("an image is checked on the schema of an aborted upgrade", s.imageAfterAbort)
	t.Run("an image whose release differs from its tag starts no upgrade", s.mislabelled)
	t.Run("a digest is used once its image holds the release of the tag", s.digests)
}

// versionOf returns a version of the service in the release of the tag.
func (s suite[T]) versionOf(t *testing.T, tag string) string {
	t.Helper()
	wanted, err := release.Parse(tag)
	if err != nil {
		t.Fatal(err)
	}
	major, known := s.Definition.Application.Majors.Of(wanted)
	if !known {
		t.Fatalf("the major version of release %s is unknown", tag)
	}
	return fmt.Sprintf("%d.0.1", major)
}

// holds returns the outcome of a Job whose pod finds that in its image.
func holds(t *testing.T, version, script, module string) standin.Outcome {
	t.Helper()
	finding, err := json.Marshal(map[string]string{"version": version, "script": script, "module": module})
	if err != nil {
		t.Fatal(err)
	}
	return standin.Succeed().Finds(string(finding))
}

// application fails the test unless the API pods serve the application.
func (i *Instance[T]) application(flag, application string) {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	command := deploy.Spec.Template.Spec.Containers[0].Command
	if at := slices.Index(command, flag); at < 0 || command[at+1] != application {
		i.Errorf("the pods run %q, expected %s %s", strings.Join(command, " "), flag, application)
	}
}

func (s suite[T]) scriptOrModule(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	old, next, module := i.tag(), after(i.tag(), 1), s.Definition.Application.Module
	i.setJob(schema.TaskSync, holds(t, s.versionOf(t, old), "", module))
	i.Create()
	i.Ready()
	i.application("--module", module)
	i.Condition(vocabulary.ConditionReleaseConsistent, metav1.ConditionTrue, vocabulary.ReasonReleaseMatches, old)
	i.settle()
	const script = "/opt/bin/application"
	i.setJob(schema.TaskExpand, holds(t, s.versionOf(t, next), script, module))
	i.setDeployment(standin.Hang())
	i.setTag(next)
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment)
	i.application("--wsgi-file", script)
	i.setTag(old)
	i.setDeployment(standin.Succeed())
	i.installed(old)
	i.application("--module", module)
	i.setTag(next)
	i.installed(next)
	i.application("--wsgi-file", script)
}

func (s suite[T]) imageAfterAbort(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	old := i.tag()
	i.Create()
	i.Ready()
	i.settle()
	i.setDeployment(standin.Hang())
	i.setTag(after(old, 1))
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment)
	i.setTag(old)
	i.setDeployment(standin.Succeed())
	i.installed(old)
	const script = "/opt/bin/application"
	i.setJob(schema.TaskCheck, holds(t, s.versionOf(t, old), script, ""))
	i.setTag(old + "-other")
	i.installed(old + "-other")
	i.application("--wsgi-file", script)
	i.Condition(vocabulary.ConditionReleaseConsistent, metav1.ConditionTrue, vocabulary.ReasonReleaseMatches, old)
}

func (s suite[T]) mislabelled(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	old, next := i.tag(), after(i.tag(), 1)
	i.setJob(schema.TaskSync, holds(t, s.versionOf(t, after(old, -1)), "/bin/application", ""))
	i.Create()
	i.Fails(vocabulary.ConditionReleaseConsistent, vocabulary.ReasonReleaseDiffers, old, after(old, -1))
	i.Condition(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	i.setTag(next)
	i.database(vocabulary.ReasonReleaseDiffers, "no upgrade begins", "build of release "+old)
	i.runs(old)
	i.setJob(schema.TaskSync, holds(t, s.versionOf(t, old), "/bin/application", ""))
	i.setTag(old + "-fixed")
	i.installed(old + "-fixed")
	i.Condition(vocabulary.ConditionReleaseConsistent, metav1.ConditionTrue, vocabulary.ReasonReleaseMatches)
	i.setTag(next)
	i.installed(next)
}
