"""Fills /tmp and /dev/shm beyond their caps, and looks for others."""

from attack import attempt, facts, finish

block = bytes(1 << 20)
for folder in facts["scratch_folders"]:
    with attempt(f"filling {folder}"), open(f"{folder}/repro-attack", "wb") as stream:
        for _ in range(facts["scratch_limit"] // len(block) + 2):
            stream.write(block)
            stream.flush()
finish()
