package attachment

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/digest"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Accepted is a resource that the service takes into its configuration.
type Accepted[A Resource] struct {
	// Resource has its defaults.
	Resource A
	// Credentials is the Secret of the resource, nil if it needs none.
	Credentials *corev1.Secret
	// CABundle is the Secret with certificates, nil if it needs none.
	CABundle *corev1.Secret
	// Files are the files of the resource by name, and secret is the name of the Secret with them.
	Files  map[string]string
	secret string
	// isKept is true for what pods have of a resource that cannot be used as it is now.
	isKept bool
	// verifiedAt is when a Job last found that the configuration works, nil if that is not known.
	verifiedAt *metav1.Time
	// Configuration identifies the spec, the credentials and the files.
	Configuration string
}

// verdict says whether the service accepts a resource. The reason is "" if it does.
type verdict[A Resource] struct {
	Accepted[A]
	reason, message string
	// isComplete is true if nothing but the verification is missing.
	isComplete bool
}

// verdicts judges all resources that name the service of the pass. They are in the order of
// their names.
func (d Declaration[A]) verdicts(ctx context.Context, p *service.Pass, entries []commonv1.Attached) ([]verdict[A], error) {
	all, err := apply.List[A](ctx, p.Client, apply.Copy(d.List),
		client.InNamespace(p.Resource.GetNamespace()), client.MatchingFields{d.Field: p.Resource.GetName()})
	if err != nil {
		return nil, fmt.Errorf("listing what belongs to %s %s: %w", p.Kind, p.Resource.GetName(), err)
	}
	slices.SortFunc(all, func(a, b A) int { return precedence(entries, a, b) })
	holders := map[string]string{}
	judged := make([]verdict[A], 0, len(all))
	for _, resource := range all {
		v, err := d.judge(ctx, p, apply.Copy(resource), of(entries, resource), holders)
		if err != nil {
			return nil, err
		}
		judged = append(judged, v)
	}
	slices.SortFunc(judged, func(a, b verdict[A]) int { return cmp.Compare(a.Resource.GetName(), b.Resource.GetName()) })
	return judged, nil
}

// precedence orders resources by which of two duplicates is used: the one that pods may have
// already, and then the older one.
func precedence[A Resource](entries []commonv1.Attached, a, b A) int {
	used := func(resource A) int {
		if of(entries, resource) != nil {
			return 0
		}
		return 1
	}
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(cmp.Compare(used(a), used(b)), first.Compare(second.Time), cmp.Compare(a.GetName(), b.GetName()))
}

// judge returns the verdict on a resource with its entry, which may be nil. holders are the names of
// the preceding resources by their identity.
func (d Declaration[A]) judge(
	ctx context.Context, p *service.Pass, resource A, entry *commonv1.Attached, holders map[string]string,
) (verdict[A], error) {
	v := verdict[A]{Accepted: Accepted[A]{Resource: resource}}
	if err := d.Guard(resource); err != nil {
		v.reason, v.message = vocabulary.ReasonInvalidSpec, err.Error()
		return v, nil
	}
	identity := d.Identity(resource)
	if holder, taken := holders[identity]; taken && identity != "" {
		v.reason = vocabulary.ReasonDuplicate
		v.message = fmt.Sprintf("%s is that of %s already, which stays in use; change or delete one of them", identity, holder)
		return v, nil
	}
	holders[identity] = resource.GetName()
	if d.Conflict != nil {
		if conflict := d.Conflict(p.Resource, resource); conflict != "" {
			v.reason, v.message = vocabulary.ReasonConflictingOptions, conflict
			return v, nil
		}
	}
	missing, err := d.lookUp(ctx, p, &v.Accepted)
	if missing != "" || err != nil {
		v.reason, v.message = vocabulary.ReasonWaitingForCredentials, missing
		return v, err
	}
	if v.Configuration, err = d.configuration(v.Accepted); err != nil {
		return v, err
	}
	v.secret, v.isComplete = d.secretName(p, resource, v.Configuration), true
	if known := verificationOf(entry, v.Configuration); known != nil {
		v.verifiedAt = known.VerifiedAt
	}
	if !d.isVerified(entry, v.Configuration) {
		v.reason, v.message = d.unverified(p, resource, entry, v.Configuration)
	}
	return v, nil
}

// lookUp reads the Secrets of the resource, and renders its files with them. It returns what is
// missing or cannot be used, "" for nothing.
func (d Declaration[A]) lookUp(ctx context.Context, p *service.Pass, a *Accepted[A]) (missing string, err error) {
	for _, wanted := range []struct {
		of   func(A) *service.Requirement
		into **corev1.Secret
	}{{d.Credentials, &a.Credentials}, {d.CABundle, &a.CABundle}} {
		if wanted.of == nil {
			continue
		}
		required := wanted.of(a.Resource)
		if required == nil {
			continue
		}
		secret, missing, err := service.LookUp(ctx, p, *required)
		if missing != "" || err != nil {
			return missing, err
		}
		*wanted.into = secret
	}
	if d.Files == nil {
		return "", nil
	}
	if a.Files, err = d.Files.Render(*a); err != nil {
		return err.Error(), nil //nolint:nilerr // It is the message.
	}
	return "", nil
}

// configuration identifies the spec and the credentials of a resource.
func (d Declaration[A]) configuration(a Accepted[A]) (string, error) {
	spec, err := json.Marshal(d.Spec(a.Resource))
	if err != nil {
		return "", fmt.Errorf("the spec of %s: %w", a.Resource.GetName(), err)
	}
	text := string(a.Resource.GetUID()) + string(spec)
	if a.Credentials != nil {
		text += secrets.ContentHash(a.Credentials)
	}
	if a.Files != nil {
		text += config.ContentHash(a.Files)
	}
	sum := digest.Of([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}
