# Issues certificates from the authority at pki/, through the role that is set up
# there.

path "pki/issue/*" {
  capabilities = ["create", "update"]
}

path "pki/sign/*" {
  capabilities = ["create", "update"]
}

path "pki/ca/pem" {
  capabilities = ["read"]
}
