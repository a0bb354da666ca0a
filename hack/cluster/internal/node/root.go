package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// directories exist in a node's root from the start; the rest is created by the
// programs that use it.
var directories = []string{
	"dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr", "var/log", "var/tmp",
	binDir, logDir,
}

// kubeletSysctls are the kernel settings that a kubelet requires and that
// apply to the whole machine. A node presents files that already have these values,
// so that the kubelet has no reason to change the host's.
var kubeletSysctls = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// nodeSysctls belong to the node's network namespace.
var nodeSysctls = map[string]string{
	"net/ipv4/ip_forward":             "1",
	"net/ipv6/conf/eth0/disable_ipv6": "1",
}

// enterRoot turns the node's folder into the root of the calling process, which
// must have a separate mount namespace. The programs come from the host's /usr,
// which is effectively read only: the node's writes there go to its own folder.
func (n Node) enterRoot() error {
	root := n.Root()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("detaching from the host's mounts: %w", err)
	}
	steps := []struct {
		name string
		do   func(root string) error
	}{
		{"preparing the root", n.prepareRoot},
		{"mounting /usr", n.mountUsr},
		{"mounting the system folders", n.mountSystem},
		{"fixing the machine's settings", n.coverSysctls},
		{"changing to the new root", switchRoot},
	}
	for _, step := range steps {
		if err := step.do(root); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// prepareRoot creates the directories and mount points of the node's root.
func (n Node) prepareRoot(root string) error {
	for _, dir := range directories {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(root, dir), 0o777|fs.ModeSticky); err != nil {
			return err
		}
	}
	if err := replaceLink("/run", filepath.Join(root, "var/run")); err != nil {
		return err
	}
	// pivot_root requires a mount point, so the folder becomes one.
	return bind(root, root, 0)
}

// mountUsr lays a writable layer over the host's /usr and repeats the links
// (or, on systems with separate folders, binds the folders) next to it.
func (n Node) mountUsr(root string) error {
	upper, work := filepath.Join(n.Dir, "usr", "upper"), filepath.Join(n.Dir, "usr", "work")
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/usr,upperdir=%s,workdir=%s", upper, work)
	if err := syscall.Mount("overlay", filepath.Join(root, "usr"), "overlay", 0, options); err != nil {
		return fmt.Errorf("overlay on %s: %w", n.Dir, err)
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if err := repeat("/"+name, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return nil
}

// repeat repeats a link of the host inside the node, or binds a folder there.
func repeat(host, inside string) error {
	info, err := os.Lstat(host)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(host)
		if err != nil {
			return err
		}
		return replaceLink(target, inside)
	}
	if err := os.MkdirAll(inside, 0o755); err != nil {
		return err
	}
	return bind(host, inside, syscall.MS_RDONLY)
}

// mountSystem mounts /proc, /sys, /dev and /run into the node's root.
func (n Node) mountSystem(root string) error {
	at := func(path string) string { return filepath.Join(root, path) }
	if err := syscall.Mount("proc", at("proc"), "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", at("run"), "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("/run: %w", err)
	}
	for inside, host := range map[string]string{"sys": "/sys", "dev": "/dev", logDir: filepath.Dir(n.Log(""))} {
		if err := bind(host, at(inside), 0); err != nil {
			return err
		}
	}
	if err := bind(n.Tools, at(binDir), syscall.MS_RDONLY); err != nil {
		return err
	}
	return bindAlternatives(at("etc/alternatives"))
}

// bindAlternatives binds the folder in whose links Debian chooses iptables and others, if
// there is one.
func bindAlternatives(inside string) error {
	const host = "/etc/alternatives"
	if _, err := os.Stat(host); err == nil {
		if err := os.MkdirAll(inside, 0o755); err != nil {
			return err
		}
		return bind(host, inside, syscall.MS_RDONLY)
	}
	return nil
}

// coverSysctls covers the machine-wide kernel settings with files that already have the
// kubelet's values.
func (n Node) coverSysctls(root string) error {
	for name, value := range kubeletSysctls {
		file := filepath.Join(n.Dir, "sysctl", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		target := filepath.Join(root, "proc/sys", filepath.FromSlash(name))
		if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without this setting
		}
		if err := bind(file, target, 0); err != nil {
			return err
		}
	}
	return nil
}

// switchRoot makes root the root directory and unmounts the host's. Mounts
// made later propagate between the node and its pods, as on any machine, but not
// beyond the node's mount namespace.
func switchRoot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// With both arguments the same, the old root ends up mounted over the new
	// one, from where it can be unmounted; see pivot_root(2).
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmounting the host's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "")
}

// bind makes source, including the mounts below it, visible at target. Mount flags
// only take effect in a second call.
func bind(source, target string, flags uintptr) error {
	if err := syscall.Mount(source, target, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("binding %s to %s: %w", source, target, err)
	}
	if flags == 0 {
		return nil
	}
	if err := syscall.Mount("", target, "", syscall.MS_BIND|syscall.MS_REMOUNT|flags, ""); err != nil {
		return fmt.Errorf("restricting %s: %w", target, err)
	}
	return nil
}

// replaceLink makes path a symbolic link to target, whatever it was before.
func replaceLink(target, path string) error {
	if current, err := os.Readlink(path); err == nil && current == target {
		return nil
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// writeSysctls sets kernel settings. Settings that the kernel does not have are skipped.
func writeSysctls(values map[string]string) error {
	for name, value := range values {
		err := os.WriteFile(filepath.Join("/proc/sys", filepath.FromSlash(name)), []byte(value), 0o644)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
