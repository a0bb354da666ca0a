// Package manifests renders the configuration of the cluster: the files of
// a node, kubeadm's configuration and the add-ons.
package manifests

import (
	"embed"
	"fmt"
	"net/netip"
	"strings"
	"text/template"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/node"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Option("missingkey=error").ParseFS(templateFiles, "templates/*"))

// KubeadmConfig is the path, inside a node, of kubeadm's configuration.
const KubeadmConfig = "/etc/kubernetes/kubeadm.yaml"

// auditPolicy is the path, inside a node, of the API server's audit policy.
const auditPolicy = "/etc/kubernetes/audit-policy.yaml"

// patches is the folder, inside a node, with changes to kubeadm's static pods.
const patches = "/etc/kubernetes/patches"

// staticPod is one of kubeadm's pods with what it requests instead.
type staticPod struct{ Name, CPU string }

var staticPods = []staticPod{{"kube-controller-manager", "50m"}, {"kube-scheduler", "25m"}}

// values are the inputs of the templates.
type values struct {
	NodeName          string
	Address           string
	PodCIDR           string
	ClusterCIDR       string
	ServiceCIDR       string
	DNSAddress        string
	CgroupRoot        string
	KubernetesVersion string
	EtcdTag           string
	AuditPolicy       string
	Patches           string
	Images            references
	// Operators are the names of our operators.
	Operators []string
}

type references struct {
	Pause, CoreDNS, LocalPath, VolumeHelper string
}

// newValues collects the values of the templates from the node and the component
// versions.
func newValues(n node.Node, set images.Set) values {
	return values{
		NodeName:          n.Name,
		Address:           n.Address().String(),
		PodCIDR:           n.PodCIDR().String(),
		ClusterCIDR:       node.PodCIDR,
		ServiceCIDR:       node.ServiceCIDR,
		DNSAddress:        dnsAddress(),
		CgroupRoot:        n.PodCgroup(),
		KubernetesVersion: set.Tag("kube-apiserver"),
		EtcdTag:           set.Tag("etcd"),
		AuditPolicy:       auditPolicy,
		Patches:           patches,
		Images: references{
			Pause:        set.Reference("pause"),
			CoreDNS:      set.Reference("coredns"),
			LocalPath:    set.Reference("local-path-provisioner"),
			VolumeHelper: set.Reference("volume-helper"),
		},
	}
}

// dnsAddress returns the tenth Service address, which kubeadm uses for DNS.
func dnsAddress() string {
	addr := netip.MustParsePrefix(node.ServiceCIDR).Addr().As4()
	addr[3] += 10
	return netip.AddrFrom4(addr).String()
}

// systemFiles are the files of an operating system that names its users and hosts.
func systemFiles(n node.Node) map[string]string {
	return map[string]string{
		"/etc/passwd":   "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"/etc/group":    "root:x:0:\nnogroup:x:65534:\n",
		"/etc/hostname": n.Name + "\n",
		"/etc/hosts":    fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", n.Address(), n.Name),
		// Nothing listens there, so that connections are refused at once.
		"/etc/resolv.conf":   "nameserver 127.0.0.1\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	}
}

// NodeFiles returns the contents of the files that a node starts with, by their
// paths inside the node. The API server records the requests of the given
// operators.
func NodeFiles(n node.Node, set images.Set, operators []string) (map[string]string, error) {
	v := newValues(n, set)
	v.Operators = operators
	files := systemFiles(n)
	for path, name := range map[string]string{
		node.ContainerdConfig:           "containerd.toml",
		"/etc/cni/net.d/forge.conflist": "cni.conflist",
		KubeadmConfig:                   "kubeadm.yaml",
		auditPolicy:                     "audit-policy.yaml",
	} {
		content, err := render(name, v)
		if err != nil {
			return nil, err
		}
		files[path] = content
	}
	return files, addPatches(files)
}

// addPatches adds kubeadm's patches of the static pods.
func addPatches(files map[string]string) error {
	for _, pod := range staticPods {
		content, err := render("static-pod.yaml", pod)
		if err != nil {
			return err
		}
		files[patches+"/"+pod.Name+"+strategic.yaml"] = content
	}
	return nil
}

// AddOns returns the manifests of CoreDNS and of the storage provisioner, and what is changed
// of kubeadm's kube-proxy.
func AddOns(n node.Node, set images.Set) (string, error) {
	var parts []string
	for _, name := range []string{"coredns.yaml", "kube-proxy.yaml", "local-path.yaml"} {
		content, err := render(name, newValues(n, set))
		if err != nil {
			return "", err
		}
		parts = append(parts, content)
	}
	return strings.Join(parts, "---\n"), nil
}

// render executes one of the embedded templates.
func render(name string, v any) (string, error) {
	var out strings.Builder
	if err := templates.ExecuteTemplate(&out, name, v); err != nil {
		return "", err
	}
	return out.String(), nil
}
