// Command forge-cluster runs a real Kubernetes cluster on a machine that has
// neither a container engine nor a registry: kubeadm, etcd, containerd and all
// pods in separate namespaces, isolated from the host's network.
package main
