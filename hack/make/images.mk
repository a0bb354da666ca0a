##@ Images

OCIIMAGE := $(BIN)/ociimage

# Only the tool's own files count as its inputs: its module has no local
# dependency, and tests do not end up in the binary.
$(OCIIMAGE): $(addprefix hack/ociimage/,main.go image.go layer.go archive.go go.mod go.sum)
	@mkdir -p $(@D)
	cd hack/ociimage && GOWORK=off CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o $@ .
