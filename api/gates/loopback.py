"""Is an address this machine's own?"""

import ipaddress


def is_this_machine(host: str) -> bool:
    """Does the name or address stand for the machine itself?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
