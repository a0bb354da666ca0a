// Command volume-helper creates and deletes the folder of a volume. The
// storage provisioner runs it in a pod on the volume's node, with the flags
// that it gives to every such command.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	path := flag.String("p", "", "folder of the volume")
	action := flag.String("a", "", "create or delete")
	flag.String("s", "", "size of the volume, which a plain folder cannot limit")
	flag.String("m", "", "volume mode, always Filesystem")
	flag.Parse()
	if err := run(*action, *path); err != nil {
		fmt.Fprintln(os.Stderr, "volume-helper:", err)
		os.Exit(1)
	}
}

func run(action, path string) error {
	switch action {
	case "create":
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
		// The volume's pods can write to it as any user.
		return os.Chmod(path, 0o777)
	case "delete":
		return os.RemoveAll(path)
	}
	return fmt.Errorf("unknown action %q", action)
}
