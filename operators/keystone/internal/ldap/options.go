// Package ldap renders the configuration of a domain whose users are in a directory.
package ldap

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/ini"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Keys of the account that reads the directory in its Secret.
const (
	UserKey     = "username"
	PasswordKey = "password"
)

// Options returns the file with the options of the domain, for a spec with its defaults. caFile is
// the path of the certificates in the pods. The error names what of the Secret cannot be used, and
// no value.
func Options(spec *keystonev1alpha1.LDAPSpec, account *corev1.Secret, caFile string) (ini.File, error) {
	options := options{}
	for key, option := range map[string]string{UserKey: "user", PasswordKey: "password"} {
		value := string(account.Data[key])
		if err := ini.ValidateValue(value); err != nil {
			return nil, fmt.Errorf("%s of Secret %s of spec.ldap.bindCredentialsSecretRef cannot be used: %w", key, account.Name, err)
		}
		options.text(option, value)
	}
	options.text("url", strings.Join(spec.URLs, ","))
	options.text("query_scope", string(spec.Scope))
	options.number("page_size", spec.PageSize)
	options.number("connection_timeout", spec.TimeoutSeconds)
	options.flag("chase_referrals", spec.ChaseReferrals)
	options.tls(spec.TLS, caFile)
	options.pool(spec.Pool)
	options.users(&spec.Users, spec.Groups != nil)
	options.groups(spec.Groups, spec.Users.Tree)
	return ini.File{"identity": {"driver": "ldap"}, "ldap": options}, nil
}

// options are those of the section.
type options map[string]string

// text sets a text as it is: oslo.config replaces names behind a dollar sign, and removes a pair
// of quotes around the whole.
func (o options) text(option, value string) {
	escaped := strings.ReplaceAll(value, "$", "$$")
	if n := len(value); n > 1 && value[0] == value[n-1] && strings.Contains(`"'`, value[:1]) {
		escaped = `"` + escaped + `"`
	}
	o[option] = escaped
}

// given sets a text unless it is empty.
func (o options) given(option, value string) {
	if value != "" {
		o.text(option, value)
	}
}

func (o options) number(option string, value int32) { o[option] = strconv.Itoa(int(value)) }

func (o options) flag(option string, value bool) { o[option] = strconv.FormatBool(value) }

func (o options) tls(tls *keystonev1alpha1.LDAPTLSSpec, caFile string) {
	if tls == nil {
		return
	}
	o.flag("use_tls", tls.StartTLS)
	o.text("tls_cacertfile", caFile)
	o["tls_req_cert"] = "demand"
}

func (o options) pool(pool *keystonev1alpha1.LDAPPoolSpec) {
	o.flag("use_pool", true)
	o.flag("use_auth_pool", true)
	o.number("pool_size", pool.Size)
	o.number("auth_pool_size", pool.LoginSize)
	o.number("pool_connection_lifetime", pool.LifetimeSeconds)
	o.number("auth_pool_connection_lifetime", pool.LifetimeSeconds)
}

// users sets the options of users. Members of the group of those who may log in are found as those
// of other groups are, if there are any.
func (o options) users(users *keystonev1alpha1.LDAPUsersSpec, groups bool) {
	o.text("user_tree_dn", users.Tree)
	o.given("user_filter", users.Filter)
	o.text("user_objectclass", users.ObjectClass)
	o.text("user_id_attribute", users.IDAttribute)
	o.text("user_name_attribute", users.NameAttribute)
	o.text("user_mail_attribute", users.MailAttribute)
	o.text("user_description_attribute", users.DescriptionAttribute)
	enabled := users.Enabled
	switch {
	case enabled == nil:
	case enabled.Group != "":
		o.flag("user_enabled_emulation", true)
		o.text("user_enabled_emulation_dn", enabled.Group)
		o.flag("user_enabled_emulation_use_group_config", groups)
	default:
		o.text("user_enabled_attribute", enabled.Attribute)
		o.number("user_enabled_mask", enabled.Mask)
		o.flag("user_enabled_invert", enabled.Invert)
		o["user_enabled_default"] = enabledDefault(enabled)
	}
}

// enabledDefault is the value of a user without the attribute, who may log in.
func enabledDefault(enabled *keystonev1alpha1.LDAPEnabledSpec) string {
	switch {
	case enabled.Mask != 0:
		return "0"
	case enabled.Invert:
		return "False"
	}
	return "True"
}

// groups sets the options of groups. Keystone always looks for some, so without any it looks in the
// tree of users for what cannot be there.
func (o options) groups(groups *keystonev1alpha1.LDAPGroupsSpec, users string) {
	if groups == nil {
		o.text("group_tree_dn", users)
		o.text("group_filter", "(!(objectClass=*))")
		return
	}
	o.text("group_tree_dn", groups.Tree)
	o.given("group_filter", groups.Filter)
	o.text("group_objectclass", groups.ObjectClass)
	o.text("group_id_attribute", groups.IDAttribute)
	o.text("group_name_attribute", groups.NameAttribute)
	o.text("group_member_attribute", groups.MemberAttribute)
	o.text("group_desc_attribute", groups.DescriptionAttribute)
	o.flag("group_members_are_ids", groups.MembersAreIDs)
	o.flag("group_ad_nesting", groups.Nested)
}

// Certificates returns the certificates under the key of the Secret, and nothing that stands
// between them. The error says what is wrong, and names the field of the Secret.
func Certificates(bundle *corev1.Secret, key, of string) (string, error) {
	var found bytes.Buffer
	for rest := bundle.Data[key]; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "", fmt.Errorf(
				"%s of Secret %s of %s has a certificate that cannot be read; replace it", key, bundle.Name, of)
		}
		if err := pem.Encode(&found, &pem.Block{Type: block.Type, Bytes: block.Bytes}); err != nil {
			return "", fmt.Errorf("encoding a certificate of Secret %s: %w", bundle.Name, err)
		}
	}
	if found.Len() == 0 {
		return "", fmt.Errorf("%s of Secret %s of %s has no certificate in PEM; add it", key, bundle.Name, of)
	}
	return found.String(), nil
}
