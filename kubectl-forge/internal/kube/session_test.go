package kube

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
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
	_, err = Read(t.Context(), s, "openstack", false)
	if err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "check KUBECONFIG") {
		t.Errorf("got %v", err)
	}
}

func TestAMissingKubeconfigIsNamedBeforeARequest(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "nowhere"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := Open(genericclioptions.NewConfigFlags(false)); err == nil || !strings.Contains(err.Error(), "there is no kubeconfig") {
		t.Errorf("got %v", err)
	}
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer = new("https://127.0.0.1:1")
	if _, err := Open(flags); err != nil {
		t.Errorf("got %v, although --server names one", err)
	}
}
