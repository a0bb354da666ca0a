package show

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	"github.com/c5c3/forge/kubectl-forge/internal/verify"
)

// namespaces are those that the golden files show.
var namespaces = map[string]func() *inventory.Inventory{
	"ready": testutil.Ready, "wrong-image": testutil.WrongImage, "missing-secret": testutil.MissingSecret,
	"unreachable-database": testutil.UnreachableDatabase, "quota": testutil.Quota, "sealed-store": testutil.SealedStore,
	"broken-service": testutil.BrokenService, "upgrade-failed": testutil.Upgrading, "unobserved": testutil.Unobserved,
	"deleting": testutil.Deleting,
}

func build(t *testing.T, found *inventory.Inventory) *report.Report {
	t.Helper()
	r, err := report.Build(found, found.Roots()[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.LookAt {
		if r.LookAt[i].Container != "" {
			r.LookAt[i].Log = report.Quote("2026-11-23 11:56:00.000 1 INFO keystone [-] starting\n" +
				"2026-11-23 11:56:10.000 1 ERROR keystone [-] cannot reach mysql+pymysql://keystone:s3cr3t@mariadb/keystone\n")
		}
	}
	return r
}

func TestReportsMatchTheirGoldenFiles(t *testing.T) {
	for name, namespace := range namespaces {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			Style{}.Report(&text, build(t, namespace()), testutil.Now)
			golden.Compare(t, name+".txt", text.String())
		})
	}
}

func TestReportsInJSONAndYAMLMatchTheirGoldenFiles(t *testing.T) {
	r := build(t, testutil.WrongImage())
	for _, format := range []string{"json", "yaml"} {
		var text strings.Builder
		if err := Write(&text, format, r, nil); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "wrong-image."+format, text.String())
	}
}

func TestCredentialsInALogAreNotQuoted(t *testing.T) {
	var text strings.Builder
	Style{}.Report(&text, build(t, testutil.UnreachableDatabase()), testutil.Now)
	if strings.Contains(text.String(), "s3cr3t") {
		t.Errorf("the report quotes a password:\n%s", &text)
	}
}

func TestColoursArePrintedOnlyOnTerminals(t *testing.T) {
	r := build(t, testutil.WrongImage())
	var plain, coloured strings.Builder
	Style{}.Report(&plain, r, testutil.Now)
	Style{Colour: true}.Report(&coloured, r, testutil.Now)
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("a file gets colours")
	}
	if !strings.Contains(coloured.String(), "\x1b[31m") {
		t.Error("a terminal gets no red for what has failed")
	}
}

func TestTheColumnsOfATableDoNotDependOnItsColours(t *testing.T) {
	r := build(t, testutil.WrongImage())
	var plain, coloured strings.Builder
	Style{}.Report(&plain, r, testutil.Now)
	Style{Colour: true}.Report(&coloured, r, testutil.Now)
	if stripped := stripColours(coloured.String()); stripped != plain.String() {
		t.Errorf("without its colours the text is\n%s\nexpected\n%s", stripped, &plain)
	}
}

func stripColours(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		_, text, _ = strings.Cut(rest, "m")
	}
}

func TestALongLineIsBrokenBetweenWords(t *testing.T) {
	got := Style{Width: 20}.wrap("  ", "one two three four five\nsix a-word-that-is-longer-than-the-line")
	want := "  one two three four\n  five\n  six\n  a-word-that-is-longer-than-the-line\n"
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestWorkloadReportsMatchTheirGoldenFiles(t *testing.T) {
	for name, namespace := range map[string]func() *inventory.Inventory{
		"workloads-quota": testutil.Quota, "workloads-unready": testutil.BrokenService, "workloads-fine": testutil.Ready,
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			Style{}.Workloads(&text, report.BuildWorkloads(namespace()), testutil.Now)
			golden.Compare(t, name+".txt", text.String())
		})
	}
}

func TestVerificationStepsAreAlignedInColumns(t *testing.T) {
	step := func(name string, result check.Result, seconds float64, text string) verify.Step {
		return verify.Step{Finding: check.Finding{Name: name, Result: result, Text: text}, Seconds: seconds}
	}
	r := verify.Report{
		Target: inventory.Ref{Kind: inventory.KindKeystone, Namespace: testutil.Namespace, Name: "keystone"}, Passed: true, Seconds: 12.5,
		Checks: []verify.Step{
			step("Login", check.OK, 0.214, "admin in project admin"),
			step("Endpoint identity internal RegionOne", check.OK, 12.25,
				"http://keystone.openstack.svc:5000/v3 answers with HTTP status 200, v3.14"),
		},
	}
	var text strings.Builder
	for _, step := range r.Checks {
		Style{}.Step(&text, step)
	}
	Style{}.Verified(&text, r)
	r.Checks, r.Passed = append(r.Checks, step("Create project", check.Failed, 0.05, "HTTP status 500")), false
	Style{}.Step(&text, r.Checks[2])
	Style{}.Verified(&text, r)
	golden.Compare(t, "verification.txt", text.String())
}
