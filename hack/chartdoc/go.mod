module github.com/c5c3/forge/hack/chartdoc

go 1.26.4

require (
	github.com/google/go-cmp v0.7.0
	go.yaml.in/yaml/v3 v3.0.4
)
