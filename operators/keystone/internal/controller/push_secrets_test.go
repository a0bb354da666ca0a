package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// rotating is a Keystone with a rotation of the administrator's password.
func rotating() *keystonev1alpha1.Keystone {
	k := minimal()
	k.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	keystonev1alpha1.SetDefaults(k)
	return k
}

func sourceSecret(name string, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "source"}, Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

func TestPushSecretsMatchTheirGoldenFiles(t *testing.T) {
	k := rotating()
	keys := map[string]string{"0": "hunter2-zero", "1": "hunter2-one"}
	for _, backup := range keyBackups {
		push := backup.push(cluster.Settings{}, k, sourceSecret(backup.source(k), keys))
		golden.CompareYAML(t, "rotation/pushsecret-"+backup.entry+".yaml", push)
	}
	password := passwordPush(cluster.Settings{}, k, sourceSecret(nextPasswordName(k), map[string]string{"password": "hunter2-next"}))
	golden.CompareYAML(t, "rotation/pushsecret-admin-password.yaml", password)
	cronJob := passwordRotator(k).cronJob(k, "keystone-admin-password-rotate-script-01234567")
	golden.CompareYAML(t, "rotation/cronjob-admin-password.yaml", cronJob)
}

func TestPushSecretsCarryNoSecret(t *testing.T) {
	k := rotating()
	shown := fmt.Sprint(
		passwordPush(cluster.Settings{}, k, sourceSecret(nextPasswordName(k), map[string]string{"password": "hunter2-next"})),
		keyBackups[0].push(cluster.Settings{}, k, sourceSecret(fernetKeysName(k), map[string]string{"0": "hunter2-zero"})))
	if strings.Contains(shown, "hunter2") {
		t.Error("a PushSecret quotes what it pushes")
	}
}

func TestEveryCopyOfAKeystoneIsBelowTheNameOfItsCluster(t *testing.T) {
	east, k, source := cluster.Settings{Name: "east"}, rotating(), sourceSecret("source", nil)
	got := []string{passwordPush(east, k, source).Spec.Data[0].Match.RemoteRef.RemoteKey}
	for _, backup := range keyBackups {
		push, request := backup.push(east, k, source), backup.request(east, k)
		got = append(got, push.Spec.Data[0].Match.RemoteRef.RemoteKey, request.Spec.DataFrom[0].Extract.Key)
	}
	want := []string{
		"east/bootstrap/openstack/keystone/admin",
		"east/openstack/keystone/openstack/keystone/fernet-keys", "east/openstack/keystone/openstack/keystone/fernet-keys",
		"east/openstack/keystone/openstack/keystone/credential-keys", "east/openstack/keystone/openstack/keystone/credential-keys",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths in the store (-want +got):\n%s", diff)
	}
	message := backupReport{}.outcome(keysPath(east, k)).Message()
	if !strings.Contains(message, " east/openstack/keystone/openstack/keystone in ") {
		t.Errorf("the condition says %q", message)
	}
}
