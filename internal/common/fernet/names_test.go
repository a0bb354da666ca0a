package fernet

import (
	"strings"
	"testing"
)

func TestThePrimaryKeyHasTheHighestNumber(t *testing.T) {
	for _, test := range []struct {
		names string
		want  string
		ok    bool
	}{
		{"0 1 2", "2", true},
		{"0 9 10", "10", true},
		{"0 2 3", "3", true},
		{"0", "", false},
		{"", "", false},
		{"0 1 02 x 99999999999999999999", "1", true},
	} {
		data := map[string][]byte{}
		for name := range strings.FieldsSeq(test.names) {
			data[name] = nil
		}
		if got, ok := PrimaryName(data); got != test.want || ok != test.ok {
			t.Errorf("of %q the primary key is %q (%t), want %q", test.names, got, ok, test.want)
		}
	}
}
