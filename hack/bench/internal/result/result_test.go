package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	columns   = []Column{{Name: "Requests each", Digits: 1}, {Name: "Seconds", Timed: true, Digits: 1}}
	scenarios = []string{"create", "restart"}
)

func measured() Table {
	s := Samples{}
	for _, requests := range []float64{50, 52, 49} {
		s.Add(Row{"create", 100}, "Requests each", requests)
	}
	s.Add(Row{"create", 100}, "Seconds", 25)
	s.Add(Row{"restart", 100}, "Requests each", 0)
	s.Add(Row{"create", 1}, "Requests each", 50)
	return s.Table()
}

func TestRunsAreSummedUpAsMinimumMedianAndMaximum(t *testing.T) {
	for name, test := range map[string]struct {
		samples []float64
		want    Spread
	}{
		"one":  {[]float64{3}, Spread{3, 3, 3}},
		"odd":  {[]float64{9, 1, 2}, Spread{1, 2, 9}},
		"even": {[]float64{4, 1, 2, 9}, Spread{1, 3, 9}},
	} {
		if got := SpreadOf(test.samples); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestATableIsReadAsItWasWritten(t *testing.T) {
	markdown := measured().Markdown(columns, scenarios)
	want := `| Scenario | Size | Requests each | Seconds |
|---|---:|---:|---:|
| create | 1 | 50.0 | – |
| create | 100 | 49.0 / 50.0 / 52.0 | 25.0 |
| restart | 100 | 0.0 | – |
`
	if diff := cmp.Diff(want, markdown); diff != "" {
		t.Errorf("as Markdown (-want +got):\n%s", diff)
	}
	parsed, err := Parse(markdown)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(measured(), parsed); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

func TestATableThatIsDamagedIsRefused(t *testing.T) {
	const head = "| Scenario | Size | Seconds |\n|---|---:|---:|\n"
	for name, line := range map[string]string{
		"a cell too few": "| create | 1 |", "no size": "| create | one | 2 |",
		"no number": "| create | 1 | two |", "two numbers": "| create | 1 | 2 / 3 |",
	} {
		if _, err := Parse(head + line + "\n"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMergeKeepsUnmeasuredRowsAndOptionallyTheOldTimes(t *testing.T) {
	create, old := Row{"create", 100}, Row{"create", 1000}
	committed := Table{
		create: {"Requests each": {60, 60, 60}, "Seconds": {30, 30, 30}},
		old:    {"Requests each": {61, 61, 61}},
	}
	counts := committed.Merge(measured(), columns, false)
	if got := counts[create]; got["Requests each"].Median != 50 || got["Seconds"].Median != 30 {
		t.Errorf("without seconds there is %+v", got)
	}
	if got := counts[old]["Requests each"].Median; got != 61 {
		t.Errorf("a row that was not measured has %g, want the 61 it had", got)
	}
	if got := committed.Merge(measured(), columns, true)[create]["Seconds"].Median; got != 25 {
		t.Errorf("with seconds there are %g, want 25", got)
	}
	if got := committed[create]["Requests each"].Median; got != 60 {
		t.Errorf("what was committed has changed to %g", got)
	}
}

func TestAComparisonSaysByHowMuchAMedianDiffers(t *testing.T) {
	committed := Table{{"create", 100}: {"Requests each": {100, 100, 100}, "Seconds": {25, 25, 25}}}
	got := measured().Compare(committed, columns, scenarios)
	for _, want := range []string{
		"create, 100:", "49.0 / 50.0 / 52.0  (committed: 100.0, -50 %)", "25.0  (committed: 25.0)", "restart, 100:",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestAPageKeepsEverythingAroundItsTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	const before, after = "# Title\n\n<!-- bench a -->\n", "<!-- /bench a -->\n\nBetween.\n<!-- bench b -->\n<!-- /bench b -->\nThe end.\n"
	if err := os.WriteFile(path, []byte(before+after), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := ReadPage(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	page.Table = measured()
	if err := page.Write(path, columns, scenarios); err != nil {
		t.Fatal(err)
	}
	again, err := ReadPage(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	if again.before != before || again.after != after {
		t.Errorf("around it there are %q and %q", again.before, again.after)
	}
	if other, err := ReadPage(path, "b"); err != nil || len(other.Table) > 0 {
		t.Errorf("the table of another operator is %v (%v), want an empty one", other.Table, err)
	}
	if diff := cmp.Diff(measured(), again.Table); diff != "" {
		t.Errorf("its table (-want +got):\n%s", diff)
	}
}

func TestAPageWithoutAPlaceForTheTableIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# Title\n<!-- bench a -->\n<!-- /bench a -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPage(path, "b"); err == nil {
		t.Error("no error")
	}
}

func TestSamplesOfAnotherProgramBecomeATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.json")
	write(t, path, `[{"name": "cluster-ready",
		"columns": [{"name": "Ready", "timed": true, "digits": 1}], "scenarios": ["keystone"],
		"rows": [{"scenario": "keystone", "size": 3, "samples": {"Ready": [9, 7.5, 8]}}]}]`)
	tables, err := ReadRecorded(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Table{Row{"keystone", 3}: {"Ready": Spread{7.5, 8, 9}}}
	if diff := cmp.Diff(want, tables[0].Table()); len(tables) != 1 || diff != "" {
		t.Errorf("%d tables (-want +got):\n%s", len(tables), diff)
	}
	if diff := cmp.Diff([]Column{{Name: "Ready", Timed: true, Digits: 1}}, tables[0].Columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestSamplesThatCannotBeReadAreNamed(t *testing.T) {
	missing, damaged := filepath.Join(t.TempDir(), "missing.json"), filepath.Join(t.TempDir(), "damaged.json")
	write(t, damaged, `[{"name":`)
	for _, path := range []string{missing, damaged} {
		if _, err := ReadRecorded(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want an error with %s", err, path)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
