package operators

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/hack/bench/internal/objects"
)

// Services are what the program of all services has to do with: Keystones, and with each of
// them one service of every other kind.
var Services = services()

// beside are the services that each Keystone has beside it, by the prefix of their names.
var beside = []string{"barbican", "glance", "horizon", "placement"}

func services() *Operator {
	o := *Keystones
	o.Name, o.Plural, o.Controller = "openstack", "Keystones with all other services", ""
	o.CRDs = nil
	for _, service := range append([]string{"keystone"}, beside...) {
		o.CRDs = append(o.CRDs, "operators/"+service+"/config/crd/bases")
	}
	o.Rules = "files/*/rbac-rules.yaml"
	o.Operators = len(beside) + 1
	o.Flags = []string{"--leader-elect"}
	o.Ports = []string{keystonePort, "8080", "8778", "9292", "9311"}
	o.Prepare = prepareServices
	o.Beside = servicesOf
	o.Hosts = func(key client.ObjectKey) []string {
		hosts := Keystones.Hosts(key)
		for _, service := range beside {
			hosts = append(hosts, Keystones.Hosts(sibling(key, service))...)
		}
		return hosts
	}
	o.Populate = func(ctx context.Context, c client.Client, keys []client.ObjectKey, pods int) error {
		all := keys
		for _, key := range keys {
			for _, service := range beside {
				all = append(all, sibling(key, service))
			}
		}
		return populate(ctx, c, all, pods)
	}
	o.Spoil, o.Mend, o.Break, o.Slow = nil, nil, nil, nil
	return &o
}

// sibling is the service of another kind beside a Keystone.
func sibling(keystone client.ObjectKey, service string) client.ObjectKey {
	return client.ObjectKey{Namespace: keystone.Namespace, Name: strings.Replace(keystone.Name, "keystone", service, 1)}
}

// prepareServices creates the Secrets that the services refer to, which are those of the
// examples: the services of a namespace share them.
func prepareServices(ctx context.Context, c client.Client, s *Standins, key client.ObjectKey) error {
	if err := prepareKeystone(ctx, c, s, key); err != nil {
		return err
	}
	for _, name := range []string{
		"barbican-db", "glance-db", "placement-db", "barbican-user", "glance-user", "placement-user", "images-credentials",
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}, StringData: map[string]string{
			"username": name, "password": "password", "accessKey": "access", "secretKey": "secret",
		}}
		if err := objects.Create(ctx, c, secret); err != nil {
			return err
		}
	}
	return nil
}

// servicesOf returns the services beside a Keystone: the examples of the documentation, each with
// its own database.
func servicesOf(root string, key client.ObjectKey) ([]client.Object, error) {
	all := make([]client.Object, 0, len(beside)+1)
	for _, service := range append([]string{"glance-backend"}, beside...) {
		content, err := os.ReadFile(filepath.Join(root, "docs/examples", service+".yaml"))
		if err != nil {
			return nil, err
		}
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, obj); err != nil {
			return nil, err
		}
		name := sibling(key, service)
		obj.SetNamespace(name.Namespace)
		obj.SetName(name.Name)
		set := map[string][]string{
			name.Name + "." + name.Namespace + ".example.com": {"spec", "database", "host"},
			sibling(key, "glance").Name:                       {"spec", "glanceRef", "name"},
		}
		for value, path := range set {
			if _, found, _ := unstructured.NestedString(obj.Object, path...); !found {
				continue
			}
			if err := unstructured.SetNestedField(obj.Object, value, path...); err != nil {
				return nil, err
			}
		}
		all = append(all, obj)
	}
	return all, nil
}
