package envtest

import (
	"net"
	"testing"
)

// FreePort returns a TCP port of this machine that nothing listens on.
func FreePort(t testing.TB) int32 {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return int32(listener.Addr().(*net.TCPAddr).Port)
}
