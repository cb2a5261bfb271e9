"""Asks addresses in numbers, in all spellings: the host's loopback and the metadata service."""

import urllib.request

from attack import attempt, facts, finish

loopback = ("127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "0.0.0.0")
metadata = ("169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "[fd00:ec2::254]")
for number in (*loopback, *metadata):
    for port in ("", f":{facts['port']}"):
        with attempt(f"asking {number}{port}"):
            urllib.request.urlopen(f"http://{number}{port}/", timeout=10).read()
finish()
