"""The HTTP interface: routes, responses, authentication, the hot path, the OpenAPI document."""
