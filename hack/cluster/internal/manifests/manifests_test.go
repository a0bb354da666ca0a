package manifests

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/node"
)

var update = flag.Bool("update", false, "write the golden files anew")

var operators = []string{"keystone", "c5c3"}

func example() (node.Node, images.Set) {
	return node.New(0, "forge-control-plane", "/cache/cluster", "/cache/bin", "/checkout"), images.NewFixedSet("v1.2.3")
}

func TestRenderedFilesMatchTheGoldenOnes(t *testing.T) {
	n, set := example()
	files, err := NodeFiles(n, set, operators)
	if err != nil {
		t.Fatal(err)
	}
	addOns, err := AddOns(n, set)
	if err != nil {
		t.Fatal(err)
	}
	files["add-ons.yaml"] = addOns
	for path, got := range files {
		golden := filepath.Join("testdata", filepath.Base(path)+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\nrun the test with -update if this is meant", path, diff)
		}
	}
}

func TestEveryFileIsRenderedToTheEnd(t *testing.T) {
	n, set := example()
	files, err := NodeFiles(n, set, operators)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		if strings.Contains(content, "{{") || strings.Contains(content, "<no value>") || content == "" {
			t.Errorf("%s is not fully rendered:\n%s", path, content)
		}
	}
}

func TestEachNodeGivesItsPodsItsOwnAddresses(t *testing.T) {
	subnets := map[string]bool{}
	for i := range 3 {
		n := node.New(i, "node", "/cache/cluster", "/cache/bin", "/checkout")
		files, err := NodeFiles(n, images.NewFixedSet("v1.2.3"), operators)
		if err != nil {
			t.Fatal(err)
		}
		var conf struct {
			Plugins []struct {
				IPAM struct {
					Ranges [][]struct {
						Subnet string `json:"subnet"`
					} `json:"ranges"`
				} `json:"ipam"`
			} `json:"plugins"`
		}
		if err := json.Unmarshal([]byte(files["/etc/cni/net.d/forge.conflist"]), &conf); err != nil {
			t.Fatal(err)
		}
		subnets[conf.Plugins[0].IPAM.Ranges[0][0].Subnet] = true
	}
	if len(subnets) != 3 {
		t.Errorf("three nodes have the subnets %v", subnets)
	}
}

func TestDNSHasTheAddressThatKubeadmGivesTheKubelets(t *testing.T) {
	if got := dnsAddress(); got != "10.96.0.10" {
		t.Errorf("dnsAddress() = %s, want the tenth of %s", got, node.ServiceCIDR)
	}
}
