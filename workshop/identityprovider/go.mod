module github.com/c5c3/forge/workshop/identityprovider

go 1.26.4

require (
	github.com/crewjam/saml v0.6.3
	github.com/go-jose/go-jose/v4 v4.1.5
	github.com/russellhaering/goxmldsig v1.6.1
)

require (
	github.com/beevik/etree v1.8.1 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	golang.org/x/crypto v0.56.0 // indirect
)
