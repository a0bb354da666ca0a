package v1alpha1

import (
	"strconv"
	"time"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/schedule"
)

// AnnotationApplyHeldRotation on a Keystone applies a held rotation of the token keys
// at once. Its value is the one that the condition and the event name, so that it
// applies to that rotation only.
const AnnotationApplyHeldRotation = "keystone.openstack.c5c3.io/apply-held-rotation"

// Keystone's own defaults of [token] expiration and allow_expired_window, see
// https://docs.openstack.org/keystone/latest/configuration/config-options.html.
const (
	defaultTokenExpiration    = time.Hour
	defaultAllowExpiredWindow = 48 * time.Hour
)

// MaxActiveKeys is the highest number of keys, and so the highest that a warning asks for:
// each of them is in the memory of every pod and has an entry in an annotation, and each
// token is tried with each of them. More frequent rotations than these allow are no safer.
const MaxActiveKeys int32 = 100

// TokenLifetime returns the time for which Keystone accepts a token after it
// issued it, including the window in which services may still use an expired
// one. It follows extraConfig and globalExtraConfig; ok is false when an option there is
// not a number of seconds.
func (s *KeystoneSpec) TokenLifetime() (lifetime time.Duration, ok bool) {
	return TokenLifetime(ini.File{}.Merge(s.GlobalExtraConfig, s.ExtraConfig))
}

// TokenLifetime is KeystoneSpec.TokenLifetime for the options of a rendered
// keystone.conf.
func TokenLifetime(options map[string]map[string]string) (lifetime time.Duration, ok bool) {
	expiration, okExpiration := tokenSeconds(options, "expiration", defaultTokenExpiration)
	window, okWindow := tokenSeconds(options, "allow_expired_window", defaultAllowExpiredWindow)
	return expiration + window, okExpiration && okWindow
}

// maxSeconds is about 68 years, so that a sum of two stays a valid duration.
const maxSeconds = 1<<31 - 1

func tokenSeconds(options map[string]map[string]string, option string, def time.Duration) (time.Duration, bool) {
	text, set := options["token"][option]
	if !set {
		return def, true
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// RequiredFernetKeys returns the lowest maxActiveKeys with which the rotation
// schedule never retires a key under which a valid token may have been issued:
// the rotations in a token's lifetime, rounded up, plus the primary and the
// staged key. The formula is from Keystone's FAQ on Fernet tokens,
// https://docs.openstack.org/keystone/latest/admin/fernet-token-faq.html. The
// error is the one of schedule.MinInterval.
func RequiredFernetKeys(rotationSchedule string, lifetime time.Duration) (int64, error) {
	period, err := schedule.MinInterval(rotationSchedule)
	if err != nil {
		return 0, err
	}
	return int64(fernet.RequiredActiveKeys(lifetime, 0, period)), nil
}
