package kube

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Explaining is a client whose errors went through [Explain].
type Explaining struct{ client.Client }

// Get reads an object.
func (c Explaining) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	return Explain(c.Client.Get(ctx, key, obj, options...))
}

// List reads a list.
func (c Explaining) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return Explain(c.Client.List(ctx, list, options...))
}

// Create creates an object.
func (c Explaining) Create(ctx context.Context, obj client.Object, options ...client.CreateOption) error {
	return Explain(c.Client.Create(ctx, obj, options...))
}

// Patch changes an object.
func (c Explaining) Patch(ctx context.Context, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
	return Explain(c.Client.Patch(ctx, obj, patch, options...))
}

// Delete deletes an object.
func (c Explaining) Delete(ctx context.Context, obj client.Object, options ...client.DeleteOption) error {
	return Explain(c.Client.Delete(ctx, obj, options...))
}

// MissingRightError is a permission that the user lacks, such as "get pods/log in namespace openstack".
type MissingRightError string

// Error says which permission is missing and who can grant it.
func (e MissingRightError) Error() string {
	return "you may not " + string(e) + "; ask an administrator for that permission"
}

// IsMissingRight reports whether the error is, or wraps, a [MissingRightError].
func IsMissingRight(err error) bool {
	_, missing := errors.AsType[MissingRightError](err)
	return missing
}

// missingRight names a permission as a rule of a Role would. Without a namespace it is one in all of them, or on a
// cluster-scoped resource.
func missingRight(verb, resource, group, namespace string) error {
	text := strings.TrimSuffix(verb+" "+resource+"."+group, ".")
	if namespace == "" {
		return MissingRightError(text + " in the whole cluster")
	}
	return MissingRightError(text + " in namespace " + namespace)
}

// refusal matches what the API server's RBAC authorizer answers
// (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
var refusal = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// Explain replaces the API server's refusal with one that names the missing permission.
// An admission plugin also answers "forbidden", as for a quota; such an answer
// stays as it is, and so does every other error.
func Explain(err error) error {
	if err == nil || IsMissingRight(err) || !apierrors.IsForbidden(err) {
		return err
	}
	if parts := refusal.FindStringSubmatch(err.Error()); parts != nil {
		return missingRight(parts[1], parts[2], parts[3], parts[4])
	}
	return err
}

// Temporary reports whether the request may succeed if it is retried: the API
// server restarts, is busy, or the connection to it is interrupted.
func Temporary(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// Require returns a [MissingRightError] if the user lacks a permission such as "get pods/log" or "create jobs.batch" in the
// namespace. Every authenticated user may ask for that.
func Require(ctx context.Context, c client.Client, namespace, right string) error {
	verb, resource, _ := strings.Cut(right, " ")
	resource, group, _ := strings.Cut(resource, ".")
	name, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Resource: name, Subresource: subresource, Group: group, Namespace: namespace,
		},
	}}
	err := c.Create(ctx, review)
	switch {
	case err != nil:
		return fmt.Errorf("checking whether you may %s: %w", right, err)
	case !review.Status.Allowed:
		return missingRight(verb, resource, group, namespace)
	}
	return nil
}
