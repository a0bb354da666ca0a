package poddiag

import "strings"

// scheduleRemedies maps a part of the scheduler's message to its remedy. The first that fits
// is the most specific one: nodes of the control plane have a taint in any case.
var scheduleRemedies = remedies{
	{"persistentvolumeclaim", "create or repair the claim, or change spec.extraVolumes"},
	{"PersistentVolumeClaims", "create or repair the claim, or change spec.extraVolumes"},
	{"volume node affinity conflict", "change spec.nodeSelector or spec.affinity to nodes that can mount the claim of spec.extraVolumes"},
	{"didn't match Pod's node affinity/selector", "change spec.nodeSelector or spec.affinity, or label a node"},
	{"Insufficient ", "add a node, or lower spec.resources"},
	{"affinity rules", "change spec.affinity, or add a node"},
	{"topology spread constraints", "change spec.topologySpreadConstraints, or add a node"},
	{"untolerated taint", "add the taint to spec.tolerations, or remove it from a node"},
}

// unscheduled adds to the scheduler's message what to do.
func unscheduled(message string) string {
	if remedy := scheduleRemedies.of(message); remedy != "" {
		return strings.TrimSuffix(message, ".") + "; " + remedy
	}
	return message
}
