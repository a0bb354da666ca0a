// Command bao is a stand-in for OpenBao in the local cluster: a small secret
// store with the part of OpenBao's API that External Secrets uses, and the
// command line tool to inspect it and to inject faults. It protects nothing beyond
// what a test cluster needs and is part of no chart.
package main

import (
	"os"

	"github.com/c5c3/forge/workshop/secretstore/internal/program"
)

func main() { os.Exit(program.Main(os.Args)) }
