"""Tests of stage.py, with an API server that only notes how it is asked."""

import io
import pathlib
import ssl
import tempfile
import unittest
from unittest import mock

import stage


class Call(unittest.TestCase):
    def test_the_certificate_of_the_api_server_needs_no_more_than_what_identifies_it(self):
        strict = ssl.create_default_context()
        strict.verify_flags |= ssl.VERIFY_X509_STRICT
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch("ssl.create_default_context", return_value=strict) as create, \
                mock.patch("urllib.request.urlopen", return_value=io.BytesIO(b"{}")) as urlopen:
            account = pathlib.Path(folder)
            (account / "token").write_text("token")
            stage.call("https://kubernetes", account)
        create.assert_called_once_with(cafile=str(account / "ca.crt"))
        context = urlopen.call_args.kwargs["context"]
        self.assertFalse(context.verify_flags & ssl.VERIFY_X509_STRICT)
        self.assertEqual((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))


if __name__ == "__main__":
    unittest.main()
