package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheLinkIsMarkedAndAddressedOnBothSides(t *testing.T) {
	n := New(1, "worker", "/dir", "", "")
	got := map[string]string{
		"create": n.createLink(4711),
		"host":   n.hostAddressing(),
		"node":   n.nodeAddressing(),
	}
	want := map[string]string{
		"create": "link add forge-n1 type veth peer name eth0 netns 4711\n" +
			"link set forge-n1 alias forge-cluster addrgenmode none\n",
		"host": "addr replace 198.18.64.5/30 dev forge-n1\n" +
			"link set forge-n1 up\n",
		"node": "link set lo up\n" +
			"link set eth0 addrgenmode none\n" +
			"addr replace 198.18.64.6/30 dev eth0\n" +
			"link set eth0 up\n" +
			"route replace 10.96.0.0/16 dev eth0 src 198.18.64.6\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("input of ip differs (-want +got):\n%s", diff)
	}
}

func TestAForeignInterfaceIsNotTakenForALink(t *testing.T) {
	if exists, err := ownLink("lo"); !exists || err == nil {
		t.Errorf("ownLink(lo) = %v, %v, want an error, since lo was not made here", exists, err)
	}
	if exists, err := ownLink("forge-none"); exists || err != nil {
		t.Errorf("ownLink(forge-none) = %v, %v, want neither", exists, err)
	}
}
