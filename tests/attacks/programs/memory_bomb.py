"""Takes memory without end, in one process."""

hoard = []
while True:
    hoard.append(bytearray(b"x") * (8 << 20))
