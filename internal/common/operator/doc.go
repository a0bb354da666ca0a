// Package operator starts a Kubernetes operator: flags, logging, caches, leader
// election, probes, metrics and webhooks, set up in the same way for all operators
// of this repository, so that a main function only lists the controllers and
// webhooks to run.
//
// What it decides, and why:
//
//   - The cache holds Secrets and ConfigMaps only if they carry the label
//     app.kubernetes.io/managed-by with the operator's name. Foreign ones,
//     which may be many and large, never enter the operator's memory.
//   - Managed fields stay in cached objects unless the operator's transform drops
//     them, because knowing which fields are our own is what makes it possible to
//     leave a converged object alone.
//   - The cache excludes Pods that have succeeded: those of Jobs stay for days,
//     and nothing reads them.
//   - The garbage collector is configured with the container's memory limit, unless
//     GOMEMLIMIT is set.
//   - There is no client-side rate limit. API Priority and Fairness protects
//     the API server, and knows better.
//   - A leader releases its lease when it stops, and the others keep their
//     caches warm, so that a planned hand-over takes seconds.
//   - Several operators can share a process. Each has its own manager with its own
//     Lease, so that it does not matter to an operator which program runs it.
//   - HTTP/2 is off on all servers: nothing here benefits from it, and its
//     stream handling has been a way to exhaust servers (CVE-2023-44487).
package operator
