//go:build integration

package controller_test

import (
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lines is the operator's log.
type lines struct {
	mu   sync.Mutex
	text []string
	// passes are the lines about finished passes.
	passes []string
}

func (l *lines) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch line := prefix + " " + args; {
	case strings.Contains(line, `"msg"="Reconciling"`), strings.Contains(line, `"msg"="workqueue_items"`):
	case strings.Contains(line, `"msg"="Reconcile done`), strings.Contains(line, `"msg"="Reconcile successful"`):
		l.passes = append(l.passes, line)
	case strings.Contains(line, `"msg"="Reconciler error"`):
		l.passes = append(l.passes, line)
		l.text = append(l.text, line)
	default:
		l.text = append(l.text, line)
	}
}

// of returns the lines about a namespace.
func (l *lines) of(namespace string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.text {
		if strings.Contains(line, fmt.Sprintf("%q", namespace)) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}

// passesOver returns how many passes a controller has made over one of its resources.
func (l *lines) passesOver(controller string, resource client.Object) (passes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := []string{
		fmt.Sprintf(`"controller"=%q`, controller),
		fmt.Sprintf(`"namespace"=%q`, resource.GetNamespace()), fmt.Sprintf(`"name"=%q`, resource.GetName()),
	}
	for _, line := range l.passes {
		if strings.Contains(line, parts[0]) && strings.Contains(line, parts[1]) && strings.Contains(line, parts[2]) {
			passes++
		}
	}
	return passes
}
