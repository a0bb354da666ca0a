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

// unreached are the reasons of a kind that no run against an API server can show,
// and why. They stay in the vocabulary because tools may know them.
var unreached = map[string]string{
	"ControlPlane/InvalidRotationInterval":       "the schema and the guard of each pass refuse such an interval before the step runs",
	"ControlPlane/WaitingForCredentialID":        "KORCReady is not True before the id is known",
	"ControlPlane/WaitingForAppCredentialSecret": "the step that makes KORCReady True makes the Secret, too",
	"ControlPlane/ReconcileError":                listed,
	"CredentialRotation/ControlPlaneListError":   listed,
	"SecretAggregate/ReconcileError":             listed,
}

const listed = "a cache that has synced answers every list; a unit test shows it"

// kindOf is the kind that the tests of a file are about.
func kindOf(file string) string {
	switch name := filepath.Base(file); {
	case strings.HasPrefix(name, "rotation_"):
		return "CredentialRotation"
	case strings.HasPrefix(name, "secretaggregate_"):
		return "SecretAggregate"
	}
	return "ControlPlane"
}

// integrationTests is the source of the operator's tests against an API server,
// by kind.
func integrationTests(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(string(content), "//go:build integration") {
			sources[kindOf(path)] += string(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// shows tells whether a test expects the condition with the status and the
// reason. Conditions share reasons, and each has to be shown. The helpers of the
// companion kinds leave Ready out, tables the status False.
func shows(source, condition, status, reason string) bool {
	subject := `"` + condition + `"`
	if condition == c5c3v1alpha1.ConditionReady {
		subject = `("Ready"|expect\(t|expectRotation\(t, rotation)`
	}
	expected := `metav1\.Condition` + status + `,\s*`
	if status == "False" && condition != c5c3v1alpha1.ConditionReady {
		expected = `(` + expected + `)?`
	}
	return regexp.MustCompile(subject + `,\s*` + expected + `"` + reason + `"`).MatchString(source)
}

func TestEveryReasonIsShownAgainstAnAPIServer(t *testing.T) {
	sources := integrationTests(t)
	for _, kind := range c5c3v1alpha1.Vocabularies() {
		expectShown := func(condition, status string, reasons []string) {
			for _, reason := range reasons {
				why := unreached[kind.Kind+"/"+reason]
				switch shown := shows(sources[kind.Kind], condition, status, reason); {
				case !shown && why == "":
					t.Errorf("no integration test shows %s=%s of a %s with the reason %s: write one", condition, status, kind.Kind, reason)
				case shown && why != "":
					t.Errorf("an integration test shows %s of a %s, of which is said that %s: one of them is wrong", reason, kind.Kind, why)
				}
			}
		}
		for _, condition := range kind.Conditions {
			expectShown(condition.Type, "True", condition.True)
			expectShown(condition.Type, "False", condition.False)
		}
	}
}
