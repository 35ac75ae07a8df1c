"""The webhook pipeline: verify the sender, translate, then apply or store every part (D10)."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

import orjson

from api.contract.problems import ProblemError
from api.contract.translation import Translator
from api.running.recent_time import RecentTime
from api.webhooks.counts import WebhookCounts
from api.webhooks.provider import (
    BadSignature,
    Fact,
    Provider,
    Refresh,
    Rejected,
    Settings,
    Translation,
)
from api.webhooks.refresh.apis import APIS
from api.webhooks.registry import provider
from api.webhooks.signatures.sns_certificates import (
    CertificateNotHere,
    CertificateUnreachable,
    SnsCertificates,
)
from api.webhooks.told_facts import fact_of_webhook
from ledger.application.answers import Answer
from ledger.application.caller import Caller
from ledger.application.clock import stopwatch
from ledger.application.commands import ApplyFact
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact as LedgerFact
from ledger.store.connections import Connections
from ledger.store.webhooks.refresh import hint
from ledger.store.webhooks.rejected import Reason, keep_rejected
from ledger.store.webhooks.tokens import take_token

_log = logging.getLogger("ledger.webhooks")
Made = TypeVar("Made")
_CHUNK = 250
"""How many facts of one body are queued at once, so that a long list leaves room for others."""
_PATIENCE_SECONDS = 3.0
"""How long a body waits for room in a full queue: Recurly needs an answer within five seconds."""
_LOOK_AGAIN_SECONDS = 0.01
_LARGE = 32 * 1024
"""From this size in bytes a body is parsed in a thread, to keep the event loop free."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A configured provider and its settings."""

    provider: Provider
    settings: Settings


@dataclass(frozen=True, slots=True)
class Post:
    """A body and its headers, their names in lower case.

    `fetched` is the kind of object if the body is a response of the provider's API.
    """

    provider: str
    headers: Mapping[str, str]
    body: bytes
    fetched: str | None = None


@dataclass(slots=True)
class Taken:
    """The result of one body: the result of each fact, and the rejected parts."""

    results: list[dict[str, str]] = field(default_factory=list)
    refused: list[Reason] = field(default_factory=list)
    refresh: int = 0
    ignored: str | None = None

    @property
    def summary(self) -> tuple[str, str]:
        """The result in one word and, if ignored or rejected, the kind of the reason."""
        if self.refused:
            return "rejected", self.refused[0].kind
        found = {result["result"] for result in self.results}
        for word in ("applied", "stale", "duplicate"):
            if word in found:
                return word, ""
        return ("refresh", "") if self.refresh else ("ignored", self.ignored or "")


