"""A client of a torture run: asks, redeems, hands over, reports; retries what is unclear."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from typing import Any

import httpx

from tests.torture.history import Heard, Send
from tests.torture.world import Wanted, World

_TRIES = 4
_PAUSE_SECONDS = 0.1
_PATIENCE_SECONDS = 12.0
_LAST_SECONDS = 90.0
_ASK = "/v1/permits"


class Sender:
    """One client; `url` tells where the service listens now, for it may have moved.

    A mail that is "handed over" is what the customer would get: nothing else counts as a send.
    """

    def __init__(
        self, world: World, heard: list[Heard], url: Callable[[], str], key: str, http: Any
    ) -> None:
        self._world = world
        self._heard = heard
        self._url = url
        self._key = key
        self._http: httpx.AsyncClient = http

    async def run(self, over: asyncio.Event) -> None:
        """Send one mail after the other until the run is over."""
        while not over.is_set():
            await self._tell()
            if self._world.chance(0.03):
                await self._pay(self._world.invoice_to_pay())
            await self._send(self._world.wanted())

    async def is_granted_one(self) -> bool:
        """Is a mail to a customer of its own granted within a minute and a half?"""
        wanted = self._world.to_a_stranger()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                while True:
                    call = _new_call()
                    asked = await self._insist("ask", wanted.send, _ASK, wanted.body, call)
                    if asked.status in (200, 201):
                        return True
                    await asyncio.sleep(_PAUSE_SECONDS)
        return False

    async def _send(self, wanted: Wanted) -> None:
        send = wanted.send
        asked = await self._insist("ask", send, _ASK, wanted.body, _new_call())
        permit_id = asked.permit_id
        if asked.status not in (200, 201) or permit_id is None or self._world.chance(0.02):
            return
        attempt = {"attempt": uuid.uuid4().hex}
        path = f"/v1/permits/{permit_id}"
        redeemed = await self._insist(
            "redeem", send, f"{path}/redeem", attempt, permit_id=permit_id
        )
        if redeemed.status != 200:
            return
        self._heard.append(Heard("handed over", send, 0, permit_id))
        outcome = "sent"
        if self._world.chance(0.1):
            outcome = "rejected"
            self._heard.append(Heard("refused", send, 0, permit_id))
        elif self._world.chance(0.05):
            outcome = "unknown"
        if not self._world.chance(0.03):
            body = {"outcome": outcome}
            await self._insist(
                "report", send, f"{path}/outcome", body, permit_id=permit_id, code=outcome
            )

    async def _tell(self) -> None:
        """Tell the ledger of invoices that nobody has told it of."""
        while self._world.untold:
            invoice_id, snapshot = self._world.untold.popleft()
            path = f"/v1/invoices/{invoice_id}"
            told = await self._insist("tell", ("invoice", invoice_id), path, snapshot)
            if told.status != 200:
                self._world.untold.append((invoice_id, snapshot))
                return

    async def _pay(self, invoice_id: str) -> None:
        data = {
            "invoice_id": invoice_id,
            "payment_id": f"pay-{invoice_id}",
            "state": "succeeded",
            "amount": 9_000,
        }
        fact = {"id": f"paid-{invoice_id}", "source": "torture", "type": "invoice.payment"}
        await self._insist(
            "pay", ("pay", invoice_id), "/v1/facts", {"facts": [fact | {"data": data}]}
        )

    async def _insist(
        self,
        act: str,
        send: Send,
        path: str,
        body: dict[str, Any],
        key: str | None = None,
        *,
        permit_id: str | None = None,
        code: str | None = None,
    ) -> Heard:
        """Call until the answer is clear, a few times at most: 503 and silence are not."""
        for _ in range(_TRIES):
            heard = await self._call(act, send, path, body, key, permit_id, code)
            self._heard.append(heard)
            if heard.status not in (0, 503):
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        return heard

    async def _call(
        self,
        act: str,
        send: Send,
        path: str,
        body: dict[str, Any],
        key: str | None,
        permit_id: str | None,
        code: str | None,
    ) -> Heard:
        headers = {"Authorization": f"Bearer {self._key}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        method = "PUT" if act == "tell" else "POST"
        try:
            answer = await self._http.request(
                method, self._url() + path, json=body, headers=headers, timeout=_PATIENCE_SECONDS
            )
        except httpx.TransportError:
            return Heard(act, send, 0, permit_id, code, call=key or "")
        said: dict[str, Any] = answer.json() if answer.content else {}
        named = said.get("permit_id") if act == "ask" and answer.status_code < 300 else permit_id
        return Heard(
            act,
            send,
            answer.status_code,
            named,
            code or said.get("code"),
            said.get("committed"),
            "idempotent-replayed" in answer.headers,
            key or "",
        )


def _new_call() -> str:
    return uuid.uuid4().hex
