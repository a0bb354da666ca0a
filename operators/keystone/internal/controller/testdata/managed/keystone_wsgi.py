"""Serves Keystone behind the filters of spec.middleware.

Keystone itself no longer reads api-paste.ini, so the filters declared there are
put around its application here, the first one outermost.
"""

from forge_errors import answering
from keystone.server.wsgi import initialize_public_application
from paste.deploy import loadfilter

PASTE = "config:/etc/keystone/keystone.conf.d/api-paste.ini"
FILTERS = ["audit"]

application = initialize_public_application()
for name in reversed(FILTERS):
    application = loadfilter(PASTE, name=name)(application)
# A filter may raise, too.
application = answering(application)
