// Command ociimage assembles a container image from root file systems and
// single files and writes it as an OCI archive, without a container engine
// and without a registry. Equal inputs give an equal archive, byte for byte.
//
//	ociimage -o manager.tar -name ghcr.io/c5c3/keystone-operator:dev \
//	    -file bin/manager:/manager:0755 -user 65532:65532 -entrypoint /manager
//
// Images for several platforms become one archive, from which a runtime picks its own:
//
//	ociimage -o manager.tar -name ghcr.io/c5c3/keystone-operator:1.2.3 -combine amd64.tar -combine arm64.tar
//
// The archive loads with "ctr images import" and "kind load image-archive".
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "ociimage:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	out, spec, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	if len(spec.combine) > 0 {
		return combine(out, spec.combine, spec.names)
	}
	img, err := buildImage(spec)
	if err != nil {
		return err
	}
	return writeArchive(out, img, spec.names)
}

func parseFlags(args []string, stderr io.Writer) (string, imageSpec, error) {
	var (
		out   string
		spec  = imageSpec{labels: map[string]string{}}
		flags = flag.NewFlagSet("ociimage", flag.ContinueOnError)
	)
	flags.SetOutput(stderr)
	flags.StringVar(&out, "o", "", "`path` of the archive to write")
	flags.Var((*stringList)(&spec.names), "name", "full image `reference` with registry and tag; repeat it to give one image several names")
	flags.Var((*stringList)(&spec.combine), "combine", "`archive` of an image for one platform, to be made one with others; repeatable")
	flags.Var((*stringList)(&spec.layers), "layer", "`tar` file that becomes a layer, lowest first; repeatable")
	flags.Func("file", "`src:dst:mode` of a file for the topmost layer, owned by root; repeatable", func(s string) error {
		f, err := parseFile(s)
		spec.files = append(spec.files, f)
		return err
	})
	flags.Var((*stringList)(&spec.env), "env", "`NAME=value` in the container's environment; repeatable")
	flags.Var((*stringList)(&spec.entrypoint), "entrypoint", "one `word` of the entrypoint; repeatable")
	flags.Var((*stringList)(&spec.cmd), "cmd", "one `word` of the default arguments; repeatable")
	flags.Func("label", "`key=value` label of the image; repeatable", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return errors.New("must have the form key=value")
		}
		spec.labels[key] = value
		return nil
	})
	flags.StringVar(&spec.user, "user", "", "numeric `uid:gid` of the process; Kubernetes cannot check runAsNonRoot on a name")
	flags.StringVar(&spec.workdir, "workdir", "", "working `directory` of the container's process")
	flags.StringVar(&spec.arch, "arch", runtime.GOARCH, "`architecture` of the image in Go's spelling")
	flags.StringVar(&spec.compression, "compress", compressZstd, "compression of the layers: zstd, gzip or none")
	if err := flags.Parse(args); err != nil {
		return "", imageSpec{}, err
	}
	if flags.NArg() > 0 {
		return "", imageSpec{}, fmt.Errorf("unexpected argument %q: every input has a flag, see -help", flags.Arg(0))
	}
	if out == "" {
		return "", imageSpec{}, errors.New("no output: name the archive with -o")
	}
	return out, spec, spec.validate()
}

// stringList is a flag that may be repeated.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, " ") }

func (l *stringList) Set(s string) error {
	*l = append(*l, s)
	return nil
}
