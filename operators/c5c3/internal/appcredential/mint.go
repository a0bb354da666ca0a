package appcredential

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// mint ensures the credential with the current secret. It returns an error until Keystone
// has it. The annotations come from that version of the object, "" if there is none: a
// request that was written since then stays, and the next pass acts on it.
func (m *manager) mint(ctx context.Context, version string, annotations map[string]string) error {
	credential := applicationCredential(m.CP, credentialName(m.CP, string(m.credential.Data[keyValue])), annotations)
	credential.ResourceVersion = version
	since := pass.FailingSince(m.Pass, c5c3v1alpha1.ConditionKORCReady)
	if err := apply.EnsureObject(ctx, m.ThirdParty, m.Scheme, m.CP, credential, pass.FieldManager); err != nil {
		return err
	}
	m.applicationCredential = credential
	state := korc.StateOf(credential)
	switch {
	case state.Failed && credential.Status.ID == nil:
		return m.mintAgain(ctx, credential, since)
	case !state.Available || credential.Status.ID == nil:
		return m.waitForMint(credential)
	}
	m.reportCredential(credential)
	return nil
}

// waitForMint returns what K-ORC is waiting for.
func (m *manager) waitForMint(credential *orcv1alpha1.ApplicationCredential) error {
	parts := []string{"Waiting for " + korc.Describe(credential)}
	if imports := m.waitingImports(); imports != "" {
		parts = append(parts, "it needs "+imports)
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForApplicationCredential, strings.Join(parts, "; "))
}

// mintAgain makes K-ORC retry after a terminal error, which it returns.
func (m *manager) mintAgain(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, since time.Time) error {
	wait := pass.RetryAfter(m.Pass, korc.StateOf(credential).Since, since)
	if wait == 0 {
		// If the credential was created after all, K-ORC finds it by its name.
		if err := korc.Remove(ctx, m.Pass, credential); err != nil {
			return err
		}
		wait = m.RetryPeriod
	}
	message := "K-ORC has given up: " + korc.Describe(credential)
	if imports := m.waitingImports(); imports != "" {
		message += "; it needs " + imports
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonApplicationCredentialFailed, message+"; "+korc.Remedy).After(wait)
}

// reportCredential records the credential in the status.
func (m *manager) reportCredential(credential *orcv1alpha1.ApplicationCredential) {
	status := &c5c3v1alpha1.AdminApplicationCredentialStatus{
		ID: *credential.Status.ID, Restricted: !ptr.Deref(credential.Spec.Resource.Unrestricted, false),
	}
	if credential.Status.Resource != nil {
		status.Restricted = !credential.Status.Resource.Unrestricted
	}
	if known := m.CP.Status.AdminApplicationCredential; known != nil && known.ID == status.ID && known.LastRotation != nil {
		status.LastRotation = known.LastRotation
	} else {
		status.LastRotation = ptr.To(metav1.NewTime(m.Now()).Rfc3339Copy())
	}
	m.CP.Status.AdminApplicationCredential = status
}

// Superseded returns the credentials that are waiting to be revoked.
func Superseded(ctx context.Context, s *pass.Pass) ([]*orcv1alpha1.ApplicationCredential, error) {
	var list orcv1alpha1.ApplicationCredentialList
	err := s.ThirdParty.List(ctx, &list, client.InNamespace(s.CP.Namespace), client.HasLabels{c5c3v1alpha1.LabelSuperseded})
	if err != nil {
		return nil, fmt.Errorf("listing superseded ApplicationCredentials: %w", err)
	}
	var ours []*orcv1alpha1.ApplicationCredential
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.CP) {
			ours = append(ours, &list.Items[i])
		}
	}
	return ours, nil
}

// overdue explains why a replaced credential stays valid for too long, "" if none does,
// and returns the requeue delay while one should be gone, zero otherwise.
func (m *manager) overdue(ctx context.Context) (stalled string, again time.Duration, err error) {
	superseded, err := Superseded(ctx, m.Pass)
	if err != nil {
		return "", 0, err
	}
	for _, old := range superseded {
		since, overdue := korc.OverdueSince(m.Pass, old)
		if !overdue {
			continue
		}
		again = m.soon()
		if m.Now().Sub(since) >= m.StallTimeout {
			return m.explainOverdue(old), again, nil
		}
	}
	return "", again, nil
}

// minted describes the credential that the administrator has.
func (m *manager) minted(ctx context.Context) (string, error) {
	message := "The administrator has the application credential " + *m.applicationCredential.Status.ID
	unscheduled, err := m.lacksSchedule(ctx)
	if unscheduled {
		message += "; the rotation mode is Scheduled, but nothing replaces the credential: create a CredentialRotation with intervalDays"
	}
	return message, err
}

// lacksSchedule reports whether the credential is to be replaced on a schedule and none
// exists.
func (m *manager) lacksSchedule(ctx context.Context) (bool, error) {
	if m.CP.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode != c5c3v1alpha1.RotationScheduled {
		return false, nil
	}
	var rotations c5c3v1alpha1.CredentialRotationList
	if err := m.Client.List(ctx, &rotations, client.InNamespace(m.CP.Namespace)); err != nil {
		return false, fmt.Errorf("listing the CredentialRotations of the namespace: %w", err)
	}
	return !slices.ContainsFunc(rotations.Items, func(r c5c3v1alpha1.CredentialRotation) bool {
		return r.DeletionTimestamp.IsZero() && r.Spec.HasSchedule()
	}), nil
}

func (m *manager) explainOverdue(old *orcv1alpha1.ApplicationCredential) string {
	if !old.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("K-ORC has not released a replaced credential: %s; repair K-ORC or its connection to Keystone", korc.Describe(old))
	}
	return fmt.Sprintf("The replaced credential is still valid: %s; repair the operator's connection to %s, "+
		"or the administrator's password in Secret %s", korc.Describe(old), controlplane.AuthURL(m.CP), m.CP.AdminSecretRef().Name)
}

// waitingImports describes the imports that are not available yet.
func (m *manager) waitingImports() string {
	var waiting []string
	for _, obj := range m.imports {
		if !korc.StateOf(obj).Available {
			waiting = append(waiting, korc.Describe(obj))
		}
	}
	return strings.Join(waiting, ", ")
}
