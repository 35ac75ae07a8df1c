"""The door: what a connection may cost before and while its requests are answered."""
