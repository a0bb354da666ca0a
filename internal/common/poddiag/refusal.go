package poddiag

import (
	"regexp"
	"strings"
)

// refusalPrefix matches the text before the cause when a controller reports that
// it could not create a pod. It contains the pod's name, which changes with each attempt.
var refusalPrefix = regexp.MustCompile(`^(\(combined from similar events\): )?(Error creating: )?(pods "[^"]*" is forbidden: )?`)

// remedies maps a part of a problem's text to its remedy.
type remedies []struct{ contains, remedy string }

// of returns the first remedy that fits the problem, "" if none is known.
func (r remedies) of(problem string) string {
	for _, known := range r {
		if strings.Contains(problem, known.contains) {
			return known.remedy
		}
	}
	return ""
}

// refusalRemedies maps a part of a refusal's text to its remedy, for the admission
// plugins ResourceQuota, LimitRange, PodSecurity, RuntimeClass and Priority.
var refusalRemedies = remedies{
	{"exceeded quota:", "raise the ResourceQuota, or lower spec.resources or spec.replicas"},
	{"failed quota:", "set in spec.resources what the ResourceQuota asks for"},
	{" usage per ", "change spec.resources or the LimitRange"},
	{" ratio per ", "change spec.resources or the LimitRange"},
	{"violates PodSecurity", "let the namespace's label pod-security.kubernetes.io/enforce admit these pods"},
	{"pod rejected: RuntimeClass", "create the RuntimeClass, or change spec.runtimeClassName"},
	{"no PriorityClass with name", "create the PriorityClass, or change spec.priorityClassName"},
}

// Refusal describes why no pod can be created and what to do, given the API
// server's answer to a controller as reported in a condition or an event.
// The same cause always has the same text.
func Refusal(message string) string {
	cause := truncate(strings.ToValidUTF8(refusalPrefix.ReplaceAllString(message, ""), ""))
	text := "no pod can be created: " + cause
	if remedy := refusalRemedies.of(cause); remedy != "" {
		return text + "; " + remedy
	}
	return text
}
