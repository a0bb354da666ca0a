module github.com/c5c3/forge/hack/secretstore

go 1.26.4
