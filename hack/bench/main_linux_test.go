package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// needed are the flags without which nothing can be measured.
var needed = []string{"-program=/bin/operator", "-dir=/tmp/bench"}

func TestFlagsSayWhatIsMeasured(t *testing.T) {
	s, err := parse(append([]string{
		"-sizes=1,100,1000", "-scenarios=label,restart", "-memory=128Mi", "-operator-env=GOGC=50 GOMEMLIMIT=100MiB",
	}, needed...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 100, 1000}, s.sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"label", "restart"}, s.Scenarios); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GOGC=50", "GOMEMLIMIT=100MiB"}, s.OperatorEnv); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if s.Memory != 128<<20 {
		t.Errorf("the limit is %d bytes, want 128 MiB", s.Memory)
	}
}

func TestACommandLineThatCannotWorkIsRefusedWithTheReason(t *testing.T) {
	for _, test := range []struct{ arg, want string }{
		{"-sizes=1,many", `"many" is not a positive number`},
		{"-sizes=0", `"0" is not a positive number`},
		{"-scenarios=label,lable", `unknown scenario "lable"`},
		{"-memory=much", "-memory=much"},
		{"-update=yes", "-update=yes"},
		{"-runs=0", "positive"},
		{"-program=", "required"},
		{"-operator=placement", `unknown operator "placement"`},
	} {
		_, err := parse(append(append([]string{}, needed...), test.arg))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.arg, err, test.want)
		}
	}
}

func TestSamplesFromAFileAreWrittenToThePage(t *testing.T) {
	page, samples := filepath.Join(t.TempDir(), "page.md"), filepath.Join(t.TempDir(), "samples.json")
	const before = "Text.\n<!-- bench cluster-ready -->\n<!-- /bench cluster-ready -->\nMore text.\n"
	for path, content := range map[string]string{
		page: before,
		samples: `[{"name": "cluster-ready", "columns": [{"name": "Ready", "timed": true, "digits": 1}], "scenarios": ["keystone"],
			"rows": [{"scenario": "keystone", "size": 3, "samples": {"Ready": [8]}}]}]`,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ update, want string }{
		{updateNothing, before},
		{updateAll, strings.Replace(before, "-->\n<", "-->\n| Scenario | Size | Ready |\n|---|---:|---:|\n| keystone | 3 | 8.0 |\n<", 1)},
	} {
		if err := record(settings{samples: samples, page: page, update: test.update}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(content)); diff != "" {
			t.Errorf("-update=%q (-want +got):\n%s", test.update, diff)
		}
	}
}
