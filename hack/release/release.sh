#!/usr/bin/env bash
# Builds everything that a release consists of, and publishes nothing. Equal
# commits give equal files, wherever they are built.
#
# Usage: release.sh OUT
#   OUT   the folder that receives the files; its former content is removed
# Environment: BIN (the pinned tools). The charts have to contain their library.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
version=$(<VERSION)
bin=$(cd "${BIN:?}" && pwd)
mapfile -t operators < <(hack/tools/operators.sh --programs)
image_platforms=(linux/amd64 linux/arm64)
cli_platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

rm -rf "$1"
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $(git rev-parse --is-shallow-repository) == true ]]; then
	echo 'a shallow clone lacks the commits for the changelog: git fetch --unshallow' >&2
	exit 1
fi
if [[ -n $(git status --porcelain) ]]; then
	echo 'warning: uncommitted changes are included in these files, too' >&2
fi

# step TEXT COMMAND... prints the duration of a command.
step() {
	local text=$1 start=$SECONDS
	shift
	"$@"
	printf '%6d s  %s\n' $((SECONDS - start)) "$text"
}

# build MODULE PLATFORM FILE [LINKER FLAGS] compiles with the flags of build.sh, so
# that each reuses what the other has compiled.
build() {
	GOOS=${2%/*} GOARCH=${2#*/} GOWORK=off CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -C "$1" -trimpath -buildvcs=false \
		-gcflags=all=-dwarf=false -ldflags "-s -w ${4:-}" -o "$3" .
}

# pack FOLDER NAME... packs files without any trace of this machine or the current time.
pack() {
	tar --directory="$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode='u+w,go-w,a+rX' --create "${@:2}"
}

# archive FILE FOLDER NAME... does so in a compressed file.
archive() { pack "${@:2}" | gzip -9n >"$1"; }

# licenses MODULE FILE collects the licenses of what is compiled into a program,
# and lists them for the bill of materials.
licenses() {
	(
		cd "$1"
		# The tool recognises the standard library by the location of the Go installation.
		GOROOT=$(go env GOROOT) GOWORK=off "$bin/go-licenses" report . --ignore github.com/c5c3/forge \
			--template "$root/hack/release/licenses.tpl" 2>"$work/licenses.log" >"$2" || { cat "$work/licenses.log" >&2; exit 1; }
	)
}

# bill PROGRAM NAME LICENSES FILE writes the components of a program, as CycloneDX.
bill() {
	(cd "${1%/*}" && "$bin/cyclonedx-gomod" bin -json -noserial -version "v$version" "./${1##*/}" 2>"$work/bill.log") |
		hack/release/sbom.py "$2" "$version" "$SOURCE_DATE_EPOCH" "$3" >"$4" || { cat "$work/bill.log" >&2; return 1; }
}

# serve_registry sets registry to one in memory, in which crane assembles images.
serve_registry() {
	"$bin/crane" registry serve --address 127.0.0.1:0 2>"$work/registry.log" &
	trap 'kill %1; rm -rf "$work"' EXIT
	until registry=127.0.0.1:$(grep -oP 'serving on port \K\d+' "$work/registry.log"); do
		kill -0 %1
		sleep 0.1
	done
}

# crane ARGUMENT... runs crane, which has much to tell.
crane() {
	"$bin/crane" "$@" >"$work/crane.log" 2>&1 || {
		cat "$work/crane.log" >&2
		exit 1
	}
}

# from_dockerfile OPERATOR INSTRUCTION prints what the Dockerfile of an operator says about its container.
from_dockerfile() { sed -n "/^FROM scratch/,\$ s/^$2 //p" "operators/$1/Dockerfile"; }

