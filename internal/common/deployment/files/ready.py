"""Logs in to the database and asks the API of its own pod.

The first line of what fails is the text of the pod's Unhealthy event, so it holds
neither the password nor anything that a server has said.
"""

import os
import sys
import urllib.parse
import urllib.request

import pymysql

# The operator replaces these by the environment variable with the URL of the database, and
# by what is asked of the API.
VARIABLE = ""
ADDRESS = ""

# A full login: a connection that is closed during the handshake counts as an
# error of this host, and a database blocks hosts with too many of those.
database = urllib.parse.urlsplit(os.environ[VARIABLE])
tls = {name[4:]: value for name, value in urllib.parse.parse_qsl(database.query) if name.startswith("ssl_")}
if "check_hostname" in tls:
    tls["check_hostname"] = tls["check_hostname"] == "true"
try:
    pymysql.connect(
        host=database.hostname,
        port=database.port or 3306,
        user=urllib.parse.unquote(database.username),
        password=urllib.parse.unquote(database.password),
        database=database.path[1:],
        ssl=tls or None,
        connect_timeout=3,
        read_timeout=3,
    ).close()
except Exception as error:
    code = error.args[0] if isinstance(error, pymysql.MySQLError) and error.args else type(error).__name__
    print("No login to the database at %s:%d (error %s)" % (database.hostname, database.port or 3306, code))
    sys.exit(1)
try:
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(ADDRESS, timeout=5)
except Exception as error:
    cause = "it answered %d" % error.code if hasattr(error, "code") else "no answer (%s)" % type(error).__name__
    print("GET %s of this pod failed: %s" % (urllib.parse.urlsplit(ADDRESS).path, cause))
    sys.exit(1)
