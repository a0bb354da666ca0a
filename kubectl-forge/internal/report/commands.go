package report

import (
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// maxCommands bounds the advice: a user types one command at a time.
const maxCommands = 6

func onTarget(ref inventory.Ref) string { return ref.Arg() + " -n " + ref.Namespace }

func kubectl(namespace, command string) string { return "kubectl -n " + namespace + " " + command }

// inspect returns the command that shows details of an exhibit.
func inspect(namespace string, exhibit Exhibit) []string {
	if exhibit.Kind == kindPod && exhibit.Container != "" {
		command := fmt.Sprintf("logs %s -c %s", exhibit.Name, exhibit.Container)
		if exhibit.Previous {
			command += " --previous"
		}
		return []string{kubectl(namespace, command)}
	}
	return []string{kubectl(namespace, fmt.Sprintf("describe %s %s", strings.ToLower(exhibit.Kind), exhibit.Name))}
}

// describeStore names both stores: External Secrets cannot check one of them.
const describeStore = "kubectl describe clustersecretstores " + secrets.StoreName + " " + secrets.CheckedStoreName

func editOwner(ref inventory.Ref) string {
	return kubectl(ref.Namespace, "edit "+strings.ToLower(ref.Kind)+" "+ref.Name)
}

// createSecret returns the command that creates a Secret. The value comes from a
// file: an argument would be visible in the process list and in the shell's history.
func createSecret(namespace, name, literal, key string) []string {
	command := "create secret generic " + name
	if literal != "" {
		command += " " + literal
	}
	return []string{kubectl(namespace, fmt.Sprintf("%s --from-file=%s=FILE", command, key)), kubectl(namespace, "describe secret "+name)}
}

// describeDatabase returns the command that shows whether the database can be
// reached.
func describeDatabase(of inventory.Service) []string {
	ns, database := of.GetNamespace(), of.ServiceSpec().Database
	if database.ClusterRef != nil {
		return []string{kubectl(ns, "describe mariadb "+database.ClusterRef.Name)}
	}
	service, rest, _ := strings.Cut(database.Host, ".")
	namespace, kind, _ := strings.Cut(rest, ".")
	switch {
	case rest == "" && service != "":
		namespace = ns
	case kind != "svc" && !strings.HasPrefix(kind, "svc."):
		return []string{kubectl(ns, fmt.Sprintf("get %s %s -o jsonpath={.spec.database}", strings.ToLower(of.Of.Kind), of.GetName()))}
	}
	return []string{kubectl(namespace, "get endpointslices -l kubernetes.io/service-name="+service)}
}
