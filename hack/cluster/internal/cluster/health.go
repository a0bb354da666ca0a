package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const kubeProxy = "kube-system/kube-proxy-"

// systemPods are the pods of a working cluster, by the prefixes of their
// names.
var systemPods = []string{
	"kube-system/etcd-",
	"kube-system/kube-apiserver-",
	"kube-system/kube-controller-manager-",
	"kube-system/kube-scheduler-",
	kubeProxy,
	"kube-system/coredns-",
	"local-path-storage/local-path-provisioner-",
}

// object is the part of nodes and pods that shows their health.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name              string     `json:"name"`
		Namespace         string     `json:"namespace"`
		DeletionTimestamp *time.Time `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Phase             string      `json:"phase"`
		Conditions        []condition `json:"conditions"`
		ContainerStatuses []container `json:"containerStatuses"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

type container struct {
	State struct {
		Running *running `json:"running"`
	} `json:"state"`
}

type running struct {
	StartedAt time.Time `json:"startedAt"`
}

// check returns an error that names the first part of the cluster that does
// not work, or nil.
func (c *Cluster) check(ctx context.Context, m member) error {
	if err := checkContainerd(ctx, m); err != nil {
		return err
	}
	if err := checkKubelet(ctx, m); err != nil {
		return err
	}
	objects, err := c.objects(ctx)
	if err != nil {
		return err
	}
	if err := nodeHealthy(objects, m.Node.Name); err != nil {
		return err
	}
	return podsServe(objects, systemPods, m.Started)
}

// checkServices returns an error until the addresses of Services work.
func (c *Cluster) checkServices(ctx context.Context, m member) error {
	objects, err := c.objects(ctx)
	if err != nil {
		return err
	}
	return podsServe(objects, []string{kubeProxy}, m.Started)
}

// objects returns all nodes and pods.
func (c *Cluster) objects(ctx context.Context) ([]object, error) {
	out, err := c.kubectl(ctx, "get", "nodes,pods", "--all-namespaces", "--output", "json").Output()
	if err != nil {
		return nil, fmt.Errorf("the API server does not answer: %w", explainExit(err))
	}
	var list struct {
		Items []object `json:"items"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("parsing the API server's answer: %w", err)
	}
	return list.Items, nil
}

// checkContainerd checks that containerd answers its client.
func checkContainerd(ctx context.Context, m member) error {
	if out, err := ctr(m.Init)(ctx, "version").CombinedOutput(); err != nil {
		return fmt.Errorf("containerd does not answer: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// checkKubelet checks the kubelet's health endpoint.
func checkKubelet(ctx context.Context, m member) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:10248/healthz", m.Node.Address()), nil)
	if err != nil {
		return err
	}
	// Directly to the node, regardless of any proxy in the environment.
	client := &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the kubelet does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the kubelet is not healthy: %s", response.Status)
	}
	return nil
}

// nodeHealthy checks that the node is registered, ready and not short of disk or
// memory.
func nodeHealthy(objects []object, name string) error {
	i := slices.IndexFunc(objects, func(o object) bool { return o.Kind == "Node" && o.Metadata.Name == name })
	if i < 0 {
		return fmt.Errorf("node %s has not registered", name)
	}
	if !objects[i].isReady() {
		return fmt.Errorf("node %s is not ready: %s", name, objects[i].readyMessage())
	}
	for _, c := range objects[i].Status.Conditions {
		switch {
		case c.Status != "True":
		case c.Type == "DiskPressure":
			return fmt.Errorf("node %s evicts pods and removes images: %s: free some disk space first", name, c.Message)
		case c.Type == "MemoryPressure":
			return fmt.Errorf("node %s evicts pods: %s: free some memory first", name, c.Message)
		}
	}
	return nil
}

// podsServe requires a ready pod for every prefix of a namespaced name. For a
// restarted node the API server shows outdated status for a while,
// so only containers that started since then count.
func podsServe(objects []object, prefixes []string, since time.Time) error {
	for _, prefix := range prefixes {
		serves := slices.ContainsFunc(objects, func(o object) bool {
			return o.Kind == "Pod" && strings.HasPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, prefix) && o.serves(since)
		})
		if !serves {
			return fmt.Errorf("no pod %s* is ready", prefix)
		}
	}
	return nil
}

// isReady reports whether the condition Ready is True.
func (o object) isReady() bool {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// readyMessage explains the condition Ready.
func (o object) readyMessage() string {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			return c.Message
		}
	}
	return "its kubelet has not reported yet"
}

// serves reports whether the pod is ready with containers that started after the given
// time.
func (o object) serves(since time.Time) bool {
	if !o.isReady() || o.Status.Phase != "Running" || o.Metadata.DeletionTimestamp != nil || len(o.Status.ContainerStatuses) == 0 {
		return false
	}
	for _, c := range o.Status.ContainerStatuses {
		// The API server's times have no fractions of a second.
		if c.State.Running == nil || c.State.Running.StartedAt.Before(since.Truncate(time.Second)) {
			return false
		}
	}
	return true
}

// explainExit adds the output of a failed command to its error.
func explainExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