# image OPERATOR ARCH PROGRAM NAME packs a program as the Dockerfile does. This needs no container engine, and
# gives the same bytes everywhere.
image() {
	local folder=$work/$1-$2
	mkdir "$folder"
	install -m 0755 "$3" "$folder/manager"
	pack "$folder" manager >"$folder.tar"
	crane append --oci-empty-base --new_layer "$folder.tar" --new_tag "$4"
	crane mutate "$4" --tag "$4" --set-platform "linux/$2" --user "$(from_dockerfile "$1" USER)" \
		--entrypoint "$(from_dockerfile "$1" ENTRYPOINT | tr -d '[]"')" --label "$(from_dockerfile "$1" LABEL)"
}

# images OPERATOR NAME packs the programs for all platforms as one archive.
images() {
	local platform arch parts=() layout=$work/$1-layout
	for platform in "${image_platforms[@]}"; do
		arch=${platform#*/}
		image "$1" "$arch" "$out/$2-linux-$arch" "$registry/$2:$arch"
		parts+=(--manifest "$registry/$2:$arch")
	done
	crane index append "${parts[@]}" --tag "$registry/$2:$version"
	crane pull --format=oci "$registry/$2:$version" "$layout"
	# containerd takes the full name, and the image layout only the tag.
	sed -i "s|\"digest\": \"[^\"]*\"|&, \"annotations\": {\"io.containerd.image.name\": \"ghcr.io/c5c3/$2:$version\", \"org.opencontainers.image.ref.name\": \"$version\"}|" \
		"$layout/index.json"
	pack "$layout" oci-layout index.json blobs >"$out/$2-$version.oci.tar"
}

# operator NAME builds an operator for all platforms: its programs, their licenses and bills of
# materials, and one archive with the images of all platforms.
operator() {
	local name=$1-operator platform arch
	licenses "operators/$1" "$out/$name-licenses.txt"
	for platform in "${image_platforms[@]}"; do
		arch=${platform#*/}
		step "$name for $platform" build "operators/$1" "$platform" "$out/$name-linux-$arch"
		bill "$out/$name-linux-$arch" "$name" "$out/$name-licenses.txt" "$out/$name-linux-$arch.cdx.json"
	done
	images "$1" "$name"
}

# chart NAME repacks what Helm has packed: Helm writes the time into its archives.
chart() {
	"$bin/helm" package --destination "$work" "operators/$1/helm/$1-operator" >/dev/null
	tar --directory="$work" --extract --touch --file="$work/$1-operator-$version.tgz"
	archive "$out/$1-operator-$version.tgz" "$work" "$1-operator"
}

# command_line builds kubectl-forge for all platforms, and its Krew manifest.
command_line() {
	local platform name folder
	licenses kubectl-forge "$out/kubectl-forge-licenses.txt"
	for platform in "${cli_platforms[@]}"; do
		name=kubectl-forge-$version-${platform/\//-} folder=$work/cli/${platform/\//-}
		mkdir -p "$folder"
		cp LICENSE "$folder"
		cp "$out/kubectl-forge-licenses.txt" "$folder/licenses.txt"
		local program=kubectl-forge
		[[ $platform != windows/* ]] || program+=.exe
		step "kubectl-forge for $platform" build kubectl-forge "$platform" "$folder/$program" \
			"-X github.com/c5c3/forge/kubectl-forge/internal/cli.version=$version"
		archive "$out/$name.tar.gz" "$folder" LICENSE licenses.txt "$program"
		[[ $platform != linux/amd64 ]] ||
			bill "$folder/$program" kubectl-forge "$out/kubectl-forge-licenses.txt" "$out/kubectl-forge.cdx.json"
	done
	hack/release/krew.sh "$version" "$out" "${cli_platforms[@]}" >"$out/forge.yaml"
}

serve_registry
for operator in "${operators[@]}"; do
	operator "$operator"
	step "chart $operator-operator" chart "$operator"
done
[[ ! -d kubectl-forge ]] || command_line
hack/release/changelog.py "$version" >"$out/changelog.md"
(
	cd "$out"
	LC_ALL=C
	sha256sum -- * >"$work/sha256sums.txt"
	mv "$work/sha256sums.txt" .
)
printf '%s of version %s in %s\n' "$(find "$out" -type f | wc -l) files" "$version" "$out"
