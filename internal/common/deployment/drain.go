package deployment

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// drainMarker is the file whose existence means that a container of the application
// is about to stop. The root file system is read-only; this directory is in memory
// and writable for everyone.
func drainMarker(app string) string { return "/dev/shm/" + app + "-draining" }

// DrainVariables let a pod of uWSGI end without breaking a request. uWSGI's HTTP
// router drops what is under way when it is told to end, and a client with a
// kept connection never notices that the Service has forgotten the pod. So
// from the hook of [DrainHook] on, every response asks the client to leave.
func DrainVariables(app string) []corev1.EnvVar {
	return []corev1.EnvVar{
		// uWSGI reloads on SIGTERM unless told otherwise, so that a pod would
		// last until it is killed.
		{Name: "UWSGI_DIE_ON_TERM", Value: "1"},
		// The directory outlives a container that is restarted in its pod.
		{Name: "UWSGI_EXEC_ASAP", Value: "rm -f " + drainMarker(app)},
		{Name: "UWSGI_ROUTE_IF", Value: "exists:" + drainMarker(app) + " addheader:Connection: close"},
	}
}

// underWay succeeds while a request is under way: the router has a connection
// to a worker, over the loopback address, for each of them. Idle connections
// of clients do not count.
const underWay = `underway() { while read -r _ from to state _; do ` +
	`case $from-$to-$state in 0100007F:*-0100007F:*-01) return 0;; esac; done < /proc/net/tcp; return 1; }`

// countOpened sets n to how many connections the pod has been sent so far.
const countOpened = `opened() { while read -r p _ _ _ _ _ c _; do case $p in Tcp:) n=$c;; esac; done < /proc/net/snmp; }`

// awaitQuiet ends when no connection has come for two seconds, however long a
// busy node takes to take the pod out of the Service, and no request is under
// way.
const awaitQuiet = `opened; o=; until [ "$n" = "$o" ] && ! underway; do o=$n; sleep 2; opened; done`

// DrainHook announces the end, waits for so many seconds and until nobody sends
// requests any more, and then for those that take longer than that. The kubelet
// bounds it by the grace period.
func DrainHook(app string, seconds int64) *corev1.Lifecycle {
	command := fmt.Sprintf("%s; %s; touch %s; trap '%s' EXIT; sleep %d", underWay, countOpened, drainMarker(app), awaitQuiet, seconds)
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", command}}}}
}
