package standin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esv1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// pushSecretFinalizer is the finalizer of the real controller.
const pushSecretFinalizer = "pushsecret.externalsecrets.io/finalizer"

// ExternalSecrets plays External Secrets with a key-value store in memory:
// stores become ready, ExternalSecrets fill their Secret from the store, and
// PushSecrets write to it, all in the same store.
type ExternalSecrets struct {
	kinds map[string]*conditioned
	// live reads Secrets past the cache, as the real controller does: a push that
	// followed a change too closely would store what was there before.
	live client.Reader

	mu    sync.Mutex
	store map[string]map[string]string
}

// NewExternalSecrets returns a stand-in for [Run].
func NewExternalSecrets() *ExternalSecrets {
	e := &ExternalSecrets{store: map[string]map[string]string{}}
	e.kinds = map[string]*conditioned{
		esv1.ClusterSecretStoreKind: {
			kind: esv1.SchemeGroupVersion.WithKind(esv1.ClusterSecretStoreKind), reason: "Valid",
		},
		esv1.ExtSecretKind: {
			kind: esv1.SchemeGroupVersion.WithKind(esv1.ExtSecretKind), reason: "SecretSynced",
			work: e.pull,
		},
		esv1alpha1.PushSecretKind: {
			kind: esv1alpha1.SchemeGroupVersion.WithKind(esv1alpha1.PushSecretKind), reason: esv1alpha1.ReasonSynced,
			finalizer: pushSecretFinalizer, work: e.push, undo: e.unpush, stamp: stampPush,
		},
	}
	for _, kind := range e.kinds {
		kind.script = newScript()
	}
	return e
}

// Set sets the outcome for a ClusterSecretStore, which has no namespace, an
// ExternalSecret or a PushSecret. [Hang] prevents a new PushSecret from being
// adopted, and keeps the finalizer of an adopted one.
func (e *ExternalSecrets) Set(kind, namespace, name string, o Outcome) {
	e.kinds[kind].script.set(namespace, name, o)
}

// Put writes properties to a path of the store.
func (e *ExternalSecrets) Put(path string, properties map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.store[path] = maps.Clone(properties)
}

// Lose deletes a path from the store.
func (e *ExternalSecrets) Lose(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.store, path)
}

// Stored returns the properties at a path of the store, nil if it is empty.
func (e *ExternalSecrets) Stored(path string) map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.store[path])
}

func (e *ExternalSecrets) setup(mgr manager.Manager) error {
	e.live = mgr.GetAPIReader()
	var errs []error
	for _, kind := range e.kinds {
		errs = append(errs, kind.setup(mgr))
	}
	return errors.Join(errs...)
}

// pull writes the Secret of an ExternalSecret that names its properties one by one
// in spec.data, or a whole path in spec.dataFrom. As with the real controller, an
// empty path is no error if the Secret would then be deleted.
func (e *ExternalSecrets) pull(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	es := &esv1.ExternalSecret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, es); err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: es.Namespace, Name: es.Spec.Target.Name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(es, esv1.SchemeGroupVersion.WithKind(esv1.ExtSecretKind))},
	}, Data: map[string][]byte{}}
	if secret.Name == "" {
		secret.Name = es.Name
	}
	for _, entry := range es.Spec.Data {
		value, found := e.Stored(entry.RemoteRef.Key)[entry.RemoteRef.Property]
		if !found {
			return fmt.Errorf("no property %q at %q in the store", entry.RemoteRef.Property, entry.RemoteRef.Key)
		}
		secret.Data[entry.SecretKey] = []byte(value)
	}
	for _, from := range es.Spec.DataFrom {
		found := e.Stored(from.Extract.Key)
		switch {
		case found == nil && es.Spec.Target.DeletionPolicy == esv1.DeletionPolicyDelete:
			return client.IgnoreNotFound(c.Delete(ctx, secret))
		case found == nil:
			return fmt.Errorf("nothing at %q in the store", from.Extract.Key)
		}
		for name, value := range found {
			secret.Data[name] = []byte(value)
		}
	}
	return e.write(ctx, c, secret)
}

// write writes the Secret unless that would change nothing.
func (e *ExternalSecrets) write(ctx context.Context, c client.Client, secret *corev1.Secret) error {
	live := &corev1.Secret{}
	switch err := e.live.Get(ctx, client.ObjectKeyFromObject(secret), live); {
	case apierrors.IsNotFound(err):
		return c.Create(ctx, secret)
	case err != nil:
		return err
	}
	same := equality.Semantic.DeepEqual(live.OwnerReferences, secret.OwnerReferences)
	for name, value := range secret.Data {
		stored, has := live.Data[name]
		same = same && has && bytes.Equal(stored, value)
	}
	if same {
		return nil
	}
	return c.Patch(ctx, secret, client.Merge)
}

// push writes a Secret to the store like the real controller: as a whole, in JSON,
// if neither a key nor a property is given, and only if the PushSecret has changed.
func (e *ExternalSecrets) push(ctx context.Context, _ client.Client, obj *unstructured.Unstructured) error {
	ps, err := pushSecret(obj)
	if err != nil {
		return err
	}
	if ps.Status.SyncedResourceVersion == pushVersion(ps) {
		return nil
	}
	if ps.Spec.Selector.Secret == nil {
		return errors.New("spec.selector.secret is not set")
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: ps.Namespace, Name: ps.Spec.Selector.Secret.Name}
	if err := e.live.Get(ctx, key, secret); err != nil {
		return err
	}
	for _, entry := range ps.Spec.Data {
		properties := map[string]string{}
		for name, value := range secret.Data {
			properties[name] = string(value)
		}
		if ps.Spec.Template != nil {
			// Templates without actions are their own result.
			maps.Copy(properties, ps.Spec.Template.Data)
		}
		if name := entry.Match.SecretKey; name != "" {
			properties = map[string]string{entry.GetProperty(): properties[name]}
		}
		e.Put(entry.GetRemoteKey(), properties)
	}
	return nil
}

func (e *ExternalSecrets) unpush(_ context.Context, _ client.Client, obj *unstructured.Unstructured) error {
	ps, err := pushSecret(obj)
	if err != nil || ps.Spec.DeletionPolicy != esv1alpha1.PushSecretDeletionPolicyDelete {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, entry := range ps.Spec.Data {
		delete(e.store, entry.GetRemoteKey())
	}
	return nil
}

// stampPush records which state of a PushSecret was pushed and when.
func stampPush(obj *unstructured.Unstructured) error {
	ps, err := pushSecret(obj)
	if err != nil || ps.Status.SyncedResourceVersion == pushVersion(ps) {
		return err
	}
	status := map[string]string{
		"refreshTime": time.Now().UTC().Format(time.RFC3339), "syncedResourceVersion": pushVersion(ps),
	}
	for field, value := range status {
		err = errors.Join(err, unstructured.SetNestedField(obj.Object, value, "status", field))
	}
	return err
}

// pushVersion changes with the spec, the labels and the annotations.
func pushVersion(ps *esv1alpha1.PushSecret) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %v", ps.Labels, ps.Annotations))
	return fmt.Sprintf("%d-%x", ps.Generation, sum[:8])
}

func pushSecret(obj *unstructured.Unstructured) (*esv1alpha1.PushSecret, error) {
	// Converted through JSON, because the arbitrary JSON in metadata has no other
	// form.
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	ps := &esv1alpha1.PushSecret{}
	return ps, json.Unmarshal(data, ps)
}
