// Package node builds a machine from namespaces: a process tree with its own
// network, mounts, process ids, host name and file system root, in which
// containerd, the kubelet and all their pods run as they would on a server.
//
// The tree depends on one process, the node's init. When it exits, the kernel
// kills everything in the node, and removes its mounts and its network together with
// the last process. What remains, and what Remove deletes, are plain directories:
// the node's files and its control groups.
package node

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

const (
	// ServiceCIDR holds the virtual addresses of Services.
	ServiceCIDR = "10.96.0.0/16"
	// PodCIDR holds the addresses of all nodes' pods.
	PodCIDR = "10.244.0.0/16"

	// cgroupParent is the group in every hierarchy that holds all nodes'
	// groups, and nothing else.
	cgroupParent = "/forge-cluster"
	// linkAlias marks the network interfaces that belong to a node.
	linkAlias = "forge-cluster"
	// binDir is where a node sees the checkout's tools.
	binDir = "/opt/forge/bin"
)

// linkNet holds the links between host and nodes, four addresses each. The
// range is reserved for measurements (RFC 2544), so that no real network is
// hidden by it.
var linkNet = netip.MustParsePrefix("198.18.64.0/22")

// Node describes one node. All that is needed to start, reach and remove it
// derives from it, so that a cluster can have any number of them.
type Node struct {
	// Name is the host name and the name of the Node object.
	Name string `json:"name"`
	// Index numbers the nodes of a cluster, from 0.
	Index int `json:"index"`
	// Dir holds the node's files on the host.
	Dir string `json:"dir"`
	// Tools is the host's folder of the components' binaries.
	Tools string `json:"tools"`
	// Checkout is the checkout the node was started from.
	Checkout string `json:"checkout"`
}

// New describes the node with the given index and name, whose files live in
// a folder of that name below dir.
func New(index int, name, dir, tools, checkout string) Node {
	return Node{Name: name, Index: index, Dir: filepath.Join(dir, name), Tools: tools, Checkout: checkout}
}

// Address is the node's address, under which the host reaches the API server
// and every NodePort.
func (n Node) Address() netip.Addr { return n.linkAddr(2) }

// HostAddress is the host's end of the link to the node.
func (n Node) HostAddress() netip.Addr { return n.linkAddr(1) }

// linkAddr returns an address of the node's link: the link's addresses are four to a
// node, so that the index of the node determines them.
func (n Node) linkAddr(host int) netip.Addr {
	addr := linkNet.Addr().As4()
	offset := 4*n.Index + host
	addr[2] += byte(offset >> 8)
	addr[3] += byte(offset)
	return netip.AddrFrom4(addr)
}

// PodCIDR is the node's share of the pods' addresses, in the order in which
// the controller manager hands them out.
func (n Node) PodCIDR() netip.Prefix {
	addr := netip.MustParsePrefix(PodCIDR).Addr().As4()
	addr[2] += byte(n.Index)
	return netip.PrefixFrom(netip.AddrFrom4(addr), 24)
}

// HostLink is the name of the host's network interface to the node.
func (n Node) HostLink() string { return fmt.Sprintf("forge-n%d", n.Index) }

// PodCgroup is the control group of the node's pods, relative to the root of
// every hierarchy. Each node has its own: a kubelet removes unknown groups
// from the group that it is given.
func (n Node) PodCgroup() string { return filepath.Join(cgroupParent, n.Name, "pods") }

// daemonCgroup is the control group of the processes that are not in pods.
func (n Node) daemonCgroup() string { return filepath.Join(cgroupParent, n.Name, "daemons") }

// Root is the node's root directory as the host sees it. Mounts inside the node are
// not visible there.
func (n Node) Root() string { return filepath.Join(n.Dir, "root") }

// Log is the host's path of one of the node's logs.
func (n Node) Log(name string) string { return filepath.Join(n.Dir, "log", name+".log") }

func (n Node) specFile() string { return filepath.Join(n.Dir, "node.json") }

// save writes the description of the node, from which its init reads it.
func (n Node) save() error {
	data, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(n.specFile(), append(data, '\n'), 0o644)
}

// load reads a description that save has written.
func load(specFile string) (Node, error) {
	var n Node
	data, err := os.ReadFile(specFile)
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return n, fmt.Errorf("%s is damaged: %w", specFile, err)
	}
	return n, nil
}
