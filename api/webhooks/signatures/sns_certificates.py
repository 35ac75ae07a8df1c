"""A cache of the certificates that SNS signs with, limited in number, size and time."""

import asyncio
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException

from api.webhooks.provider import BadSignature
from ledger.application.clock import stopwatch

_MOST_KEPT = 32
_KEPT_SECONDS = 24 * 3600.0
_REFUSED_SECONDS = 60.0
_TIMEOUT_SECONDS = 4.0
_PATIENCE_SECONDS = 10.0
_LONGEST = 64 * 1024
_MOST_WAITING = 32


class CertificateNotHere(Exception):
    """The certificate is not cached yet; `address` was checked to be a URL of SNS."""

    def __init__(self, address: str) -> None:
        super().__init__("the certificate is not here yet")
        self.address = address


class CertificateUnreachable(Exception):
    """The signature cannot be checked now: AWS cannot be reached."""


@dataclass(frozen=True, slots=True)
class _Kept:
    certificate: bytes | None
    until: float


class SnsCertificates:
    """A bounded cache: certificates are cached for a day, refusals by AWS for a minute."""

    def __init__(self, fetch: Callable[[str], bytes] | None = None) -> None:
        self._fetch = fetch or fetch_certificate
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._fetching: dict[str, asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="sns-certificate")

    def get(self, address: str) -> bytes:
        """The cached certificate of a URL. Raises CertificateNotHere, or BadSignature."""
        kept = self._kept.get(address)
        if kept is None or kept.until <= stopwatch():
            raise CertificateNotHere(address)
        if kept.certificate is None:
            raise BadSignature("AWS has no such certificate")
        return kept.certificate

    async def fetch(self, address: str) -> None:
        """Fetch a certificate, once for all waiting callers. Raises CertificateUnreachable."""
        task = self._fetching.get(address)
        if task is None:
            if len(self._fetching) >= _MOST_WAITING:
                raise CertificateUnreachable
            task = asyncio.create_task(self._keep(address))
            self._fetching[address] = task
            task.add_done_callback(lambda _: self._fetching.pop(address, None))
        try:
            await asyncio.wait_for(asyncio.shield(task), _PATIENCE_SECONDS)
        except TimeoutError:
            raise CertificateUnreachable from None

    def close(self) -> None:
        """Stop: start no further fetch."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _keep(self, address: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            certificate = await loop.run_in_executor(self._threads, self._fetch, address)
            kept = _Kept(certificate, stopwatch() + _KEPT_SECONDS)
        except BadSignature:
            kept = _Kept(None, stopwatch() + _REFUSED_SECONDS)
        self._kept[address] = kept
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow no redirect: only the checked host may provide a certificate."""


_OPENER = urllib.request.build_opener(_NoRedirect)


def fetch_certificate(address: str) -> bytes:
    """The bytes at a URL that was checked before; blocks for up to some seconds.

    Raises BadSignature if AWS has no such certificate, and CertificateUnreachable if AWS does not
    answer.
    """
    try:
        with _OPENER.open(address, timeout=_TIMEOUT_SECONDS) as answer:
            certificate: bytes = answer.read(_LONGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (408, 429) or error.code >= 500:
            raise CertificateUnreachable from error
        raise BadSignature("AWS has no such certificate") from None
    except (OSError, HTTPException) as error:
        raise CertificateUnreachable from error
    if len(certificate) > _LONGEST:
        raise BadSignature("what AWS gave is no certificate")
    return certificate
