package rules

import (
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
)

type boat struct {
	crew  *int32
	names map[string]string
	home  string
}

func checkNames(b boat, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for key := range b.names {
		errs = append(errs, field.Required(at.Key(key), "name it"))
	}
	return errs
}

var table = Table[boat]{
	{"spec.names", checkNames},
	{"spec.crew", AtLeast(2, func(b boat) *int32 { return b.crew })},
}

func TestValidationErrorsAreSortedDeterministically(t *testing.T) {
	crew := int32(1)
	b := boat{crew: &crew, names: map[string]string{"d": "", "a": "", "c": "", "b": ""}}
	var paths []string
	for _, err := range table.Validate(b) {
		paths = append(paths, err.Field)
	}
	want := []string{"spec.crew", "spec.names[a]", "spec.names[b]", "spec.names[c]", "spec.names[d]"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestALowerBoundNamesTheFieldAndPassesOverNil(t *testing.T) {
	for crew, want := range map[int32]string{1: "spec.crew: Invalid value: 1: crew must be at least 2", 2: "", 3: ""} {
		got := ""
		if errs := table.Validate(boat{crew: &crew}); len(errs) > 0 {
			got = errs[0].Error()
		}
		if got != want {
			t.Errorf("%d: got %q, expected %q", crew, got, want)
		}
	}
	if errs := table.Validate(boat{}); len(errs) > 0 {
		t.Errorf("an unset number is refused: %v", errs)
	}
}

func TestOnlyAChangedImmutableFieldIsReported(t *testing.T) {
	immutables := []Immutable[boat]{
		{"spec.home", "home is immutable", func(b boat) any { return b.home }},
		{"spec.crew", "whether there is a crew is immutable", func(b boat) any { return b.crew != nil }},
	}
	crew := int32(2)
	old := boat{home: "Kiel"}
	if errs := Unchanged(immutables, old, old); len(errs) > 0 {
		t.Errorf("the same boat is refused: %v", errs)
	}
	var got []string
	for _, err := range Unchanged(immutables, old, boat{home: "Husum", crew: &crew}) {
		got = append(got, err.Error())
	}
	want := []string{
		`spec.home: Invalid value: "Husum": home is immutable`,
		"spec.crew: Invalid value: whether there is a crew is immutable",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestARangeNamesTheBoundThatIsBroken(t *testing.T) {
	between := Table[boat]{{"spec.crew", Between(2, 4, func(b boat) *int32 { return b.crew })}}
	for crew, want := range map[int32]string{
		1: "spec.crew: Invalid value: 1: crew must be at least 2", 2: "", 4: "",
		5: "spec.crew: Invalid value: 5: crew must be at most 4",
	} {
		if got := text(between.Validate(boat{crew: &crew})); got != want {
			t.Errorf("%d: got %q, expected %q", crew, got, want)
		}
	}
	if errs := between.Validate(boat{}); len(errs) > 0 {
		t.Errorf("an unset number is refused: %v", errs)
	}
}

func TestAScheduleHasToBeACronExpression(t *testing.T) {
	for expression, want := range map[string]string{
		"0 0 * * 0": "", "@daily": "",
		"":           `spec.departure: Required value: set a cron expression with five fields, for example "0 0 * * 0"`,
		"at the ebb": `spec.departure: Invalid value: "at the ebb": invalid cron expression: `,
	} {
		schedule := Table[boat]{{"spec.departure", Schedule(func(boat) *string { return &expression })}}
		if got := text(schedule.Validate(boat{})); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: got %q, expected %q", expression, got, want)
		}
	}
	none := Table[boat]{{"spec.departure", Schedule(func(boat) *string { return nil })}}
	if errs := none.Validate(boat{}); len(errs) > 0 {
		t.Errorf("a schedule that is not set is refused: %v", errs)
	}
}

func TestABundleOfCertificatesIsCheckedWithoutQuotingIt(t *testing.T) {
	first, _ := certificate.SelfSigned(t)
	second, key := certificate.SelfSigned(t)
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("hunter2")})
	for name, c := range map[string]struct{ bundle, want string }{
		"nothing":                 {"", ""},
		"two certificates":        {string(first) + string(second), ""},
		"a text":                  {"hunter2", "spec.ca: Invalid value: there is no certificate in PEM form"},
		"a key alone":             {string(key), "spec.ca: Invalid value: there is no certificate in PEM form"},
		"a malformed certificate": {string(first) + string(broken), "spec.ca: Invalid value: certificate 2 is malformed"},
	} {
		if got := text(Certificates(c.bundle, Path("spec.ca"))); got != c.want {
			t.Errorf("%s: got %q, expected %q", name, got, c.want)
		}
	}
}

func TestARuleCoversItsFieldAndWhatIsBelow(t *testing.T) {
	rule := Rule[boat]{Path: "spec.crew"}
	for path, want := range map[string]bool{
		"spec.crew": true, "spec.crew.cook": true, "spec.crew[0]": true, "spec.crews": false, "spec": false,
	} {
		if got := rule.Covers(path); got != want {
			t.Errorf("%s: got %t", path, got)
		}
	}
}

func text(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return errs.ToAggregate().Error()
}
