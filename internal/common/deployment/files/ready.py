"""Answers the kubelet whether this pod can serve requests.

uWSGI runs this file in a process of its own (a mule, UWSGI_MULE), so a probe starts no
program and never waits behind requests. The answer is 200, or 503 with the reason in one
line. It is the same whatever a client sends, and holds neither the password nor anything
that a server has said.
"""

import http.client
import select
import signal
import socket
import socketserver
import sys
import threading
import time
import urllib.parse
from os import environ

import uwsgi

# The operator replaces these by the environment variable with the URL of the database, which
# is empty for a service without one, by a table that every release of the service has in it,
# and all of which requests need one, by what is requested of the API, and by the port to
# answer on.
VARIABLE = ""
TABLE = ""
TABLES = []
ADDRESS = ""
PORT = 0

if VARIABLE:
    import pymysql

# All who ask within this time get the same answer.
FRESH_SECONDS = 1
# ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS and ER_USER_LIMIT_REACHED: the server
# answers, and the workers may have connections.
CONNECTIONS_USED_UP = (1040, 1203, 1226)
# The database has to answer within this time, which is less than the kubelet waits.
DATABASE_SECONDS = 8
# An idle API answers at once; nobody waits longer for a busy one.
API_SECONDS = 0.5
# Connecting to the API of the same pod takes no longer.
CONNECT_SECONDS = 5
# The API is stuck once a request has waited this long without any being finished.
STUCK_SECONDS = 30
# A client has to send something within this time, and only so many may be connected.
CLIENT_SECONDS = 2
CLIENTS = 50
# The pause after an error before another try.
RESTART_SECONDS = 10


class Question:
    """Is asked in the background, one at a time. Its answer is for all who ask meanwhile."""

    def __init__(self, ask):
        self.ask = ask
        self.changed = threading.Condition()
        self.pending = False
        self.answered = -FRESH_SECONDS
        self.answer = None

    def get(self, seconds, late):
        """Returns the answer, or late if there is none in time."""
        with self.changed:
            if not self.pending and time.monotonic() - self.answered >= FRESH_SECONDS:
                threading.Thread(target=self.run, daemon=True).start()
                self.pending = True
            return self.answer if self.changed.wait_for(lambda: not self.pending, seconds) else late

    def run(self):
        answer = None
        try:
            answer = self.ask()
        finally:
            with self.changed:
                self.answer, self.answered, self.pending = answer, time.monotonic(), False
                self.changed.notify_all()


class NoDatabase:
    """Stands for the database of a service that has none."""

    late = None

    def ask(self):
        return None


class Database:
    """The database of the service, to which each question logs in anew: a changed password counts at once."""

    def __init__(self, url):
        parsed = urllib.parse.urlsplit(url)
        self.name = "%s:%d" % (parsed.hostname, parsed.port or 3306)
        tls = {name[4:]: value for name, value in urllib.parse.parse_qsl(parsed.query) if name.startswith("ssl_")}
        if "check_hostname" in tls:
            tls["check_hostname"] = tls["check_hostname"] == "true"
        self.options = {
            "host": parsed.hostname,
            "port": parsed.port or 3306,
            "user": urllib.parse.unquote(parsed.username),
            "password": urllib.parse.unquote(parsed.password),
            "database": parsed.path[1:],
            "ssl": tls or None,
            "connect_timeout": DATABASE_SECONDS,
            "read_timeout": DATABASE_SECONDS,
            "write_timeout": DATABASE_SECONDS,
            # Not that of sitecustomize.py: in a Galera cluster with a backlog it would wait.
            "init_command": None,
        }
        self.late = "No answer from the database at %s within %d s" % (self.name, DATABASE_SECONDS)

    def ask(self):
        """Returns what is wrong with the database, None for nothing."""
        try:
            connection = pymysql.connect(**self.options)
        except Exception as error:
            if kind(error) in CONNECTIONS_USED_UP:
                return None
            return "No login to the database at %s (error %s)" % (self.name, kind(error))
        try:
            cursor = connection.cursor()
            cursor.execute("SELECT 1 FROM `%s` LIMIT 1" % TABLE)
            missing = self.missing(cursor)
        except Exception as error:
            return "Cannot read table %s of the database at %s (error %s)" % (TABLE, self.name, kind(error))
        finally:
            connection.close()
        return "No table %s in the database at %s" % (", ".join(missing), self.name) if missing else None

    def missing(self, cursor):
        """Returns the tables that are lost. Nothing but names is looked up, so a migration is not waited for."""
        try:
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
            found = {name for name, in cursor.fetchall()}
        except Exception:
            return []
        return sorted(set(TABLES) - found)


