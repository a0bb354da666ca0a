package tempest

import (
	"cmp"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
)

// maxFailures is the number of failed tests that are named.
const maxFailures = 10

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
