package login

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

func TestTheCloudsYamlOfAKeystoneHasItsAdministrator(t *testing.T) {
	clouds, err := KeystoneClouds(testutil.Installed(), "secret: [value]")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "clouds.yaml", string(clouds))
}

func TestAPublicEndpointNeedsNoForwarding(t *testing.T) {
	k := testutil.Installed()
	if source, err := FromKeystone(k); err != nil || source.Public {
		t.Errorf("got %+v, %v for the name of a Service", source, err)
	}
	k.Status.Endpoint = "https://keystone.example.com/v3"
	if source, err := FromKeystone(k); err != nil || !source.Public {
		t.Errorf("got %+v, %v for a public name", source, err)
	}
	k.Status.Endpoint = ""
	if _, err := FromKeystone(k); err == nil {
		t.Error("there is nothing to log in to")
	}
}

func TestARedirectedCloudOverridesTheCatalogEndpoint(t *testing.T) {
	clouds, err := KeystoneClouds(testutil.Installed(), "password")
	if err != nil {
		t.Fatal(err)
	}
	redirected, err := Redirect(clouds, CloudName, "http://127.0.0.1:1234/v3")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "redirected.yaml", string(redirected))
}

func TestABrokenCloudsFileIsRefusedWithoutItsContent(t *testing.T) {
	for _, clouds := range []string{"password: [", "clouds: {other: {auth: {password: hidden}}}", "clouds: {forge: {password: hidden}}"} {
		_, err := Redirect([]byte(clouds), CloudName, "http://127.0.0.1:1")
		if err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v", clouds, err)
		}
	}
}

func TestTheShellGetsACloudsYamlThatIsRemovedAfterwards(t *testing.T) {
	t.Setenv("OS_PASSWORD", "of another login")
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	err := Shell(t.Context(), genericiooptions.IOStreams{Out: &out, ErrOut: &out}, []byte("clouds: {}"), "forge",
		[]string{"/bin/sh", "-c", `echo "$OS_CLOUD ${OS_PASSWORD-none}"; cat "$OS_CLIENT_CONFIG_FILE"; stat -c ' %a' "$OS_CLIENT_CONFIG_FILE"`})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "forge none\nclouds: {} 600\n"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnExistingFileIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := WriteFile(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "first" {
		t.Errorf("got %q, %v", content, err)
	}
}

func TestNothingSecretIsInTheEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "OS_TOKEN=old"}, "/tmp/x/clouds.yaml", "forge")
	want := []string{"PATH=/bin", "OS_CLIENT_CONFIG_FILE=/tmp/x/clouds.yaml", "OS_CLOUD=forge"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}
