package node

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNodesNeverShareAddressesOrNames(t *testing.T) {
	links, pods, addresses := map[string]bool{}, map[netip.Prefix]bool{}, map[netip.Addr]bool{}
	const count = 100
	for i := range count {
		n := New(i, "node", "/dir", "/tools", "/checkout")
		links[n.HostLink()], pods[n.PodCIDR()] = true, true
		addresses[n.Address()], addresses[n.HostAddress()] = true, true
		if !linkNet.Contains(n.Address()) || !linkNet.Contains(n.HostAddress()) {
			t.Errorf("node %d has addresses %s and %s outside of %s", i, n.Address(), n.HostAddress(), linkNet)
		}
		if subnet := netip.PrefixFrom(n.Address(), 30).Masked(); !subnet.Contains(n.HostAddress()) {
			t.Errorf("node %d cannot reach its host: %s is not in %s", i, n.HostAddress(), subnet)
		}
		if !netip.MustParsePrefix(PodCIDR).Contains(n.PodCIDR().Addr()) {
			t.Errorf("node %d has pod addresses %s outside of %s", i, n.PodCIDR(), PodCIDR)
		}
	}
	if len(links) != count || len(pods) != count || len(addresses) != 2*count {
		t.Errorf("%d nodes share: %d links, %d pod ranges, %d addresses", count, len(links), len(pods), len(addresses))
	}
}

func TestANodeKeepsItsGroupsApartFromOtherNodes(t *testing.T) {
	a, b := New(0, "a", "/dir", "", ""), New(1, "b", "/dir", "", "")
	if a.PodCgroup() == b.PodCgroup() || a.daemonCgroup() == a.PodCgroup() {
		t.Errorf("groups overlap: %s, %s, %s", a.PodCgroup(), b.PodCgroup(), a.daemonCgroup())
	}
}

func TestASavedNodeLoadsUnchanged(t *testing.T) {
	want := New(3, "worker", t.TempDir(), "/tools", "/checkout")
	if err := os.MkdirAll(want.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := want.save(); err != nil {
		t.Fatal(err)
	}
	got, err := load(want.specFile())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loaded node differs (-want +got):\n%s", diff)
	}
}

func TestADamagedNodeFileIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "node.json")
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(file); err == nil || !cmp.Equal(err.Error()[:len(file)], file) {
		t.Errorf("load() = %v, want an error that starts with the file's path", err)
	}
}
