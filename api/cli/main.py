"""The program `send-ledger`: its commands, each imported only when it runs."""

import sys

import click

from api.cli.late_group import Late, LateGroup

SECTIONS = {
    "Run a ledger": {
        "serve": Late("api.cli.service:serve_command", "Serve the HTTP interface."),
        "demo": Late(
            "api.cli.service:demo_command", "Tell the ledger's story on a throw-away ledger."
        ),
        "gate": Late(
            "api.cli.gate:gate_group", "Let programs that cannot be changed ask, by SMTP or HTTP."
        ),
        "mcp": Late("api.cli.mcp:mcp_group", "Let agents ask, by MCP."),
        "migrate": Late("api.cli.service:migrate_command", "Bring the database to this version."),
        "keys": Late("api.cli.keys:keys_group", "Make, list and revoke API keys."),
        "projections": Late("api.cli.read_models:projections_group", "Rebuild read models."),
        "analytics": Late("api.cli.analytics:analytics_group", "Let analysts ask in SQL."),
        "export": Late(
            "api.cli.exports:export_group", "Take tables away as files, and prove them."
        ),
        "audit": Late(
            "api.cli.audit:audit_group", "Show that the log is what was written, and sign its end."
        ),
        "clock": Late("api.cli.clock:clock_group", "Let granting go on after a jump of the clock."),
    },
    "Look": {
        "status": Late(
            "api.cli.status:status_command", "May mails go out, and what waits for somebody?"
        ),
        "doctor": Late(
            "api.cli.doctor:doctor_command",
            "What is wrong with the running ledger, and what to do.",
        ),
        "find": Late("api.cli.find:find_command", "What has this address, Message-ID or id?"),
        "due": Late("api.cli.read_models:due_command", "What is newly due, by customer."),
        "permits": Late(
            "api.cli.permits:permits_command",
            "List permits: --state unknown is the work queue.",
        ),
        "customer": Late(
            "api.cli.customers:customer_command",
            "A customer: breaker, windows, addresses, debts.",
        ),
        "invoice": Late(
            "api.cli.customers:invoice_command", "An invoice: what is owed, and its stages."
        ),
        "decisions": Late(
            "api.cli.decisions:decisions_command",
            "List decisions: why did this customer get no mail?",
        ),
        "report": Late("api.cli.reports:report_group", "Say what the ledger did in a time."),
        "explain": Late(
            "api.cli.explain:explain_command", "Why a decision was taken, guard by guard."
        ),
    },
    "Act": {
        "pause": Late("api.cli.pauses:pause_command", "Stop mails now."),
        "guard-check": Late(
            "api.cli.pauses:guard_check_command",
            "Try the guard, with a customer who does not exist.",
        ),
        "resume": Late("api.cli.pauses:resume_command", "Let mails go on, after a guard check."),
        "incident": Late(
            "api.cli.incidents:incident_group",
            "Declare an incident, see whom it reached, apologise, report, close.",
        ),
        "breakers": Late("api.cli.breakers:breakers_group", "List and reset open breakers."),
        "alerts": Late("api.cli.alerts:alerts_group", "List and acknowledge alerts."),
        "outcome": Late("api.cli.permits:outcome_command", "Say what became of a permit's mail."),
        "hold": Late(
            "api.cli.customers:hold_command",
            "Hold mail back: of a customer, an invoice, a thread, an address.",
        ),
        "release": Late(
            "api.cli.customers:release_command",
            "Let mail go to addresses again after a bounce or complaint.",
        ),
        "webhooks": Late(
            "api.cli.webhooks:webhooks_group", "Webhook bodies that could not be used."
        ),
        "sends": Late("api.cli.sends:sends_group", "Import mails that went out past the ledger."),
        "erase": Late("api.cli.audit:erase_command", "Remove a customer's addresses."),
    },
}


@click.command(
    cls=LateGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="send-ledger")
def main() -> None:
    """The send ledger: programs ask it before they mail a customer."""


if __name__ == "__main__":
    sys.exit(main())
