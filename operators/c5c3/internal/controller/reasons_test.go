package controller

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// unreached are reasons that no run against an API server can show, and why.
// They stay in the vocabulary because tools may know them.
var unreached = map[string]string{
	"InvalidRotationInterval":       "the schema and the guard of each pass refuse such an interval before the step runs",
	"WaitingForCredentialID":        "KORCReady is not True before the id is known",
	"WaitingForAppCredentialSecret": "the step that makes KORCReady True makes the Secret, too",
	"ControlPlaneListError":         "a cache that has synced answers every list; a unit test shows it",
}

// integrationTests is the source of the operator's tests against an API server.
func integrationTests(t *testing.T) string {
	t.Helper()
	var source strings.Builder
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(string(content), "//go:build integration") {
			source.Write(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return source.String()
}

// shows tells whether a test names the reason, beside its condition where Ready
// counts that: conditions share reasons, and each has to be shown.
func shows(source string, condition c5c3v1alpha1.ConditionDoc, reason string) bool {
	if !condition.Aggregated {
		return strings.Contains(source, `"`+reason+`"`)
	}
	pair := `"` + condition.Type + `",\s*(metav1\.Condition(True|False),\s*)?"` + reason + `"`
	return regexp.MustCompile(pair).MatchString(source)
}

func TestEveryReasonIsShownAgainstAnAPIServer(t *testing.T) {
	source := integrationTests(t)
	for _, kind := range c5c3v1alpha1.Vocabularies() {
		for _, condition := range kind.Conditions {
			for _, reason := range append(append([]string{}, condition.True...), condition.False...) {
				why := unreached[reason]
				switch shown := shows(source, condition, reason); {
				case !shown && why == "":
					t.Errorf("no integration test shows %s of a %s with the reason %s: write one", condition.Type, kind.Kind, reason)
				case shown && why != "":
					t.Errorf("an integration test shows %s, of which is said that %s: one of them is wrong", reason, why)
				}
			}
		}
	}
}
