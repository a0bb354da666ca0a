"""Corrects the client of Barbican for Vault, whatever its release."""


def with_refusals(client, error):
    """Fails if the store did not do what it was asked for.

    The client takes most answers to a write for success, such as 404 of an engine that does not
    exist, and Barbican would answer that it has stored a secret that is lost.
    """
    ask = client._do_http_request

    def do_http_request(self, method, resource, json=None):
        answer = ask(self, method, resource, json)
        # The client knows what 404 means where it does not write.
        if answer.status_code >= 400 and (json is not None or answer.status_code != 404):
            raise error("the store answered %d %s" % (answer.status_code, answer.reason))
        return answer

    client._do_http_request = do_http_request


def with_new_tokens(client, forbidden):
    """Logs in once more if a token is not valid any more.

    The client would go on with a revoked token until it expires.
    """
    ask = client._do_http_request

    def do_http_request(self, method, resource, json=None):
        before = token(self)
        try:
            return ask(self, method, resource, json)
        except forbidden:
            if before is None or token(self) != before:
                raise
            forget(self)
            return ask(self, method, resource, json)

    client._do_http_request = do_http_request


# Names of the attribute with the token, by release.
TOKENS = ("_cached_approle_token_id", "_cached_token_id")


def token(client):
    return next((getattr(client, name) for name in TOKENS if hasattr(client, name)), None)


def forget(client):
    for name in TOKENS:
        if hasattr(client, name):
            setattr(client, name, None)


def correct(module):
    with_refusals(module.VaultKeyManager, module.exception.KeyManagerError)
    with_new_tokens(module.VaultKeyManager, module.exception.Forbidden)
