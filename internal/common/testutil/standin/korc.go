package standin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"
)

const (
	korcGroup = "openstack.k-orc.cloud"
	// credentialKind is the kind with a secret.
	credentialKind = "ApplicationCredential"
)

// KORC simulates K-ORC for its kinds of the Identity service, with an in-memory
// Keystone for each namespace: it adopts existing resources by name, does not
// revisit what it has completed, and needs working credentials for
// everything it does, including deletions and imports.
type KORC struct {
	scripts map[string]*script

	mu        sync.Mutex
	resources map[string]map[resourceKey]*resource
	// made counts what was created for objects, by kind and namespace.
	made map[resourceKey]int
	// blind are the namespaces whose lists of application credentials look empty.
	blind map[string]bool
	// assigned are the roles that users have, by namespace.
	assigned map[string]map[Assignment]bool
}

type resourceKey struct{ kind, name string }

type resource struct {
	id, secret   string
	unrestricted bool
	// region is the region of an endpoint.
	region string
	// user is the id of the user of an application credential, which goes with that.
	user string
}

// NewKORC returns a stand-in for [Run].
func NewKORC() *KORC {
	k := &KORC{
		scripts: map[string]*script{}, resources: map[string]map[resourceKey]*resource{},
		made: map[resourceKey]int{}, blind: map[string]bool{}, assigned: map[string]map[Assignment]bool{},
	}
	for _, kind := range []string{credentialKind, "Domain", "User", "Service", "Endpoint", "Project", "Role"} {
		k.scripts[kind] = newScript()
	}
	return k
}

// Set sets the outcome for an object. [Fail] is an error that K-ORC considers
// permanent; it lasts until the spec changes or the object is recreated.
func (k *KORC) Set(kind, namespace, name string, o Outcome) { k.scripts[kind].set(namespace, name, o) }

// Names returns the names of the resources of a kind in a namespace's Keystone,
// except those that every Keystone has, with their ids.
func (k *KORC) Names(namespace, kind string) map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	names := map[string]string{}
	for key, r := range k.resources[namespace] {
		if key.kind == kind {
			names[key.name] = r.id
		}
	}
	return names
}

// Made returns how many resources of a kind were created in a namespace's Keystone
// for objects, including those that no longer exist.
func (k *KORC) Made(namespace, kind string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made[resourceKey{kind, namespace}]
}

// Add adds a resource to a namespace's Keystone that K-ORC has not created.
func (k *KORC) Add(namespace, kind, name string) (id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keystone(namespace).add(kind, name).id
}

// Lose removes a resource from a namespace's Keystone.
func (k *KORC) Lose(namespace, id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(namespace, id)
}

// Blind makes the application credentials of a namespace's Keystone look gone, as
// K-ORC sees them when its password is wrong: it adopts none, and deletes
// objects without a revocation. It does not look again by itself when they are
// visible again.
func (k *KORC) Blind(namespace string, blind bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.blind[namespace] = blind
}

// Accepts reports whether the namespace's Keystone accepts an application
// credential.
func (k *KORC) Accepts(namespace, id, secret string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.keystone(namespace).byID(id)
	return found != nil && found.secret == secret
}

// errNoSecretValue is an error for which K-ORC waits until the Secret changes.
var errNoSecretValue = errors.New(`application credential secret does not contain "value" key`)

type keystone map[resourceKey]*resource

// keystone requires the lock.
func (k *KORC) keystone(namespace string) keystone {
	if k.resources[namespace] == nil {
		k.resources[namespace] = keystone{}
		k.keystone(namespace).add("Domain", "Default")
		k.keystone(namespace).add("User", "admin")
	}
	return k.resources[namespace]
}

func (k keystone) add(kind, name string) *resource {
	added := &resource{id: strings.ReplaceAll(string(uuid.NewUUID()), "-", "")}
	k[resourceKey{kind, name}] = added
	return added
}

func (k keystone) byID(id string) *resource {
	for _, r := range k {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (k keystone) remove(id string) {
	for key, r := range k {
		if r.id == id || r.user == id && id != "" {
			delete(k, key)
		}
	}
}

func (k *KORC) setup(mgr manager.Manager) error {
	var errs []error
	for kind, script := range k.scripts {
		empty := func() *unstructured.Unstructured { return korcObject(kind) }
		errs = append(errs, watch(mgr, "korc-"+strings.ToLower(kind), empty, script, k.act))
	}
	secret := func() *corev1.Secret { return &corev1.Secret{} }
	return errors.Join(append(errs, watch(mgr, "korc-secrets", secret, newScript(), k.guardSecret))...)
}

func korcObject(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: korcGroup, Version: "v1alpha1", Kind: kind})
	return u
}

