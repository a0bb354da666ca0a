package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// manifest is what Krew reads, see
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type manifest struct {
	APIVersion string
	Metadata   struct{ Name string }
	Spec       struct {
		Version, ShortDescription string
		Platforms                 []struct {
			URI, SHA256, Bin string
			Selector         struct{ MatchLabels map[string]string }
		}
	}
}

// render fills the template in as krew-release-bot does: the address is a template
// itself, and both lines have the indentation of the place they stand at.
func render(t *testing.T, tag string) []byte {
	t.Helper()
	content, err := os.ReadFile("krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	add := func(uri, tag string) (string, error) {
		var address bytes.Buffer
		err := template.Must(template.New("uri").Parse(uri)).Execute(&address, map[string]string{"TagName": tag})
		return fmt.Sprintf("uri: %s\n      sha256: %s", &address, strings.Repeat("a", 64)), err
	}
	var out bytes.Buffer
	parsed := template.Must(template.New("krew").Funcs(template.FuncMap{"addURIAndSha": add}).Parse(string(content)))
	if err := parsed.Execute(&out, map[string]string{"TagName": tag}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTheKrewManifestOffersAnArchiveForEachPlatform(t *testing.T) {
	var got manifest
	if err := yaml.Unmarshal(render(t, "v1.2.3"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Name != "forge" || got.Spec.Version != "v1.2.3" || len(got.Spec.ShortDescription) > 50 {
		t.Errorf("got %+v", got)
	}
	for _, platform := range got.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		want := fmt.Sprintf("https://github.com/c5c3/forge/releases/download/v1.2.3/kubectl-forge_%s_%s.tar.gz", labels["os"], labels["arch"])
		bin := "kubectl-forge"
		if labels["os"] == "windows" {
			bin += ".exe"
		}
		if platform.URI != want || len(platform.SHA256) != 64 || platform.Bin != bin {
			t.Errorf("got %+v, expected the archive %s", platform, want)
		}
	}
	if len(got.Spec.Platforms) != 5 {
		t.Errorf("got %d platforms", len(got.Spec.Platforms))
	}
}
