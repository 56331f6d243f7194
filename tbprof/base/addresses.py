"""Addresses of the internet protocol."""

from __future__ import annotations


def is_ip_address(text: str) -> bool:
    """Whether it is an IPv4 or IPv6 address, without brackets and port; False for a name."""
    import ipaddress  # takes 3 ms, and few processes need it

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_loopback(text: str) -> bool:
    """Whether only this machine can reach it: a loopback address, or `localhost`."""
    import ipaddress

    return text == "localhost" or (is_ip_address(text) and ipaddress.ip_address(text).is_loopback)
