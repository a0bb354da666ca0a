// Package servingcert maintains the TLS serving certificate of an operator's
// admission webhooks if nothing else (cert-manager) does.
//
// The certificate lives in one Secret of type kubernetes.io/tls, laid out the
// way cert-manager lays out its own: tls.crt, tls.key and, in ca.crt, every
// certificate authority a client should trust at the moment. Each certificate
// has its own authority whose key is discarded at once, so that no
// signing key exists in the cluster.
//
// Every replica runs the same loop and serves straight from memory, so a
// renewal needs neither a leader nor a restart nor a kubelet that refreshes a
// mounted volume. A renewal never fails an admission request, because trust
// always comes first: the new authority is added to the old one in the
// Secret, then in the webhook configurations, and only after API servers have
// had time to notice does a replica present the new certificate.
package servingcert
