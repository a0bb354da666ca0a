#!/bin/sh
# Starts slapd in the foreground with an empty database and the entries in /etc/slapd/entries. It serves
# ldap (with StartTLS) at port 1389 and ldaps at port 1636. Passwords are only accepted on encrypted
# connections, and nothing can be read without one.
#
#   SUFFIX                          the entry at the top, such as dc=example,dc=com
#   /etc/slapd/entries/*.ldif       the entries. A password is a reference to a file:
#                                   userPassword:< file:///etc/slapd/passwords/reader
#   /etc/slapd/passwords/admin      the password of cn=admin below the suffix, who may do anything
#   /etc/slapd/tls                  ca.crt, tls.crt and tls.key
#
# cn=reader below the suffix may read everything but passwords. As in Active Directory, a search of it returns at most
# 1,000 entries, or any number in pages. /var/lib/ldap and /run/slapd are writable,
# and lost with the container.
set -eu
: "${SUFFIX:?name the entry at the top}"
umask 077
# slapd allocates memory for every file that it may open, which can be a billion in a container.
# shellcheck disable=SC3045 # dash has -n.
ulimit -n 1024

configuration=/run/slapd/slapd.conf
database=/var/lib/ldap
# The container may have been restarted in its pod.
rm -rf "${database:?}"/*

cat >"$configuration" <<END
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile /etc/slapd/tls/ca.crt
TLSCertificateFile /etc/slapd/tls/tls.crt
TLSCertificateKeyFile /etc/slapd/tls/tls.key
disallow bind_anon
security simple_bind=128
database mdb
suffix "$SUFFIX"
rootdn "cn=admin,$SUFFIX"
rootpw $(slappasswd -n -T /etc/slapd/passwords/admin)
directory $database
maxsize 1073741824
limits dn.exact="cn=reader,$SUFFIX" size=1000 size.pr=1000 size.prtotal=unlimited
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,$SUFFIX" read by * none
END

cat /etc/slapd/entries/*.ldif | slapadd -f "$configuration"
exec slapd -d stats -f "$configuration" -h 'ldap://:1389/ ldaps://:1636/'
