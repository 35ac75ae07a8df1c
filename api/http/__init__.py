"""The HTTP interface: routes, answers, the key of a request, the hot path, the OpenAPI document."""
