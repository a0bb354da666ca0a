# kube-proxy looks the tools up by their plain names, which Debian's
# alternatives would have provided.
for family in iptables ip6tables; do
	for tool in "$family" "$family-save" "$family-restore"; do
		ln -sfn xtables-nft-multi "$root/usr/sbin/$tool"
	done
done
