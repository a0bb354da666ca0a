package redact

import (
	"slices"
	"testing"
)

func TestFormsIncludeURLBase64AndJSONEncodings(t *testing.T) {
	forms := Forms("a <ö>\n")
	for _, want := range []string{
		"a <ö>\n", "a+%3C%C3%B6%3E%0A", "a%20%3C%C3%B6%3E%0A", "YSA8w7Y+Cg", "YSA8w7Y-Cg",
		`a <ö>\n`, `a \u003cö\u003e\n`, `a <\u00f6>\n`,
	} {
		if !slices.Contains(forms, want) {
			t.Errorf("%q is not among %q", want, forms)
		}
	}
	if !slices.IsSortedFunc(forms, func(a, b string) int { return len(b) - len(a) }) {
		t.Errorf("the longest is not the first: %q", forms)
	}
}
