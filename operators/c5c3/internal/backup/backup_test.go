package backup

import (
	"crypto/sha1" //nolint:gosec // That is what Keystone does.
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func identity(t *testing.T) *age.X25519Identity {
	t.Helper()
	made, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func keys(t *testing.T, n int) keySet {
	t.Helper()
	made, err := fernet.Generate(n)
	if err != nil {
		t.Fatal(err)
	}
	return keySetOf(made)
}

func filled(t *testing.T, n int) bundle {
	t.Helper()
	return bundle{Namespace: "openstack", Name: "controlplane", Release: "2025.2", TokenKeys: keys(t, n), CredentialKeys: keys(t, n)}
}

func sealed(t *testing.T, b bundle, key string) string {
	t.Helper()
	who, err := readers([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.seal(who)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestOnlyTheIdentityOpensABundle(t *testing.T) {
	id, want := identity(t), filled(t, 3)
	for name, key := range map[string]string{
		"the identity": id.String(), "the recipient": id.Recipient().String(),
		"what age-keygen prints": "# created: today\n# public key: " + id.Recipient().String() + "\n" + id.String() + "\n",
	} {
		text := sealed(t, want, key)
		got, err := open(text, []age.Identity{id})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, err := open(text, []age.Identity{identity(t)}); !errors.Is(err, errSealed) {
			t.Errorf("%s: another identity gets %v", name, err)
		}
	}
}

func TestAPostQuantumIdentityOpensABundle(t *testing.T) {
	id, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(sealed(t, filled(t, 3), id.String()), []age.Identity{id}); err != nil {
		t.Error(err)
	}
}

func TestTheLargestBundleCanBeRead(t *testing.T) {
	id := identity(t)
	if _, err := open(sealed(t, filled(t, 100), id.String()), []age.Identity{id}); err != nil {
		t.Error(err)
	}
}

func TestAnInvalidEncryptionKeyIsRefusedWithoutItsContent(t *testing.T) {
	for _, key := range []string{"", "secret", "AGE-SECRET-KEY-1SECRET", "# only a comment\n"} {
		if _, err := readers([]byte(key)); err == nil || strings.Contains(strings.ToLower(err.Error()), "secret\"") {
			t.Errorf("%q: got %v", key, err)
		}
	}
}

func TestTheDigestDependsOnTheKeysAndOnWhoReadsThem(t *testing.T) {
	of := func(b bundle, id *age.X25519Identity) string {
		t.Helper()
		digest, err := b.digest([]age.Recipient{id.Recipient()})
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	id, first := identity(t), filled(t, 3)
	if again := of(first, id); again != of(first, id) {
		t.Error("it differs between two passes")
	}
	if of(first, id) == of(filled(t, 3), id) {
		t.Error("other keys have the same digest")
	}
	if of(first, id) == of(first, identity(t)) {
		t.Error("another age key has the same digest")
	}
}

func TestCredentialsAreMarkedAsByKeystone(t *testing.T) {
	b := bundle{CredentialKeys: keySet{"0": "first\n", "1": "second"}}
	var want []string
	for _, key := range []string{"first", "second"} {
		sum := sha1.Sum([]byte(key)) //nolint:gosec // See the import.
		want = append(want, hex.EncodeToString(sum[:]))
	}
	if diff := cmp.Diff(want, b.keyHashes()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStatementsMatchTheirGoldenFile(t *testing.T) {
	golden.Compare(t, "storing.sql", storing("c2VhbGVk", "keystone", []string{"aa", "bb"}))
}

func withBackup(storage c5c3v1alpha1.BackupStorageSpec) *c5c3v1alpha1.ControlPlane {
	cp := fixture.Minimal()
	cp.Spec.Backup = &c5c3v1alpha1.BackupSpec{
		Schedule: "0 1 * * *", Storage: storage, EncryptionKeySecretRef: commonv1.SecretRefSpec{Name: "backup-key"},
	}
	return cp
}

func inBucket() c5c3v1alpha1.BackupStorageSpec {
	return c5c3v1alpha1.BackupStorageSpec{S3: &c5c3v1alpha1.BackupS3Spec{
		Bucket: "backups", Endpoint: "s3.example.com", Region: "eu", Prefix: "forge", CredentialsSecretName: "backup-s3",
		CABundleSecretRef: &commonv1.SecretRefSpec{Name: "s3-ca"},
	}}
}

func inVolume() c5c3v1alpha1.BackupStorageSpec {
	return c5c3v1alpha1.BackupStorageSpec{PersistentVolumeClaim: &c5c3v1alpha1.BackupClaimSpec{ClaimName: "backups"}}
}

func maria() *infraapi.MariaDB {
	m := &infraapi.MariaDB{ObjectMeta: metav1.ObjectMeta{Name: "openstack-db"}}
	m.Spec.Image, m.Spec.RootPasswordSecretKeyRef = "mariadb:11.8", &infraapi.SecretKey{Name: "openstack-db-root", Key: "password"}
	return m
}

func TestObjectsMatchTheirGoldenFiles(t *testing.T) {
	databases := []string{"keystone", "placement"}
	golden.CompareYAML(t, "s3/backup.yaml", schedule(cluster.Settings{Name: "east"}, withBackup(inBucket()), databases))
	claim := withBackup(inVolume())
	claim.Spec.Backup.Suspend, claim.Spec.Backup.Retention = true, &metav1.Duration{Duration: 48 * time.Hour}
	golden.CompareYAML(t, "claim/backup.yaml", schedule(cluster.Settings{}, claim, databases))
	access, ok := serverOf(maria())
	if !ok {
		t.Fatal("the MariaDB has everything")
	}
	golden.CompareYAML(t, "job.yaml", runStatements(claim, access, claim.BackupKeysName(), "key"))
}

func TestAnInsecureStoreIsReachedWithoutTLS(t *testing.T) {
	spec := inBucket()
	spec.S3.Insecure = true
	if tls := storage(cluster.Settings{}, withBackup(spec)).S3.TLS; tls.Enabled || tls.CASecretKeyRef != nil {
		t.Errorf("got %+v", tls)
	}
}

func TestStatementsRunOnTheServerThatAcceptsWrites(t *testing.T) {
	m := maria()
	m.Spec.Galera = &infraapi.Galera{Enabled: true}
	if access, _ := serverOf(m); access.host != "openstack-db-primary" {
		t.Errorf("got %s", access.host)
	}
	m.Spec.Image = ""
	if _, ok := serverOf(m); ok {
		t.Error("it has no image yet")
	}
}

func TestOnlyWhatMariadbOperatorDoesNotChangeReplacesABackup(t *testing.T) {
	live := schedule(cluster.Settings{}, withBackup(inBucket()), []string{"keystone"}).Spec
	for name, c := range map[string]struct {
		change func(*infraapi.BackupSpec)
		want   bool
	}{
		"nothing":         {func(*infraapi.BackupSpec) {}, false},
		"the schedule":    {func(s *infraapi.BackupSpec) { s.Schedule.Cron = "0 2 * * *" }, false},
		"the databases":   {func(s *infraapi.BackupSpec) { s.Databases = append(s.Databases, "placement") }, false},
		"the retention":   {func(s *infraapi.BackupSpec) { s.MaxRetention.Duration = time.Hour }, true},
		"the bucket":      {func(s *infraapi.BackupSpec) { s.Storage.S3.Bucket = "others" }, true},
		"another storage": {func(s *infraapi.BackupSpec) { s.Storage = infraapi.DumpStorage{Volume: &infraapi.Volume{}} }, true},
	} {
		desired := schedule(cluster.Settings{}, withBackup(inBucket()), []string{"keystone"}).Spec
		c.change(&desired)
		if got := replaces(live, desired); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestABundleThatIsNeitherSealedNorReadableIsRefused(t *testing.T) {
	id := identity(t)
	for _, text := range []string{"", "no base64!", "bm90IHNlYWxlZA=="} {
		if opened, err := open(text, []age.Identity{id}); err == nil {
			t.Errorf("%q: got %v", text, fmt.Sprint(opened.Name))
		}
	}
}
