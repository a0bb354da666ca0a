package tempest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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
