module github.com/c5c3/forge/workshop/loadgen

go 1.26.4

require github.com/google/go-cmp v0.7.0
