"""The file in the data folder by which commands on the same machine find a running service."""

SERVICE_FILE = "service.json"
