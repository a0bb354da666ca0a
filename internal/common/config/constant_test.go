package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestAConstantOfAPythonFileGetsItsValue(t *testing.T) {
	const script = "import os\n\nONE = \"\"\nTWO = False\nLIST = []\n\nONE_MORE = ONE\n"
	for _, test := range []struct {
		name  string
		value any
		want  string
	}{
		{"ONE", `a "b" \ ü`, "import os\n\nONE = \"a \\\"b\\\" \\\\ ü\"\nTWO = False\nLIST = []\n\nONE_MORE = ONE\n"},
		{"TWO", true, "import os\n\nONE = \"\"\nTWO = True\nLIST = []\n\nONE_MORE = ONE\n"},
		{"TWO", false, script},
		{"LIST", []string{"a:b", "c"}, "import os\n\nONE = \"\"\nTWO = False\nLIST = [\"a:b\",\"c\"]\n\nONE_MORE = ONE\n"},
	} {
		if got := SetConstant(script, test.name, test.value); got != test.want {
			t.Errorf("%s = %v: got\n%s\nwant\n%s", test.name, test.value, got, test.want)
		}
	}
}

func TestSetConstantPanicsUnlessTheConstantOccursOnce(t *testing.T) {
	for what, script := range map[string]string{
		"none": "import os\nONE_MORE = 1\n  ONE = 1\n", "two": "ONE = 1\nTWO = 2\nONE = 3\n",
		"one at the start": "ONE = 1\n", "one at the end": "import os\nONE = 1",
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				said := fmt.Sprint(recover())
				if once := strings.HasPrefix(what, "one"); once != (said == "<nil>") {
					t.Errorf("panics with %s", said)
				} else if !once && (!strings.Contains(said, "ONE") || !strings.Contains(said, "this is a bug in the operator")) {
					t.Errorf("says %s", said)
				}
			}()
			want := strings.Replace(script, "ONE = 1", "ONE = True", 1)
			if got := SetConstant(script, "ONE", true); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
