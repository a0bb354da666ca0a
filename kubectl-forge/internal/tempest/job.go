// Package tempest runs OpenStack's own tests of the Identity API as a Job, and reads what they print.
package tempest

import (
	"cmp"
	_ "embed" // for the Job
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/login"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	// Image has Tempest and keystone_tempest_plugin. Its tag is the version of Tempest, which tests
	// every release of OpenStack.
	Image = "ghcr.io/c5c3/tempest:43"
	// Container is the name of the only container.
	Container = "tempest"
)

//go:embed job.yaml
var manifest []byte

// Job returns the Job that tests the Keystone as its administrator. Its image takes the variables of
// the OpenStack client and the release of the Keystone, which decides about tests that do not fit. It
// prints a line for each test and writes a [Summary] as its termination message.
func Job(k *keystonev1alpha1.Keystone, image string) (*batchv1.Job, error) {
	run := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(manifest, run); err != nil {
		return nil, err
	}
	run.Labels["app.kubernetes.io/instance"] = k.Name
	// The name of a Job becomes a label of its pods.
	run.Namespace, run.GenerateName = k.Namespace, k.Name[:min(len(k.Name), 40)]+"-tempest-"
	pod := &run.Spec.Template
	pod.Labels, pod.Spec.ImagePullSecrets = run.Labels, k.Spec.ImagePullSecrets
	container, password := &pod.Spec.Containers[0], k.Spec.Bootstrap.AdminPasswordSecretRef
	container.Image = image
	// The password stays in its Secret.
	container.Env = []corev1.EnvVar{
		{Name: "OS_AUTH_URL", Value: keystonev1alpha1.LocalEndpoint(k.Namespace, k.Name)},
		{Name: "OS_IDENTITY_API_VERSION", Value: "3"},
		{Name: "OS_INTERFACE", Value: "internal"},
		{Name: "OS_REGION_NAME", Value: k.Spec.Bootstrap.Region},
		{Name: "OS_USERNAME", Value: k.Spec.Bootstrap.AdminUser},
		{Name: "OS_USER_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PROJECT_NAME", Value: login.AdminProject},
		{Name: "OS_PROJECT_DOMAIN_NAME", Value: login.DefaultDomain},
		{Name: "OS_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: password.Name}, Key: password.KeyOr("password"),
		}}},
		{Name: "KEYSTONE_RELEASE", Value: k.Status.InstalledRelease},
	}
	return run, nil
}

// maxFailures is the number of failed tests that are named.
const maxFailures = 10

// Counts are how many tests there are, and how they have ended so far.
type Counts struct {
	// Total is the number of selected tests, 0 while it is unknown.
	Total   int `json:"-"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Ended returns the number of tests that have ended.
func (c Counts) Ended() int { return c.Passed + c.Failed + c.Skipped }

// String lists the counts.
func (c Counts) String() string {
	return fmt.Sprintf("%d passed, %d skipped, %d failed", c.Passed, c.Skipped, c.Failed)
}

// Summary is the termination message of the image.
type Summary struct {
	Counts

	// Failures are the names of tests that have failed, as far as there is room for them.
	Failures []string `json:"failures"`
}

// Read counts the results in a log. Each is a line that begins with its result and the name of the
// test, as in "passed tempest.api.identity.v3.test_tokens.TokensV3Test.test_validate_token"; the line
// "tests 499" says how many there are. All other lines are for people.
func Read(log string) (counts Counts) {
	for line := range strings.Lines(log) {
		result, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		total, notNumber := strconv.Atoi(rest)
		switch {
		case result == "tests" && notNumber == nil:
			counts.Total = total
		case rest == "":
		case result == "passed":
			counts.Passed++
		case result == "failed":
			counts.Failed++
		case result == "skipped":
			counts.Skipped++
		}
	}
	return counts
}

// SummaryOf returns the summary that a pod of the Job has left, and whether there is one.
func SummaryOf(pods []corev1.Pod) (Summary, bool) {
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			var summary Summary
			ended := container.State.Terminated
			if ended != nil && json.Unmarshal([]byte(ended.Message), &summary) == nil && summary.Ended() > 0 {
				return summary, true
			}
		}
	}
	return Summary{}, false
}

// Facts are what the view of a run depends on.
type Facts struct {
	Job  *batchv1.Job
	Pods []corev1.Pod
	Log  string
	// Coarse is how many tests have to end before another count is shown. Output that is not
	// redrawn would have a line for each test otherwise.
	Coarse int
}

// View describes the progress of the run.
func View(f Facts) follow.View {
	state := follow.Row{Name: "Job", State: "Run", Text: f.Job.Name}
	ended, succeeded, _ := job.Ended(f.Job)
	trouble, unavailable := poddiag.Problem(f.Pods)
	view := follow.View{Title: "OpenStack's tests of the Identity API", Done: succeeded}
	switch {
	case succeeded:
		state.State = "Done"
	case ended:
		state.State, view.Failed = "Failed", failure(f, trouble)
	case unavailable:
		state.State = "Failed"
		view.Failed = fmt.Errorf("job %s: %s; name the image to use with --tempest-image", f.Job.Name, trouble)
	case trouble != "":
		state.Text += ": " + trouble
	}
	view.Rows = []follow.Row{state}
	counts := Read(f.Log)
	done := counts.Ended()
	row := follow.Row{Name: "Tests", State: "Run", Text: fmt.Sprintf("%d of %d: %s", done, max(counts.Total, done), counts)}
	switch {
	case done == 0 && counts.Total == 0:
		return view
	case ended && counts.Failed > 0:
		row.State = "Failed"
	case ended:
		row.State = "Done"
	case f.Coarse > 1:
		row.Text = fmt.Sprintf("%d of %d", done-done%f.Coarse, counts.Total)
	}
	view.Rows = append(view.Rows, row)
	return view
}

// failure says which tests have failed, or why they did not run.
func failure(f Facts, trouble string) error {
	summary, found := SummaryOf(f.Pods)
	logs := fmt.Sprintf("\"kubectl -n %s logs job/%s\" shows more", f.Job.Namespace, f.Job.Name)
	switch {
	case found && summary.Failed > 0:
		named := summary.Failures[:min(len(summary.Failures), maxFailures)]
		return fmt.Errorf("%s: %s; %s", summary.Counts, strings.Join(named, ", "), logs)
	case found:
		return fmt.Errorf("%s, but the Job failed; %s", summary.Counts, logs)
	}
	return fmt.Errorf("job %s failed: %s; %s", f.Job.Name, cmp.Or(trouble, "its pod no longer exists"), logs)
}
