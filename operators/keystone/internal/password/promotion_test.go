package password

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestOnlyUsablePasswordsArePromoted(t *testing.T) {
	good := strings.Repeat("-aZ0_", 8)
	for name, tc := range map[string]struct {
		data    map[string][]byte
		problem string
	}{
		"what a Job makes":         {map[string][]byte{"password": []byte(good)}, ""},
		"other printable letters":  {map[string][]byte{"password": []byte(strings.Repeat("ü", 20))}, ""},
		"nothing":                  {nil, "no value under password"},
		"an empty one":             {map[string][]byte{"password": {}}, "no value under password"},
		"another key":              {map[string][]byte{"secret": []byte(good)}, "no value under password"},
		"a second key":             {map[string][]byte{"password": []byte(good), "0": []byte("x")}, "more keys"},
		"half of one":              {map[string][]byte{"password": []byte(good[:31])}, "shorter than 32"},
		"one with a line break":    {map[string][]byte{"password": []byte(good + "\n")}, "printable"},
		"one with a blank":         {map[string][]byte{"password": []byte(good + " x")}, "printable"},
		"one with a NUL":           {map[string][]byte{"password": []byte(good + "\x00")}, "printable"},
		"bytes that are no text":   {map[string][]byte{"password": []byte(good + "\xff")}, "printable"},
		"more than Keystone takes": {map[string][]byte{"password": []byte(strings.Repeat("x", 4097))}, "longer than 4096"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkPassword(tc.data, 32)
			switch {
			case tc.problem == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.problem != "" && (err == nil || !strings.Contains(err.Error(), tc.problem)):
				t.Errorf("got %v, want an error about %q", err, tc.problem)
			case err != nil && len(tc.data["password"]) > 0 && strings.Contains(err.Error(), string(tc.data["password"][:8])):
				t.Errorf("the error quotes the password: %v", err)
			}
		})
	}
}

func TestThePasswordIsNeverShorterThanTheAPIAllows(t *testing.T) {
	k := fixture.Rotating()
	for length, want := range map[int32]int{0: 24, 8: 24, 24: 24, 32: 32, 64: 64} {
		k.Spec.Bootstrap.PasswordRotation.PasswordLength = length
		if got := minLength(k); got != want {
			t.Errorf("passwordLength %d demands %d characters, want %d", length, got, want)
		}
	}
}
