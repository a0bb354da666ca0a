#!/bin/bash
# Starts MariaDB and initialises an empty data directory first, with the
# environment variables of the official image:
#
#   MARIADB_ROOT_PASSWORD               password of root
#   MARIADB_ALLOW_EMPTY_ROOT_PASSWORD   not empty: root without a password
#   MARIADB_ROOT_HOST                   host of the second root account, % if unset
#   MARIADB_DATABASE                    database to create
#   MARIADB_USER, MARIADB_PASSWORD      user with all rights on that database
#   MYSQL_INITDB_SKIP_TZINFO            not empty: no time zone tables
#
# Each one can name a file that holds the value instead, as in
# MARIADB_ROOT_PASSWORD_FILE, and has the older spelling MYSQL_….
set -euo pipefail
umask 027

datadir=/var/lib/mysql
# Everything is made here and moved up when complete. A container that was
# killed half way leaves this directory, and the next one starts afresh.
staging=$datadir/.init

log() { echo "entrypoint: $*" >&2; }
die() {
	log "$*"
	exit 1
}

# setting NAME prints the value of MARIADB_NAME, MYSQL_NAME or their files.
setting() {
	local prefix var file
	for prefix in MARIADB MYSQL; do
		var=${prefix}_$1 file=${prefix}_$1_FILE
		if [[ -n ${!var:-} ]]; then
			printf %s "${!var}"
			return
		elif [[ -n ${!file:-} ]]; then
			cat "${!file}"
			return
		fi
	done
}

# quote VALUE makes an SQL string of it.
quote() {
	local value=$1
	[[ $value != *$'\n'* ]] || die "a setting contains a line break, which the database cannot take"
	value=${value//\\/\\\\}
	printf "'%s'" "${value//\'/\\\'}"
}

identifier() { printf '`%s`' "${1//\`/\`\`}"; }

initial_sql() {
	local password host database user
	password=$(setting ROOT_PASSWORD)
	host=$(setting ROOT_HOST)
	[[ -n $password || -n $(setting ALLOW_EMPTY_ROOT_PASSWORD) ]] ||
		die "no password for root: set MARIADB_ROOT_PASSWORD or MARIADB_ALLOW_EMPTY_ROOT_PASSWORD"

	# The accounts for the name of the host that happens to initialise go. The
	# server starts without its grant tables here; FLUSH loads them.
	echo "DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');"
	echo "DELETE FROM mysql.proxies_priv WHERE Host <> 'localhost';"
	echo "FLUSH PRIVILEGES;"
	echo "ALTER USER root@localhost IDENTIFIED BY $(quote "$password");"
	if [[ ${host:=%} != localhost ]]; then
		echo "CREATE USER root@$(quote "$host") IDENTIFIED BY $(quote "$password");"
		echo "GRANT ALL ON *.* TO root@$(quote "$host") WITH GRANT OPTION;"
	fi
	database=$(setting DATABASE)
	user=$(setting USER)
	[[ -z $database ]] || echo "CREATE DATABASE IF NOT EXISTS $(identifier "$database");"
	[[ -n $user ]] || return 0
	[[ -n $(setting PASSWORD) ]] || die "no password for user $user: set MARIADB_PASSWORD"
	echo "CREATE USER $(quote "$user")@'%' IDENTIFIED BY $(quote "$(setting PASSWORD)");"
	[[ -z $database ]] || echo "GRANT ALL ON $(identifier "${database//_/\\_}").* TO $(quote "$user")@'%';"
}

time_zone_sql() {
	[[ -z ${MYSQL_INITDB_SKIP_TZINFO:-} ]] || return 0
	echo "USE mysql;"
	mariadb-tzinfo-to-sql --skip-write-binlog /usr/share/zoneinfo 2>/dev/null
}

clear_unfinished() {
	[[ -d $staging ]] || return 0
	if [[ ! -d $datadir/mysql ]]; then
		log "an earlier start was interrupted: initialising again"
		find "$datadir" -mindepth 1 -maxdepth 1 ! -name lost+found ! -path "$staging" -exec rm -rf {} +
	fi
	rm -rf "$staging"
}

initialise() {
	[[ -z $(find "$datadir" -mindepth 1 -maxdepth 1 ! -name lost+found -print -quit) ]] ||
		die "$datadir holds files but no database: mount an empty volume or restore the missing files"
	log "initialising $datadir"
	mkdir "$staging"
	initial_sql >"$staging/initial.sql"
	time_zone_sql >>"$staging/initial.sql"
	mariadb-install-db --no-defaults --datadir="$staging/data" --skip-test-db --skip-log-bin \
		--force --skip-name-resolve --auth-root-authentication-method=normal --extra-file="$staging/initial.sql" \
		>"$staging/log" 2>&1 || {
		cat "$staging/log" >&2
		die "initialising $datadir failed, see above"
	}
	# The directory whose presence means "initialised" comes last.
	find "$staging/data" -mindepth 1 -maxdepth 1 ! -name mysql -exec mv -t "$datadir" {} +
	sync "$datadir"
	mv "$staging/data/mysql" "$datadir/"
	rm -rf "$staging"
	log "initialised $datadir"
}

main() {
	[[ $# -gt 0 && $1 != -* ]] || set -- mariadbd "$@"
	if [[ $1 == mariadbd || $1 == mysqld ]]; then
		[[ -w $datadir ]] || die "$datadir is not writable by uid $(id -u): set fsGroup 999 or mount a volume of that owner"
		clear_unfinished
		[[ -d $datadir/mysql ]] || initialise
		# Nothing of the server needs the secrets that set it up.
		unset "${!MARIADB_@}" MYSQL_ROOT_PASSWORD MYSQL_PASSWORD
	fi
	exec "$@"
}

main "$@"
