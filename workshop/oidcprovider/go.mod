module github.com/c5c3/forge/workshop/oidcprovider

go 1.26.4

require github.com/go-jose/go-jose/v4 v4.1.5
