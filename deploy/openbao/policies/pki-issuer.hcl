# Certificates of the authority at pki/, for the role that is set up there.

path "pki/issue/*" {
  capabilities = ["create", "update"]
}

path "pki/sign/*" {
  capabilities = ["create", "update"]
}

path "pki/ca/pem" {
  capabilities = ["read"]
}