func korcFinalizer(kind string) string { return korcGroup + "/" + strings.ToLower(kind) }

func text(obj *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(obj.Object, path...)
	return value
}

func (k *KORC) act(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	outcome := k.scripts[obj.GetKind()].outcome(obj)
	if outcome.kind == hang {
		return nil
	}
	if obj.GetDeletionTimestamp() != nil {
		return k.release(ctx, c, obj)
	}
	if progress := korcCondition(obj, "Progressing"); progress["status"] == "False" && progress["observedGeneration"] == obj.GetGeneration() {
		return nil
	}
	before := obj.DeepCopy()
	if controllerutil.AddFinalizer(obj, korcFinalizer(obj.GetKind())) {
		if err := c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	before = obj.DeepCopy()
	if outcome.kind == fail {
		return errors.Join(korcStatus(obj, "False", "InvalidConfiguration", outcome.message), patchStatus(ctx, c, obj, before))
	}
	reason, err := "TransientError", k.authenticate(ctx, c, obj)
	if err == nil {
		reason, err = k.bind(ctx, c, obj)
	}
	if err != nil {
		if reason == "UnrecoverableError" {
			return errors.Join(korcStatus(obj, "False", reason, err.Error()), patchStatus(ctx, c, obj, before))
		}
		written := errors.Join(korcStatus(obj, "True", reason, err.Error()), patchStatus(ctx, c, obj, before))
		if errors.Is(err, errNoSecretValue) {
			return written
		}
		return errors.Join(written, err)
	}
	return errors.Join(korcStatus(obj, "False", "Success", "OpenStack resource is available"), patchStatus(ctx, c, obj, before))
}

// authenticate reads the clouds.yaml of an object and sets K-ORC's finalizer on
// its Secret.
func (k *KORC) authenticate(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: text(obj, "spec", "cloudCredentialsRef", "secretName")}
	if err := c.Get(ctx, key, secret); err != nil {
		return err
	}
	before := secret.DeepCopy()
	if controllerutil.AddFinalizer(secret, korcFinalizer(obj.GetKind())) {
		if err := c.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
	}
	var parsed struct {
		Clouds map[string]struct {
			Auth map[string]string `json:"auth"`
		} `json:"clouds"`
	}
	if err := yaml.Unmarshal(secret.Data["clouds.yaml"], &parsed); err != nil {
		return err
	}
	cloud, found := parsed.Clouds[text(obj, "spec", "cloudCredentialsRef", "cloudName")]
	if !found {
		return fmt.Errorf("no such cloud in Secret %s", secret.Name)
	}
	id, value := cloud.Auth["application_credential_id"], cloud.Auth["application_credential_secret"]
	if id != "" && !k.Accepts(obj.GetNamespace(), id, value) {
		return errors.New("the request you have made requires authentication")
	}
	return nil
}

// bind assigns the object its resource in Keystone, and reports how severe it is if
// there is none.
func (k *KORC) bind(ctx context.Context, c client.Client, obj *unstructured.Unstructured) (reason string, err error) {
	secret, user, err := k.secretOf(ctx, c, obj)
	if err != nil {
		return "Progressing", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	here, id := k.keystone(obj.GetNamespace()), text(obj, "status", "id")
	if id != "" {
		if here.byID(id) == nil {
			return "UnrecoverableError", errors.New("resource has been deleted from OpenStack")
		}
		return "", nil
	}
	key := resourceKey{obj.GetKind(), resourceName(obj)}
	found := here[key]
	if key.kind == credentialKind && k.blind[obj.GetNamespace()] {
		found = nil
	}
	switch {
	case found == nil && text(obj, "spec", "managementPolicy") == "unmanaged":
		return "Progressing", errors.New("waiting for OpenStack resource to be created externally")
	case found == nil && obj.GetKind() == credentialKind && secret == "":
		return "Progressing", errNoSecretValue
	case found == nil:
		found = here.add(key.kind, key.name)
		k.made[resourceKey{key.kind, obj.GetNamespace()}]++
		found.secret, found.user = secret, user
		found.unrestricted, _, _ = unstructured.NestedBool(obj.Object, "spec", "resource", "unrestricted")
	}
	if key.kind == credentialKind {
		if err := unstructured.SetNestedField(obj.Object, found.unrestricted, "status", "resource", "unrestricted"); err != nil {
			return "", err
		}
	}
	return "", unstructured.SetNestedField(obj.Object, found.id, "status", "id")
}

// secretOf returns the secret that the object's resource gets, "" if it has none, and the id of
// the user of an application credential.
func (k *KORC) secretOf(ctx context.Context, c client.Client, obj *unstructured.Unstructured) (value, user string, err error) {
	switch ref := text(obj, "spec", "resource", "passwordRef"); {
	case obj.GetKind() == credentialKind:
		return k.credentialSecret(ctx, c, obj)
	case ref != "":
		secret := &corev1.Secret{}
		err := c.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref}, secret)
		return string(secret.Data["password"]), "", err
	}
	return "", "", nil
}

