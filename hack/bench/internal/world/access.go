package world

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kubeconfig writes the operator's kubeconfig, for the API server or for
// another address unless that is empty, and returns the file.
func (w *World) Kubeconfig(address string) (path string, err error) {
	cluster := &clientcmdapi.Cluster{Server: w.user.Host, CertificateAuthorityData: w.user.CAData}
	if address != "" {
		cluster = &clientcmdapi.Cluster{Server: address}
	}
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"bench": cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"bench": {Token: w.user.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"bench": {Cluster: "bench", AuthInfo: "bench"}},
		CurrentContext: "bench",
	}
	path = w.file("kubeconfig")
	return path, clientcmd.WriteToFile(config, path)
}

// Hosts writes the file that the operator gets as /etc/hosts: the services of all
// resources are at [Address].
func (w *World) Hosts(keys []client.ObjectKey) (path string, err error) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n")
	for _, key := range keys {
		for _, host := range w.operator.Hosts(key) {
			fmt.Fprintf(&b, "%s %s\n", Address, host)
		}
	}
	path = w.file("hosts")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}
