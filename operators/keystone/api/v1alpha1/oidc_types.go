package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// OIDCProtocol is the name of a protocol in Keystone, which is also that of the method with which users log in.
//
// +kubebuilder:validation:Enum=openid;mapped
type OIDCProtocol string

// The names for which Keystone has a plugin.
const (
	OIDCProtocolOpenID OIDCProtocol = "openid"
	OIDCProtocolMapped OIDCProtocol = "mapped"
)

// OIDCSpec describes an OpenID Connect provider.
type OIDCSpec struct {
	// issuer is the URL of the provider, exactly as its discovery document and its tokens have it:
	// a slash at the end matters. Example: "https://login.example.com/realms/company".
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*$`
	Issuer string `json:"issuer"`

	// endpoints are the URLs of the provider. Without them they are those of its discovery document.
	//
	// +optional
	Endpoints *OIDCEndpoints `json:"endpoints,omitempty"`

	// clientID is the ID under which Keystone is registered with the provider. Example: "keystone".
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-._~:/@+A-Za-z0-9]+$`
	ClientID string `json:"clientID"`

	// clientSecretRef names the Secret with the password of this client. The key defaults to "client-secret".
	//
	// +required
	ClientSecretRef commonv1.SecretRefSpec `json:"clientSecretRef"`

	// scopes are requested of the provider. The default is ["openid", "email", "profile"].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^[-._~:/@+A-Za-z0-9]+$`
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.exists(s, s == 'openid')",message="the scopes must contain openid"
	Scopes []string `json:"scopes,omitempty"`

	// caBundleSecretRef names the Secret with the certificates of the CAs that may sign the provider's
	// certificate. The key defaults to "ca.crt". Without it the public CAs in the images count.
	//
	// +optional
	CABundleSecretRef *commonv1.SecretRefSpec `json:"caBundleSecretRef,omitempty"`

	// identityProvider is the name of the identity provider in Keystone. The default is the name of
	// the backend. It cannot be changed. Example: "company".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`
	IdentityProvider string `json:"identityProvider,omitempty"`

	// protocol is the name of the protocol in Keystone: "openid", which is the default, or "mapped".
	// It cannot be changed.
	//
	// +optional
	Protocol OIDCProtocol `json:"protocol,omitempty"`

	// bearerTokens lets clients log in with tokens that they have from the provider, without a browser.
	//
	// +optional
	BearerTokens *OIDCBearerTokens `json:"bearerTokens,omitempty"`
}

// OIDCEndpoints are the URLs of a provider without a discovery document.
type OIDCEndpoints struct {
	// authorization is where a browser logs in.
	//
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*(\?[-._~%:@+=&/A-Za-z0-9]*)?$`
	Authorization string `json:"authorization"`

	// token is where Keystone gets the token of a login.
	//
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*(\?[-._~%:@+=&/A-Za-z0-9]*)?$`
	Token string `json:"token"`

	// jwks is where the keys are that sign tokens.
	//
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*(\?[-._~%:@+=&/A-Za-z0-9]*)?$`
	JWKS string `json:"jwks"`

	// userinfo is where further claims are. Without it only those in tokens count.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*(\?[-._~%:@+=&/A-Za-z0-9]*)?$`
	Userinfo string `json:"userinfo,omitempty"`
}

// OIDCBearerTokens says which tokens of a provider are accepted from clients.
type OIDCBearerTokens struct {
	// audiences are what the claim "aud" of such a token must contain at least one of. Example: ["keystone"].
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^[-._~:/@+A-Za-z0-9]+$`
	Audiences []string `json:"audiences"`
}