def kind(error):
    """Returns the number of a database's error, and the class of any other."""
    number = error.args[0] if isinstance(error, pymysql.MySQLError) and error.args else None
    return number if isinstance(number, int) else type(error).__name__


class API:
    """The workers of this pod. They may be busy, but not stuck: then a request waits and none is finished."""

    def __init__(self, address):
        parsed = urllib.parse.urlsplit(address)
        self.host, self.port, self.path = parsed.hostname, parsed.port, parsed.path
        self.finished = finished()
        self.waiting = None

    def ask(self):
        """Returns what is wrong with the API's answer, None for nothing and for no answer."""
        self.look()
        connection = http.client.HTTPConnection(self.host, self.port, timeout=CONNECT_SECONDS)
        try:
            # uWSGI keeps a connection open when a worker dies, unless it is told to close it.
            connection.request("GET", self.path, headers={"Connection": "close"})
            while not select.select([connection.sock], [], [], 1)[0]:
                self.look()
            status = connection.getresponse().status
        except Exception:
            # uWSGI closes the connection of a request that nobody took in time.
            self.look()
            return None
        finally:
            connection.close()
        self.waiting = None
        return "GET %s of this pod failed: it answered %d" % (self.path, status) if status >= 400 else None

    def look(self):
        """Notes since when a request has been waiting without any being finished."""
        now = finished()
        if self.waiting is None or now != self.finished:
            self.finished, self.waiting = now, time.monotonic()

    def stuck(self):
        """Returns that the API is stuck, None if it is not."""
        since = self.waiting
        if since is None or time.monotonic() - since < STUCK_SECONDS:
            return None
        return "GET %s of this pod failed: it finished no request for %d s" % (self.path, STUCK_SECONDS)


def finished():
    """Returns how many requests the workers have finished."""
    return sum(worker["requests"] for worker in uwsgi.workers())


class Readiness:
    """Asks both questions at the same time."""

    def __init__(self, database, api):
        self.database, self.api = database, api
        self.login, self.request = Question(database.ask), Question(api.ask)
        self.reason, self.logged = None, -FRESH_SECONDS

    def check(self):
        """Returns why the pod is not ready, None if it is."""
        self.request.get(0, None)
        reason = (
            self.login.get(DATABASE_SECONDS, self.database.late)
            # A busy API has not answered yet, and its last answer counts.
            or self.request.get(API_SECONDS, self.request.answer)
            or self.api.stuck()
        )
        self.log(reason)
        return reason

    def log(self, reason):
        """Logs the reason with each probe, because the pod's events do not have it."""
        now = time.monotonic()
        if reason != self.reason or reason and now - self.logged >= FRESH_SECONDS:
            print(f"not ready: {reason}" if reason else "ready again", file=sys.stderr, flush=True)
            self.logged = now
        self.reason = reason


def response(reason):
    body = ((reason or "ready") + "\n").encode()
    status = "503 Service Unavailable" if reason else "200 OK"
    head = "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(body))
    return head.encode() + body


class Server(socketserver.ThreadingTCPServer):
    """Listens on all addresses of the pod, whichever version of IP they have."""

    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def verify_request(self, *_):
        return threading.active_count() < CLIENTS


def serve(readiness, port):
    class Client(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.settimeout(CLIENT_SECONDS)
            try:
                # Read, because closing a connection with unread data would discard the answer.
                if self.request.recv(1 << 16):
                    self.request.sendall(response(readiness.check()))
            except OSError:
                pass  # The client is gone.

    return Server(("", port), Client)


def main():
    # uWSGI ends its mules with a signal, and its own handler would clean up Python meanwhile.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    try:
        database = Database(environ[VARIABLE]) if VARIABLE else NoDatabase()
        # The interval is about shutting down, which ends the process.
        serve(Readiness(database, API(ADDRESS)), PORT).serve_forever(poll_interval=3600)
    except Exception as error:
        print(f"not ready: nothing can answer on port {PORT} (error {type(error).__name__})", file=sys.stderr, flush=True)
        # uWSGI starts it again at once.
        time.sleep(RESTART_SECONDS)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
