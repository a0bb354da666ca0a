package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Connect links the node to the host. It may be called again on a connected
// node, to repair its link.
func (n Node) Connect(ctx context.Context, init Process) error {
	exists, err := ownLink(n.HostLink())
	if err != nil {
		return err
	}
	if !exists {
		if err := runWith(ctx, n.createLink(init.PID), "ip", "-batch", "-"); err != nil {
			return fmt.Errorf("linking host and node: %w", err)
		}
	}
	enter := []string{"--target", fmt.Sprint(init.PID), "--net", "--"}
	for _, step := range []struct {
		input   string
		command []string
	}{
		{n.hostAddressing(), []string{"ip", "-batch", "-"}},
		{n.nodeAddressing(), append([]string{"nsenter"}, append(enter, "ip", "-batch", "-")...)},
		{n.isolation(), append([]string{"nsenter"}, append(enter, "nft", "-f", "-")...)},
	} {
		if err := runWith(ctx, step.input, step.command[0], step.command[1:]...); err != nil {
			return fmt.Errorf("setting up the node's network: %w", err)
		}
	}
	return nil
}

// createLink is ip's input for a pair of interfaces between host and node.
// Without link-local addresses there is no way around the rules for IPv4.
func (n Node) createLink(pid int) string {
	return fmt.Sprintf(`link add %[1]s type veth peer name eth0 netns %[2]d
link set %[1]s alias %[3]s addrgenmode none
`, n.HostLink(), pid, linkAlias)
}

// hostAddressing is ip's input on the host's side of the link.
func (n Node) hostAddressing() string {
	return fmt.Sprintf(`addr replace %[2]s/30 dev %[1]s
link set %[1]s up
`, n.HostLink(), n.HostAddress())
}

// nodeAddressing is ip's input inside the node. There is no default route: an
// address outside is unreachable at once. Service addresses need a route,
// though any will do, to get as far as kube-proxy's rules.
func (n Node) nodeAddressing() string {
	return fmt.Sprintf(`link set lo up
link set eth0 addrgenmode none
addr replace %[1]s/30 dev eth0
link set eth0 up
route replace %[2]s dev eth0 src %[1]s
`, n.Address(), ServiceCIDR)
}

// isolation lets the node answer the host but not open connections to it. Packets
// are filtered after kube-proxy has chosen their final destination, where they
// can no longer be rejected, only dropped; those from pods are rejected
// one step earlier, so that clients do not wait.
func (n Node) isolation() string {
	return `table inet forge_isolation
delete table inet forge_isolation
table inet forge_isolation {
	chain forward {
		type filter hook forward priority filter; policy accept;
		oifname "eth0" ct state != { established, related } reject with icmpx admin-prohibited
	}
	chain postrouting {
		type filter hook postrouting priority filter; policy accept;
		oifname "eth0" ct state != { established, related } drop
	}
}
`
}

// ownLink reports whether the interface exists; it is an error if it was not
// created by this package.
func ownLink(name string) (bool, error) {
	alias, err := os.ReadFile(filepath.Join("/sys/class/net", name, "ifalias"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(string(alias)) != linkAlias {
		return true, fmt.Errorf("network interface %s exists and is not a cluster's; rename it", name)
	}
	return true, nil
}

// RemoveLinks removes the host's ends of all nodes' links. Usually they were
// removed together with the node.
func RemoveLinks(ctx context.Context) error {
	files, err := filepath.Glob("/sys/class/net/forge-n*/ifalias")
	if err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if own, err := ownLink(name); err != nil || !own {
			continue // somebody else's, or gone since
		}
		err := runWith(ctx, "", "ip", "link", "delete", name)
		if _, statErr := os.Stat(file); err != nil && !errors.Is(statErr, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// runWith runs a command with the given input; its output becomes part of
// the error if it fails.
func runWith(ctx context.Context, input, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}
