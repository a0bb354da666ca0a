#!/usr/bin/env bash
# Prints the Krew manifest for the archives of kubectl-forge.
#
# Usage: krew.sh VERSION FOLDER PLATFORM...
#   FOLDER     holds the archives
#   PLATFORM   such as linux/amd64
set -euo pipefail
version=$1 folder=$2
shift 2

cat <<-EOF
	apiVersion: krew.googlecontainertools.github.com/v1alpha2
	kind: Plugin
	metadata:
	  name: forge
	spec:
	  version: v$version
	  homepage: https://github.com/c5c3/forge
	  shortDescription: Operate OpenStack Keystone and control planes
	  description: |
	    Shows what a Keystone or a ControlPlane of the forge operators consists of, what
	    it waits for and which pod or Job to look at; rotates keys and credentials,
	    upgrades releases, checks what a cluster lacks and collects what support needs.
	  platforms:
EOF
for platform in "$@"; do
	archive=kubectl-forge-$version-${platform/\//-}.tar.gz program=kubectl-forge
	[[ $platform != windows/* ]] || program+=.exe
	sum=$(sha256sum <"$folder/$archive")
	cat <<-EOF
		  - selector:
		      matchLabels:
		        os: ${platform%/*}
		        arch: ${platform#*/}
		    uri: https://github.com/c5c3/forge/releases/download/v$version/$archive
		    sha256: ${sum%% *}
		    bin: $program
	EOF
done