// credentialSecret waits for the user of an application credential, and returns
// the secret that the credential gets, and the id of the user.
func (k *KORC) credentialSecret(ctx context.Context, c client.Client, obj *unstructured.Unstructured) (value, id string, err error) {
	user := korcObject("User")
	key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: text(obj, "spec", "resource", "userRef")}
	if err := c.Get(ctx, key, user); err != nil {
		return "", "", err
	}
	if korcCondition(user, "Available")["status"] != "True" {
		return "", "", errors.New("waiting for User/" + key.Name + " to be ready")
	}
	secret := &corev1.Secret{}
	key.Name = text(obj, "spec", "resource", "secretRef")
	err = c.Get(ctx, key, secret)
	return string(secret.Data["value"]), text(user, "status", "id"), client.IgnoreNotFound(err)
}

func resourceName(obj *unstructured.Unstructured) string {
	if obj.GetKind() == "Endpoint" {
		return text(obj, "spec", "resource", "interface") + " " + text(obj, "spec", "resource", "url")
	}
	for _, path := range [][]string{{"spec", "resource", "name"}, {"spec", "import", "filter", "name"}} {
		if name := text(obj, path...); name != "" {
			return name
		}
	}
	return obj.GetName()
}

func (k *KORC) release(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	if !controllerutil.ContainsFinalizer(obj, korcFinalizer(obj.GetKind())) {
		return nil
	}
	before := obj.DeepCopy()
	if len(obj.GetFinalizers()) > 1 {
		waits := "Waiting for the finalizers of others: " + strings.Join(obj.GetFinalizers(), ", ")
		return errors.Join(korcStatus(obj, "True", "Progressing", waits), patchStatus(ctx, c, obj, before))
	}
	if err := k.authenticate(ctx, c, obj); err != nil {
		return errors.Join(korcStatus(obj, "True", "TransientError", err.Error()), patchStatus(ctx, c, obj, before), err)
	}
	if text(obj, "spec", "managementPolicy") != "unmanaged" && text(obj, "spec", "managedOptions", "onDelete") != "detach" {
		k.mu.Lock()
		here, id := k.keystone(obj.GetNamespace()), text(obj, "status", "id")
		if found := here[resourceKey{obj.GetKind(), resourceName(obj)}]; id == "" && found != nil {
			id = found.id
		}
		if obj.GetKind() != credentialKind || !k.blind[obj.GetNamespace()] {
			k.remove(obj.GetNamespace(), id)
		}
		k.mu.Unlock()
	}
	controllerutil.RemoveFinalizer(obj, korcFinalizer(obj.GetKind()))
	return client.IgnoreNotFound(c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// guardSecret removes the finalizer of a Secret that no object uses any more.
func (k *KORC) guardSecret(ctx context.Context, c client.Client, secret *corev1.Secret) error {
	if secret.DeletionTimestamp == nil {
		return nil
	}
	before := secret.DeepCopy()
	for kind := range k.scripts {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(korcObject(kind).GroupVersionKind().GroupVersion().WithKind(kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(secret.Namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			if text(&list.Items[i], "spec", "cloudCredentialsRef", "secretName") == secret.Name {
				return fmt.Errorf("%s %s uses the Secret", kind, list.Items[i].GetName())
			}
		}
		controllerutil.RemoveFinalizer(secret, korcFinalizer(kind))
	}
	if len(secret.Finalizers) == len(before.Finalizers) {
		return nil
	}
	return client.IgnoreNotFound(c.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
