# The images of the cluster's own components: a program each, and for those that program the
# network of a node the commands with which they do it. One target for each.
ARG SUITE=trixie
FROM debian:${SUITE}-slim AS network
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends conntrack ipset iproute2 iptables kmod nftables \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*

FROM network AS kube-proxy
COPY kube-proxy /usr/local/bin/

FROM network AS kube-router
COPY kube-router /usr/local/bin/

FROM network AS local-path-provisioner
COPY local-path-provisioner /usr/local/bin/

FROM scratch AS binary
ENV PATH=/usr/local/bin

FROM binary AS kube-apiserver
COPY kube-apiserver /usr/local/bin/

FROM binary AS kube-controller-manager
COPY kube-controller-manager /usr/local/bin/

FROM binary AS kube-scheduler
COPY kube-scheduler /usr/local/bin/

FROM binary AS etcd
COPY etcd /usr/local/bin/

FROM binary AS coredns
COPY coredns /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/coredns"]

FROM binary AS pause
COPY pause /usr/local/bin/
USER 65535:65535
ENTRYPOINT ["/usr/local/bin/pause"]
