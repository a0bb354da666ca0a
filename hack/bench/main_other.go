//go:build !linux

// The bench measures what an operator costs, on Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the bench reads what processes use from /proc and needs mount namespaces: run it on Linux")
	os.Exit(1)
}
