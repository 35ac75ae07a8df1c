"""Reads the settings from `LEDGER_*` variables and `ledger.toml`, once at start-up."""

import hashlib
import os
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from api.settings.greedy_callers import BadBound, DoorLimits, PerKey, read_door, read_per_key
from api.settings.names import NotedEnvironment, misspelt
from api.webhooks.provider import Settings as WebhookSettings
from ledger.domain.policy import DEFAULT_LOCALE, Policy, PolicyError, parse_policy

if TYPE_CHECKING:
    from api.webhooks.refresh.apis import ApiAccess


class SettingsError(Exception):
    """A setting is invalid; the message names it and says what it must be."""


@dataclass(frozen=True)
class Settings:
    """The settings of the service; times in seconds."""

    data_dir: Path
    database_url: str | None
    secret: bytes = field(repr=False)
    policy: Policy
    alert_urls: tuple[str, ...] = field(repr=False, default=())
    webhooks: Mapping[str, WebhookSettings] = field(default_factory=dict)
    apis: "Mapping[str, ApiAccess]" = field(default_factory=dict)
    announce: Path | None = None
    witness: Path | None = None
    witness_seconds: float = 0.2
    witness_url: str | None = field(repr=False, default=None)
    require_sync: bool = False
    public_url: str | None = None
    otlp_url: str | None = None
    read_wait: float = 2.0
    max_body: int = 1024 * 1024
    max_waiting: int = 4096
    door: DoorLimits = field(default_factory=DoorLimits)
    per_key: PerKey = field(default_factory=PerKey)

    @property
    def witness_path(self) -> Path:
        """The witness file: LEDGER_WITNESS, else in the data folder, outside PostgreSQL's folder.

        For LEDGER_DATABASE_URL the file's name depends on the database's location, since another
        database is not a restored copy of this one.
        """
        if self.witness is not None:
            return self.witness
        if self.database_url is None:
            return self.data_dir / "witness.json"
        return self.data_dir / f"witness-{_place_of(self.database_url)}.json"


def _place_of(database_url: str, name: str = "LEDGER_DATABASE_URL") -> str:
    """A short file name for a database URL's location, without its user and password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(database_url)
    except ProgrammingError as error:
        raise SettingsError(
            f"{name} is not a PostgreSQL URL; one is written postgresql://user@host:5432/database"
        ) from error
    place = "\0".join(str(parts.get(name) or "") for name in ("host", "port", "dbname"))
    return hashlib.sha256(place.encode()).hexdigest()[:12]


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings from the environment and the file that LEDGER_CONFIG names.

    The default file is `ledger.toml` in the working folder. Raises SettingsError, also for names
    that begin with `LEDGER_` and are no setting. No secret is made here: it is empty where there is
    none yet.
    """
    env = NotedEnvironment(os.environ if environ is None else environ)
    config = _config_file(env)
    data_dir = Path(env.get("LEDGER_DATA_DIR") or default_data_dir()).expanduser()
    witness = env.get("LEDGER_WITNESS")
    policy = _policy(env, config)
    try:
        door, per_key = read_door(env), read_per_key(env)
    except BadBound as error:
        raise SettingsError(str(error)) from None
    settings = Settings(
        data_dir=data_dir,
        database_url=_postgres_url(env, "LEDGER_DATABASE_URL"),
        secret=b"",
        policy=policy,
        alert_urls=tuple((env.get("LEDGER_ALERT_URLS") or "").replace(",", " ").split()),
        webhooks=_webhooks(env, policy.time_zone),
        apis=_apis(env),
        announce=_announce(env),
        witness=Path(witness) if witness else None,
        witness_seconds=_witness_seconds(env),
        witness_url=_postgres_url(env, "LEDGER_WITNESS_URL"),
        require_sync=_require_sync(env),
        public_url=_http_url(env, "LEDGER_PUBLIC_URL", "https://ledger.example.com"),
        otlp_url=_http_url(env, "LEDGER_OTLP_URL", "http://collector:4318"),
        door=door,
        per_key=per_key,
    )
    strange = misspelt(env, env.asked | {"LEDGER_SECRET"})
    if strange:
        raise SettingsError("; ".join(strange) + "; docs/settings.md lists the settings")
    return replace(settings, secret=_secret(env, data_dir))


def _postgres_url(env: Mapping[str, str], name: str) -> str | None:
    url = env.get(name)
    if not url:
        return None
    _place_of(url, name)
    return url


def _require_sync(env: Mapping[str, str]) -> bool:
    text = env.get("LEDGER_REQUIRE_SYNC") or "off"
    if text not in ("on", "off"):
        raise SettingsError("LEDGER_REQUIRE_SYNC must be on or off")
    return text == "on"


def _http_url(env: Mapping[str, str], name: str, example: str) -> str | None:
    """A URL without a slash at its end, None where it is not set."""
    text = env.get(name)
    if not text:
        return None
    parts = urlsplit(text)
    strange = parts.query or parts.fragment or not text.isascii() or set(text) & set(' "\\<>')
    if parts.scheme not in ("http", "https") or not parts.hostname or strange:
        raise SettingsError(f"{name} is a URL such as {example}")
    return text.rstrip("/")


def _witness_seconds(env: Mapping[str, str]) -> float:
    """How far the witness may lag; 0: it is written before each answer."""
    text = env.get("LEDGER_WITNESS_SECONDS") or "0.2"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 60:
        raise SettingsError("LEDGER_WITNESS_SECONDS is a number from 0 to 60, such as 0.2")
    return seconds


