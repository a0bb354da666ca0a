// Package deployinfra tests the manifests below deploy and the scripts that install
// them: deploy-infra.sh with the scripts in this folder, and the bootstrap of
// OpenBao.
package deployinfra
