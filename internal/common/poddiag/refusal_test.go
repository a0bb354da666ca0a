package poddiag

import "testing"

func TestARefusedPodIsExplainedWithTheMessageOfTheAPIServer(t *testing.T) {
	const quota = `exceeded quota: team, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2`
	const explained = "no pod can be created: " + quota + "; raise the ResourceQuota, or lower spec.resources or spec.replicas"
	for message, want := range map[string]string{
		`pods "keystone-7d4f9-abcde" is forbidden: ` + quota:                                                   explained,
		`Error creating: pods "keystone-db-sync-x2x4z" is forbidden: ` + quota:                                 explained,
		`(combined from similar events): Error creating: pods "keystone-db-sync-9x7qq" is forbidden: ` + quota: explained,
		`Error creating: pods "a" is forbidden: failed quota: team: must specify limits.cpu for: db-sync`: "no pod can be created: " +
			"failed quota: team: must specify limits.cpu for: db-sync; set in spec.resources what the ResourceQuota asks for",
		`Error creating: pods "a" is forbidden: maximum cpu usage per Container is 200m, but limit is 500m`: "no pod can be created: " +
			"maximum cpu usage per Container is 200m, but limit is 500m; change spec.resources or the LimitRange",
		`Error creating: pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`: "no pod can be created: " +
			`violates PodSecurity "restricted:latest": runAsNonRoot != true; ` +
			"let the namespace's label pod-security.kubernetes.io/enforce admit these pods",
		`Error creating: pods "a" is forbidden: no PriorityClass with name high was found`: "no pod can be created: " +
			"no PriorityClass with name high was found; create the PriorityClass, or change spec.priorityClassName",
		`Error creating: pods "a" is forbidden: pod rejected: RuntimeClass "gvisor" not found`: "no pod can be created: " +
			`pod rejected: RuntimeClass "gvisor" not found; create the RuntimeClass, or change spec.runtimeClassName`,
		`Error creating: Internal error occurred: failed calling webhook "pods.example.com": connection refused`: "no pod can be created: " +
			`Internal error occurred: failed calling webhook "pods.example.com": connection refused`,
	} {
		if got := Refusal(message); got != want {
			t.Errorf("Refusal(%q):\n got %s\nwant %s", message, got, want)
		}
	}
}
