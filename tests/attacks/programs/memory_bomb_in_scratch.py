"""Takes memory by files in the memory file systems."""

with open("/dev/shm/a", "wb") as first, open("/tmp/b", "wb") as second:
    while True:
        for stream in (first, second):
            stream.write(bytes(1 << 20))
            stream.flush()
