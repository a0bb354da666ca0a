package rules

import "testing"

var limits = Limits[boat]{
	AtMost("spec.crew", 10, func(b boat) *int32 { return b.crew }),
}

func TestALimitRefusesNewValuesOnly(t *testing.T) {
	crew := func(n int32) boat { return boat{crew: &n} }
	const refused = "spec.crew: Invalid value: 11: crew must be at most 10"
	for name, c := range map[string]struct {
		old, updated boat
		want         string
	}{
		"a new value":           {crew(3), crew(11), refused},
		"a value that was set":  {boat{}, crew(11), refused},
		"another change":        {crew(11), boat{crew: crew(11).crew, home: "new"}, ""},
		"a value that is lower": {crew(12), crew(11), refused},
		"a mended value":        {crew(11), crew(10), ""},
		"no value":              {crew(11), boat{}, ""},
	} {
		got := ""
		if errs := limits.Changed(c.old, c.updated); len(errs) > 0 {
			got = errs[0].Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := limits.Outdated(crew(11)); got != "Change these values, which an earlier version accepted: "+refused {
		t.Errorf("got %q", got)
	}
	if got := limits.Outdated(crew(10)); got != "" {
		t.Errorf("got %q", got)
	}
}
