package kube

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Right is a permission that a user may have.
type Right struct {
	Verb, Resource, Subresource, Group string
	// Namespace is empty for cluster-scoped resources, and for all namespaces.
	Namespace string
}

// String names the permission as a rule of a Role would.
func (r Right) String() string {
	text := fmt.Sprintf("%s %s", r.Verb, r.Resource)
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Namespace == "" {
		return text + " in the whole cluster"
	}
	return text + " in namespace " + r.Namespace
}

// MissingRightError reports that the user may not do something.
type MissingRightError struct {
	Right Right
	// Reason is additional text from the API server, such as a policy's message.
	Reason string
}

// Error says which permission is missing and who can grant it.
func (e *MissingRightError) Error() string {
	text := fmt.Sprintf("you may not %s; ask an administrator for that permission", e.Right)
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

// refusal matches what the API server's RBAC authorizer answers
// (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
var refusal = regexp.MustCompile(`cannot (\w+) resource "([^"/]+)(?:/([^"]+))?" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// Explain replaces the API server's refusal with one that names the missing permission.
// An admission plugin also answers "forbidden", as for a quota; such an answer
// stays as it is, and so does every other error.
func Explain(err error) error {
	var known *MissingRightError
	if err == nil || errors.As(err, &known) || !apierrors.IsForbidden(err) {
		return err
	}
	parts := refusal.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	return &MissingRightError{Right: Right{Verb: parts[1], Resource: parts[2], Subresource: parts[3], Group: parts[4], Namespace: parts[5]}}
}

// Temporary reports whether the request may succeed if it is retried: the API
// server restarts, is busy, or the connection to it is interrupted.
func Temporary(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// May asks the API server whether the user has the permission. Every authenticated
// user may ask.
func May(ctx context.Context, c client.Client, right Right) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: right.Verb, Resource: right.Resource, Subresource: right.Subresource, Group: right.Group, Namespace: right.Namespace,
		},
	}}
	if err := c.Create(ctx, review); err != nil {
		return false, fmt.Errorf("checking whether you may %s: %w", right, err)
	}
	return review.Status.Allowed, nil
}

// Require returns an error that names the first permission that the user lacks.
func Require(ctx context.Context, c client.Client, rights ...Right) error {
	for _, right := range rights {
		allowed, err := May(ctx, c, right)
		if err != nil {
			return err
		}
		if !allowed {
			return &MissingRightError{Right: right}
		}
	}
	return nil
}
