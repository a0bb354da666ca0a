"""Tests of stage.py, with an API server that only notes how it is asked."""

import io
import pathlib
import ssl
import tempfile
import unittest
from unittest import mock

import stage


class Call(unittest.TestCase):
    def handlers(self):
        """Calls the API server, and returns the handlers of proxies and of TLS."""
        strict = ssl.create_default_context()
        strict.verify_flags |= ssl.VERIFY_X509_STRICT
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch("ssl.create_default_context", return_value=strict) as create, \
                mock.patch.dict("os.environ", {"https_proxy": "http://proxy.example.com"}), \
                mock.patch("urllib.request.build_opener") as build_opener:
            build_opener.return_value.open.return_value = io.BytesIO(b"{}")
            account = pathlib.Path(folder)
            (account / "token").write_text("token")
            stage.call("https://kubernetes", account)
        create.assert_called_once_with(cafile=str(account / "ca.crt"))
        return build_opener.call_args.args

    def test_the_certificate_of_the_api_server_needs_no_more_than_what_identifies_it(self):
        _, tls = self.handlers()
        context = tls._context
        self.assertFalse(context.verify_flags & ssl.VERIFY_X509_STRICT)
        self.assertEqual((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))

    def test_no_proxy_of_the_environment_is_asked(self):
        proxies, _ = self.handlers()
        self.assertEqual(proxies.proxies, {})


if __name__ == "__main__":
    unittest.main()
