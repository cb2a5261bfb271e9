"""Starts threads without end: they count as processes."""

import threading

from attack import breach, facts, finish

done = threading.Event()
started = 0
try:
    for _ in range(4 * facts["process_limit"]):
        threading.Thread(target=done.wait).start()
        started += 1
except RuntimeError:
    pass
if started > facts["process_limit"] + 4:
    breach(f"{started} threads were started")
done.set()
finish()
