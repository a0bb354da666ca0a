package operator

import (
	"errors"
	"flag"
	"testing"
)

func TestTheExitCodeDistinguishesMisuseFromFailure(t *testing.T) {
	cases := map[string]struct {
		err  error
		want int
	}{
		"stopped": {nil, 0},
		"help":    {usageError{flag.ErrHelp}, 0},
		"misuse":  {usageError{errors.New("no such flag")}, 2},
		"failure": {errors.New("lost the lease"), 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := exitCode(c.err); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
