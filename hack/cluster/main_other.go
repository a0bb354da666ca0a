//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, `error: the local cluster is made of Linux namespaces, and this is not Linux.
Use a cluster of your own instead, for example kind with Docker:
  kind create cluster && kind export kubeconfig --kubeconfig kubeconfig`)
	os.Exit(1)
}
