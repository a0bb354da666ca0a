package attachment

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
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
	// Configuration identifies the spec and the credentials.
	Configuration string
}

// verdict says whether the service accepts a resource. The reason is "" if it does.
type verdict[A Resource] struct {
	Accepted[A]
	reason, message string
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
		v, err := d.judge(ctx, p, apply.Copy(resource), holders)
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

// judge returns the verdict on a resource. holders are the names of the preceding resources by
// their identity.
func (d Declaration[A]) judge(ctx context.Context, p *service.Pass, resource A, holders map[string]string) (verdict[A], error) {
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
	if d.Credentials != nil {
		if required := d.Credentials(resource); required != nil {
			secret, missing, err := service.LookUp(ctx, p, *required)
			if missing != "" || err != nil {
				v.reason, v.message = vocabulary.ReasonWaitingForCredentials, missing
				return v, err
			}
			v.Credentials = secret
		}
	}
	var err error
	v.Configuration, err = d.configuration(v.Accepted)
	return v, err
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
	sum := digest.Of([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}