class Intake:
    """Processes the webhooks of one process."""

    def __init__(
        self,
        settings: Mapping[str, Settings],
        engine: Engine,
        translator: Translator,
        connections: Connections,
        time: RecentTime,
        wake_pager: Callable[[], object],
    ) -> None:
        self.counts = WebhookCounts()
        self.certificates = SnsCertificates()
        self.on_hint: Callable[[], object] = lambda: None
        self._endpoints = dict(self._configured(settings))
        self._engine = engine
        self._translator = translator
        self._connections = connections
        self._time = time
        self._wake_pager = wake_pager
        self._places = engine.limits.queue + engine.limits.reserved

    def endpoint(self, name: str) -> Endpoint | None:
        """The provider of that name, None where it is not configured."""
        return self._endpoints.get(name)

    async def take(self, endpoint: Endpoint, post: Post) -> Taken:
        """Verify the sender of a body, translate it, and apply it.

        Raises BadSignature, and ProblemError (unavailable) where the provider must retry.
        """
        try:
            await self._verify(endpoint, post)
            taken = await self.apply(post, await self._read(endpoint, post))
        except BadSignature:
            self._count(post.provider, "bad_signature")
            raise
        except Exception:
            self._count(post.provider, "unavailable")
            raise
        self._count(post.provider, *taken.summary)
        return taken

    async def apply(self, post: Post, translation: Translation) -> Taken:
        """Apply the facts, queue objects to fetch, and store the body if a part is rejected.

        Raises ProblemError (unavailable) or StoreUnavailable where the provider must retry; facts
        applied before the error are duplicates in the retry.
        """
        taken = await self.submit(post.provider, translation)
        if taken.refused:
            async with self._connections.use() as connection:
                await keep_rejected(
                    connection, post.provider, taken.refused, post.headers, post.body, post.fetched
                )
            self._wake_pager()
        return taken

    async def submit(self, name: str, translation: Translation) -> Taken:
        """Apply the facts and queue objects to fetch; the result has the rejected parts."""
        refused = [Reason(part.kind, part.detail) for part in translation.rejected]
        taken = Taken(refused=refused, ignored=translation.ignored)
        caller = _caller(name)
        chunk = max(1, min(_CHUNK, self._places // 2))
        for start in range(0, len(translation.facts), chunk):
            await self._submit(caller, translation.facts[start : start + chunk], taken)
        if translation.refresh:
            await self._hint(translation.refresh)
            taken.refresh = len(translation.refresh)
        return taken

    def _configured(self, settings: Mapping[str, Settings]) -> Iterator[tuple[str, Endpoint]]:
        for name, given in settings.items():
            known = provider(name)
            if known is not None:
                fetch = given.fetch_certificate or self.certificates.get
                yield name, Endpoint(known, replace(given, fetch_certificate=fetch))

    def _count(self, name: str, result: str, reason: str = "") -> None:
        self.counts.posts[(name, result, reason)] += 1

    async def _verify(self, endpoint: Endpoint, post: Post) -> None:
        now = await self._time.now()

        def verify() -> str | None:
            return endpoint.provider.verify(post.headers, post.body, endpoint.settings, now)

        try:
            try:
                token = await _in_thread_if_large(post.body, verify)
            except CertificateNotHere as missing:
                await self.certificates.fetch(missing.address)
                token = await _in_thread_if_large(post.body, verify)
        except CertificateUnreachable:
            raise ProblemError("unavailable", "the signature cannot be checked now") from None
        except BadSignature:
            raise
        except Exception:
            _log.exception("the signature of a webhook of %s could not be checked", post.provider)
            raise BadSignature("the signature could not be checked") from None
        if token is not None:
            await self._take_token(post, token)

    async def _take_token(self, post: Post, token: str) -> None:
        """Take the token for this body. Raises BadSignature where another body came with it."""
        async with self._connections.use() as connection:
            if not await take_token(connection, post.provider, token, post.body):
                raise BadSignature("the signature was used for another body")

    async def _read(self, endpoint: Endpoint, post: Post) -> Translation:
        return await _in_thread_if_large(post.body, lambda: read_post(endpoint, post))

    async def _submit(self, caller: Caller, facts: Sequence[Fact], taken: Taken) -> None:
        """Apply some facts in order. Raises ProblemError if the store failed for any of them."""
        parsed = [self._parsed(fact) for fact in facts]
        commands = [ApplyFact(fact, caller) for fact in parsed if isinstance(fact, LedgerFact)]
        await self._wait_for_room(len(commands))
        if len(commands) == 1:
            answers = iter([await self._engine.submit(commands[0])])
        else:
            answers = iter(await self._engine.submit_all(commands))
        for fact, told in zip(facts, parsed, strict=True):
            result = next(answers) if isinstance(told, LedgerFact) else told
            self._note(fact, result, taken)

    def _parsed(self, fact: Fact) -> LedgerFact | str:
        """The fact for the command, or why it is rejected; a bug of ours also rejects it."""
        try:
            return fact_of_webhook(self._translator, fact)
        except Exception as error:
            return f"{type(error).__name__} in our reading of a fact"

    @staticmethod
    def _note(fact: Fact, result: Answer | str, taken: Taken) -> None:
        if isinstance(result, str):
            taken.refused.append(Reason("rejected_fact", result))
            word = "rejected"
        elif result.status == 503:
            raise ProblemError("unavailable", "the store does not answer; post it again")
        elif result.status >= 400:
            detail = f"a fact of type {fact.type} could not be decided"
            taken.refused.append(Reason("undecided_fact", detail))
            word = "rejected"
        else:
            word = result.result
            if word == "rejected":
                detail = str(orjson.loads(result.body).get("detail"))
                taken.refused.append(Reason("rejected_fact", detail))
        taken.results.append({"id": fact.id, "type": fact.type, "result": word})

    async def _wait_for_room(self, wanted: int) -> None:
        """Wait for room in a full queue: a provider would retry only much later (D4)."""
        give_up = stopwatch() + _PATIENCE_SECONDS
        while self._engine.waiting + wanted > self._places:
            if stopwatch() >= give_up:
                raise ProblemError("unavailable", "the ledger has too much to do; post it again")
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _hint(self, objects: Sequence[Refresh]) -> None:
        async with self._connections.use() as connection:
            for wanted in sorted(set(objects), key=lambda o: (o.object_kind, o.object_id)):
                await hint(connection, wanted.provider, wanted.object_kind, wanted.object_id)
        self.on_hint()


@cache
def _caller(name: str) -> Caller:
    """The caller of a provider's facts; there is one per provider."""
    return Caller("system", f"webhook:{name}", frozenset({"facts"}))


def read_post(endpoint: Endpoint, post: Post) -> Translation:
    """Translate a body. Never raises: an exception in a provider's code becomes a rejection."""
    try:
        if post.fetched is not None:
            return APIS[post.provider].translate(post.fetched, post.body, endpoint.settings)
        return endpoint.provider.translate(post.headers, post.body, endpoint.settings)
    except Exception as error:
        detail = f"{type(error).__name__} in our reading"
        return Translation(rejected=(Rejected("translation_failed", detail),))


async def _in_thread_if_large(body: bytes, work: Callable[[], Made]) -> Made:
    if len(body) < _LARGE:
        return work()
    return await asyncio.to_thread(work)
