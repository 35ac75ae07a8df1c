"""What /metrics shows, and that the dashboard, the rules and the page speak of nothing else."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.service import Service

_ROOT = Path(__file__).resolve().parents[2]
_RULES = _ROOT / "deploy" / "prometheus-rules.yml"
_DASHBOARD = json.loads((_ROOT / "deploy" / "grafana-dashboard.json").read_text("utf-8"))
_PAGE = (_ROOT / "docs" / "guides" / "watching.md").read_text("utf-8")
_OURS = re.compile(r"\b(?:send_ledger|process)_\w+")
_MATCHED = re.compile(r"(\w+)\{([^}]*)\}")
_OF_PROMETHEUS = {"job", "instance"}
_SCRAPED = {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"}


def _expressions() -> list[str]:
    """Every PromQL expression of the rules and the dashboard."""
    (group,) = yaml.safe_load(_RULES.read_text("utf-8"))["groups"]
    of_rules = [rule["expr"] for rule in group["rules"]]
    return of_rules + [t["expr"] for panel in _DASHBOARD["panels"] for t in panel["targets"]]


def _metrics(service: Service) -> tuple[set[str], dict[str, set[str]]]:
    """The names that /metrics has, as they are queried, and the labels of those with samples."""
    text = service.without_key().call("GET", "/metrics").ok().text
    names: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        ends = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names |= {name + end for end in ends}
    labels: dict[str, set[str]] = {}
    for name, inside in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', inside))
    return names, labels


@pytest.fixture(scope="module")
def metrics(shared_service: Service) -> tuple[set[str], dict[str, set[str]]]:
    """What /metrics shows once the process has looked at what stands."""
    shared_service.ask("message", thread_id="watch", intent="x", customer_id="watch")
    shared_service.get("/v1/due").ok()
    until = time.monotonic() + 20
    while "send_ledger_recovery_mode" not in (found := _metrics(shared_service))[1]:
        assert time.monotonic() < until, "the process never looked"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("expression", _expressions())
def test_every_expression_is_of_metrics_that_there_are(
    expression: str, metrics: tuple[set[str], dict[str, set[str]]]
) -> None:
    names, labels = metrics
    asked = set(_OURS.findall(expression))
    assert asked <= names, f"{asked - names} of no metric"
    for name, matchers in _MATCHED.findall(expression):
        if name in labels:
            wanted = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) - _OF_PROMETHEUS
            assert wanted <= labels[name], (name, wanted)
    for by in re.findall(r"by \(([^)]*)\)", expression):
        known = set().union({"le"}, *(labels.get(name, set()) for name in asked))
        if any(name in labels for name in asked):
            assert {label.strip() for label in by.split(",")} <= known, (by, asked)


def test_the_page_names_every_metric_and_no_other(
    metrics: tuple[set[str], dict[str, set[str]]],
) -> None:
    ours = {name for name in metrics[0] if name.startswith("send_ledger_")}
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in ours}
    named = set(re.findall(r"`(send_ledger_\w+)", _PAGE))
    assert named == families


def test_the_rules_are_rules() -> None:
    (group,) = yaml.safe_load(_RULES.read_text("utf-8"))["groups"]
    names = [rule.get("alert") or rule["record"] for rule in group["rules"]]
    assert len(set(names)) == len(names)
    for rule in group["rules"]:
        if "alert" in rule:
            assert rule["labels"]["severity"] in ("page", "ticket")
            assert set(rule["annotations"]) == {"summary", "description"}
            assert f"`{rule['alert']}`" in _PAGE
        else:
            assert rule["record"].startswith("send_ledger:")
    recorded = {rule["record"] for rule in group["rules"] if "record" in rule}
    used = set(re.findall(r"\bsend_ledger:[\w:]+", " ".join(_expressions())))
    assert used <= recorded


def test_the_dashboard_is_one_of_grafana() -> None:
    assert {"title", "uid", "schemaVersion", "panels", "templating", "time"} <= _DASHBOARD.keys()
    panels: list[dict[str, Any]] = _DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["targets"], panel["title"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"


def test_decisions_and_latency_are_by_sender_and_route(service: Service, name: str) -> None:
    sender = service.client("send")
    sender.ask("notification", customer_id=name, event_type="x", event_id="1").ok(201)
    sender.ask("notification", customer_id=name, event_type="x", event_id="1").no(
        409, "permit_held"
    )
    sender.redeem("00000000-0000-4000-8000-000000000000").no(404, "unknown_permit")
    service.get(f"/v1/customers/{name}/windows").ok()
    service.call("GET", f"/nothing/{name}").no(404, "not_found")
    text = service.without_key().call("GET", "/metrics").ok().text
    labels = f'code="granted",kind="notification",sender="{sender.name}"'
    assert f"send_ledger_decisions_total{{{labels}}} 1.0" in text
    for method, route in (
        ("POST", "/v1/permits"),
        ("POST", "/v1/permits/{permit_id}/redeem"),
        ("GET", "/v1/customers/{customer_id}/windows"),
        ("GET", "none"),
    ):
        counted = rf'^send_ledger_request_seconds_count{{method="{method}",route="(.*)"}} (\S+)$'
        found = {r: float(n) for r, n in re.findall(counted, text, re.MULTILINE)}
        assert found[route] >= 1, found
    assert name not in text
    for metric in _SCRAPED:
        assert re.search(rf"^{metric} \d", text, re.MULTILINE), metric
