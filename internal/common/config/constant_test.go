package config

import "testing"

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