def _announce(env: Mapping[str, str]) -> Path | None:
    """The file to write once the server answers; its folder must exist at start-up."""
    name = env.get("LEDGER_ANNOUNCE")
    if not name:
        return None
    path = Path(name)
    if not path.parent.is_dir():
        raise SettingsError(f"LEDGER_ANNOUNCE: there is no folder {path.parent}")
    return path


def default_data_dir() -> str:
    """The default data folder: a system folder for root, else the user's data folder."""
    if os.geteuid() == 0:
        return "/var/lib/send-ledger/ledger"
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return f"{base}/send-ledger"


def _config_path(env: Mapping[str, str]) -> Path:
    return Path(env.get("LEDGER_CONFIG") or "ledger.toml")


def _config_file(env: Mapping[str, str]) -> dict[str, Any]:
    named = env.get("LEDGER_CONFIG")
    path = _config_path(env)
    if not path.exists():
        if named:
            raise SettingsError(f"LEDGER_CONFIG names {path}, which does not exist")
        return {}
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    unknown = set(config) - {"policy"}
    if unknown:
        raise SettingsError(f"{path}: unknown tables {sorted(unknown)}; known is [policy]")
    if not isinstance(config.get("policy", {}), dict):
        raise SettingsError(f"{path}: policy is a table, written [policy]")
    return config


def _policy(env: Mapping[str, str], config: dict[str, Any]) -> Policy:
    """The policy; an error names the variable or the file of the setting. Raises SettingsError."""
    given = _overrides(env)
    for name, value in given.items():
        try:
            parse_policy({name: value})
        except PolicyError as error:
            why = str(error).removeprefix(f"policy.{name}").lstrip(":")
            raise SettingsError(f"LEDGER_{name.upper()}: {why.strip()}") from None
    try:
        policy = parse_policy(config.get("policy", {}) | given)
    except PolicyError as error:
        raise SettingsError(f"{_config_path(env)}: {error}") from None
    if policy.locale == DEFAULT_LOCALE:
        return policy
    # Late, for the sake of the command line: Babel takes its time to load.
    from ledger.application.locales import UnknownLocale, locale_named

    try:
        locale_named(policy.locale)
    except UnknownLocale as error:
        raise SettingsError(f"{_config_path(env)}: policy.locale: {error}") from error
    return policy


def _overrides(env: Mapping[str, str]) -> dict[str, str]:
    """What LEDGER_TIME_ZONE and LEDGER_MESSAGE_ID_DOMAIN say in place of the `[policy]` table."""
    names = ("time_zone", "message_id_domain")
    given = {name: env.get(f"LEDGER_{name.upper()}") for name in names}
    return {name: value for name, value in given.items() if value}


def _secret(env: Mapping[str, str], data_dir: Path) -> bytes:
    """LEDGER_SECRET, or that of the file in the data folder; empty where there is neither yet."""
    given = env.get("LEDGER_SECRET")
    if given:
        if len(given) < 16:
            raise SettingsError("LEDGER_SECRET needs at least 16 characters")
        return given.encode()
    path = data_dir / "secret"
    try:
        return path.read_text(encoding="ascii").strip().encode() if path.exists() else b""
    except OSError as error:
        raise SettingsError(
            f"LEDGER_SECRET is not set and {path} cannot be used: {error}"
        ) from error


def new_secret(data_dir: Path) -> bytes:
    """The secret of a new ledger, kept in a 0600 file outside PostgreSQL's folder (D18).

    Raises SettingsError where the folder cannot be used.
    """
    path = data_dir / "secret"
    try:
        return kept_secret(path, lambda: secrets.token_hex(32)).encode()
    except OSError as error:
        raise SettingsError(
            f"LEDGER_SECRET is not set and {path} cannot be used: {error}"
        ) from error


def kept_secret(path: Path, make: Any) -> str:
    """The text of a 0600 file; if it is missing, `make()` gives the text. Raises OSError."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text(encoding="ascii").strip()


def _apis(env: NotedEnvironment) -> "dict[str, ApiAccess]":
    """The provider APIs that are configured."""
    if not env.has_any("_API_"):
        return {}
    # Late, as are the providers below: a command line without webhooks starts faster.
    from api.webhooks.refresh.apis import BadApiSetting, read_api_access

    try:
        return read_api_access(env)
    except BadApiSetting as error:
        raise SettingsError(str(error)) from None


def _webhooks(env: NotedEnvironment, time_zone: str) -> dict[str, WebhookSettings]:
    """The webhook endpoints with credentials; all others answer 404."""
    if not env.has_any("LEDGER_WEBHOOK_"):
        return {}
    from api.webhooks.registry import provider_names

    found: dict[str, WebhookSettings] = {}
    for name in provider_names():
        prefix = f"LEDGER_WEBHOOK_{name.upper()}_"
        given = tuple(s.strip() for s in env.get(prefix + "SECRET", "").split(",") if s.strip())
        if not given:
            continue
        mode = env.get(prefix + "MODE", "live")
        if mode not in ("live", "test"):
            raise SettingsError(f"{prefix}MODE must be live or test")
        reminders = env.get(prefix + "REMINDERS", "on")
        if reminders not in ("on", "off"):
            raise SettingsError(f"{prefix}REMINDERS must be on or off")
        own = env.get(prefix + "PREFIX", "")
        if len(own) > 64 or not own.isprintable():
            raise SettingsError(f"{prefix}PREFIX has at most 64 printable characters")
        found[name] = WebhookSettings(
            secrets=given,
            source="/".join(filter(None, (name, mode if mode == "test" else "", own))),
            mode=mode,
            prefix=own,
            reminders=reminders == "on",
            time_zone=time_zone,
        )
    return found
