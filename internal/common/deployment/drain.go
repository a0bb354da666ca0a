package deployment

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// drainMarker returns the file whose existence means that the application's container is
// about to stop. The root file system is read-only; this directory is in memory and
// world-writable.
func drainMarker(app string) string { return "/dev/shm/" + app + "-draining" }

// DrainVariables configure uWSGI so that a pod terminates without dropping requests.
// uWSGI's HTTP router drops requests in flight on termination, and a client with a
// keep-alive connection does not notice that the pod has been removed from the Service.
// So from the start of the hook of [DrainHook], every response asks the client to close
// its connection.
func DrainVariables(app string) []corev1.EnvVar {
	return []corev1.EnvVar{
		// By default uWSGI reloads on SIGTERM, so the pod would run until it is killed.
		{Name: "UWSGI_DIE_ON_TERM", Value: "1"},
		// The directory survives a container restart within the pod.
		{Name: "UWSGI_EXEC_ASAP", Value: "rm -f " + drainMarker(app)},
		{Name: "UWSGI_ROUTE_IF", Value: "exists:" + drainMarker(app) + " addheader:Connection: close"},
	}
}

// underWay succeeds while a request is in flight: for each request the router has a
// connection to a worker over the loopback address. Idle client connections do not count.
// A node without IPv6 has no tcp6.
const underWay = `underway() { for table in /proc/net/tcp /proc/net/tcp6; do [ -r $table ] || continue; ` +
	`while read -r _ from to state _; do case $from-$to-$state in ` +
	`0100007F:*-0100007F:*-01|` + loopback6 + `:*-` + loopback6 + `:*-01) return 0;; esac; done < $table; done; return 1; }`

// loopback6 is ::1 as the kernel writes it.
const loopback6 = "00000000000000000000000001000000"

// countOpened sets n to the number of connections the pod has accepted so far.
const countOpened = `opened() { while read -r p _ _ _ _ _ c _; do case $p in Tcp:) n=$c;; esac; done < /proc/net/snmp; }`

// awaitQuiet returns once no new connection has arrived for a while and no request is in
// flight, however long a busy node takes to remove the pod from the Service: two seconds
// if no connection has arrived since the hook started, and otherwise six, since clients that
// wait for a busy node make pauses, too. Before, n is their number at that start.
const awaitQuiet = `q=2; o=$n; opened; until [ $q = 0 ]; do ` +
	`if [ "$n" != "$o" ]; then q=3; elif ! underway; then q=$((q-1)); fi; ` +
	`o=$n; [ $q = 0 ] || { sleep 2; opened; }; done`

// DrainHook returns the preStop hook. It sets the drain marker, sleeps for the given
// number of seconds, and then waits until no requests arrive or are in flight. The
// kubelet bounds it by the grace period.
func DrainHook(app string, seconds int64) *corev1.Lifecycle {
	command := fmt.Sprintf("%s; %s; touch %s; opened; trap '%s' EXIT; sleep %d", underWay, countOpened, drainMarker(app), awaitQuiet, seconds)
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", command}}}}
}
