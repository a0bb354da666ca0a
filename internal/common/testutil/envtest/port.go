package envtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// firstPort and lastPort are below the ports that systems assign automatically: one of
// those could be in use as the other end of a connection by the time a port is used.
const firstPort, lastPort = 20_000, 29_999

// handedOut are the ports that were given to tests of this process.
var handedOut sync.Map

// FreePort returns a TCP port of this machine that nothing listens on.
func FreePort(t testing.TB) int32 {
	t.Helper()
	var refused error
	for range 100 {
		port := firstPort + rand.Int32N(lastPort-firstPort+1)
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", port))
		if err != nil {
			refused = err
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatalf("no TCP port between %d and %d is free: %v", firstPort, lastPort, refused)
	return 0
}
