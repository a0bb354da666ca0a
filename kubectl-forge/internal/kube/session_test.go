package kube

import (
	"net"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestAnAPIServerThatIsNotThereIsNamedWithWhatToCheck(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(&rest.Config{Host: "http://" + address}, "openstack")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), s, "openstack")
	if err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "check KUBECONFIG") {
		t.Errorf("got %v", err)
	}
}
