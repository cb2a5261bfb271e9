"""Takes more than it may, by one large answer and by many."""

import urllib.request

from attack import breach, facts, finish

taken = 0
for path in ("large", *["some"] * 40):
    try:
        with urllib.request.urlopen(f"http://{facts['allowed_host']}/{path}", timeout=10) as answer:
            while piece := answer.read(1 << 14):
                taken += len(piece)
    except OSError:
        continue
    except Exception:  # the answer broke off
        continue
if taken > facts["egress_limit"]:
    breach(f"{taken} bytes were taken")
finish()
