#!/bin/sh
# As in the official image: options alone are options of memcached.
case ${1:-} in
-* | "") set -- memcached "$@" ;;
esac
exec "$@"
