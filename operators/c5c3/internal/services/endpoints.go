package services

import (
	"context"
	"fmt"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// ambiguous is what K-ORC reports if several endpoints of a service have the same interface
// and URL. It does not know that they are those of different regions.
const ambiguous = "found more than one"

// ensureEntry ensures the K-ORC object of an entry. An endpoint that K-ORC cannot tell from
// that of another region is imported by its id.
func ensureEntry(ctx context.Context, s *pass.Pass, entry *catalogEntry) (time.Duration, error) {
	since := pass.FailingSince(s, c5c3v1alpha1.ConditionCatalogReady)
	desired, isEndpoint := entry.object.(*orcv1alpha1.Endpoint)
	if !isEndpoint {
		return korc.Ensure(ctx, s, entry.object, since)
	}
	live, err := apply.Find(ctx, s.ThirdParty, client.ObjectKeyFromObject(desired), &orcv1alpha1.Endpoint{})
	if err != nil {
		return 0, err
	}
	id := s.Proofs.ID(s.NamespacedName, desired.Name)
	if live != nil && metav1.IsControlledBy(live, s.CP) {
		imported := importedID(live)
		switch {
		case id != "" && imported != id:
			entry.object = live
			return s.RetryPeriod, korc.Orphan(ctx, s, live)
		case id != "" && korc.StateOf(live).Available:
			// If the object is deleted later, Keystone is asked again.
			s.Proofs.SetID(s.NamespacedName, desired.Name, "")
		}
		id = imported
	}
	if id != "" {
		desired.Spec = orcv1alpha1.EndpointSpec{
			CloudCredentialsRef: desired.Spec.CloudCredentialsRef, ManagementPolicy: orcv1alpha1.ManagementPolicyUnmanaged,
			Import: &orcv1alpha1.EndpointImport{ID: &id},
		}
	}
	return korc.Ensure(ctx, s, desired, since)
}

func importedID(endpoint *orcv1alpha1.Endpoint) string {
	if endpoint.Spec.Import == nil {
		return ""
	}
	return ptr.Deref(endpoint.Spec.Import.ID, "")
}

// endpointsOf returns the endpoints of the entries with the ids that Keystone gave them.
func endpointsOf(entries []catalogEntry) []identity.Endpoint {
	var all []identity.Endpoint
	for _, entry := range entries {
		if endpoint, ok := entry.object.(*orcv1alpha1.Endpoint); ok {
			wanted := entry.wanted
			wanted.ID, wanted.ServiceID = ptr.Deref(endpoint.Status.ID, ""), ptr.Deref(entry.service.Status.ID, "")
			all = append(all, wanted)
		}
	}
	return all
}

// findAmbiguous has Keystone asked for an endpoint that K-ORC cannot tell from others, and
// says so; it returns "" if K-ORC has failed for another reason.
func findAmbiguous(s *pass.Pass, entry catalogEntry) string {
	if entry.service == nil || !strings.Contains(korc.StateOf(entry.object).Message, ambiguous) {
		return ""
	}
	return ", " + find(s, entry)
}

// findElsewhere has Keystone asked for the endpoint in place of one that is in another
// region, and says so.
func findElsewhere(s *pass.Pass, entries []catalogEntry, id string) string {
	for _, entry := range entries {
		endpoint, ok := entry.object.(*orcv1alpha1.Endpoint)
		if ok && ptr.Deref(endpoint.Status.ID, "") == id {
			return find(s, entry)
		}
	}
	return "it stays there"
}

// find has Keystone asked for the endpoint of the region in the background, which creates it
// if there is none, and says what is known.
func find(s *pass.Pass, entry catalogEntry) string {
	wanted, name := entry.wanted, entry.object.GetName()
	wanted.ServiceID = ptr.Deref(entry.service.Status.ID, "")
	region, at, admin := s.CP.Spec.Region, controlplane.AuthURL(s.CP), pass.AdminPassword.Value(s.Slots)
	look, proofs, of := s.FindEndpoint, s.Proofs, s.NamespacedName
	verdict, err := proofs.Settled(of, identity.Task{
		Subject: "endpoint " + name, Key: identity.Digest(name+" "+region, fmt.Sprint(wanted)), Password: admin, FirstWait: s.RetryPeriod,
		Do: func(ctx context.Context) (ask.Verdict, error) {
			id, verdict, err := look(ctx, at, admin, region, wanted)
			if verdict == ask.Accepted {
				proofs.SetID(of, name, id)
			}
			return verdict, err
		},
	})
	if verdict != ask.Accepted && err != nil {
		return fmt.Sprintf("the endpoint of region %s is being looked up: %v", region, err)
	}
	return "the endpoint of region " + region + " replaces it"
}
