package serviceconfig

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestCheckScriptReadsTheOptionsOfTheServiceAndOfItsLibraries(t *testing.T) {
	for register, want := range map[string]string{
		"harbour.conf:register": "\nREGISTER = \"harbour.conf:register\"\n", "": "\nREGISTER = \"\"\n",
	} {
		script := Check{
			Register: register, Lists: []string{"harbour.opts:list"}, Variants: []Driver{{"auth", "methods", "harbour.auth."}},
		}.Script(&instance.Definition)
		for _, part := range []string{
			want, "\nPROJECT = \"harbour\"\n", "\nLISTS = [\"oslo_log._options:list_opts\",\"harbour.opts:list\"]\n",
			"\nDRIVERS = []\n", "\nVARIANTS = [[\"auth\",\"methods\",\"harbour.auth.\"]]\n",
		} {
			if !strings.Contains(script, part) {
				t.Errorf("with %q the script lacks %q:\n%s", register, part, script)
			}
		}
	}
}
