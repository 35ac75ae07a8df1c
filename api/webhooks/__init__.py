"""Webhooks of billing and mail providers: verified, translated into facts, applied or stored."""
