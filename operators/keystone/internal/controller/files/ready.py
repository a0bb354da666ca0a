import os
import urllib.parse
import urllib.request

import pymysql

# A full login: a connection that is closed during the handshake counts as an
# error of this host, and a database blocks hosts with too many of those.
database = urllib.parse.urlsplit(os.environ["OS_DATABASE__CONNECTION"])
tls = {name[4:]: value for name, value in urllib.parse.parse_qsl(database.query) if name.startswith("ssl_")}
if "check_hostname" in tls:
    tls["check_hostname"] = tls["check_hostname"] == "true"
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
urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://127.0.0.1:5000/v3", timeout=5)
