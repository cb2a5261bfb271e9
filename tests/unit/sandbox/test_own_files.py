"""What a container is given beside the policy's mounts lies where the engine of the host finds it."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.forensics.record import HOOK
from repro_pipeline.sandbox import probe
from repro_pipeline.sandbox.policy import Mount, SandboxPolicy
from resources.docker_options import with_own_files


def test_own_programs_are_mounted_from_the_run_s_folder(tmp_path: Path):
    """A pipeline in a container: the engine sees the project, and not the files of its image."""
    data, folder = tmp_path / "data.csv", tmp_path / "files"
    data.write_text("1\n")
    folder.mkdir()
    program = Mount(source=Path(probe.__file__), target=Path("/probe.py"))
    policy = SandboxPolicy(mounts=(program, HOOK, Mount(source=data, target=Path("/data.csv"))))
    found = {str(m.target): m.source for m in with_own_files(policy, 1000, folder).mounts}
    assert found.pop("/data.csv") == data
    assert {"/probe.py", str(HOOK.target), "/etc/passwd"} <= set(found)
    assert all(source.is_relative_to(folder) for source in found.values())
    assert found["/probe.py"].read_bytes() == Path(probe.__file__).read_bytes()
    names = {path.name for path in HOOK.source.iterdir()} - {"__pycache__"}
    assert {path.name for path in found[str(HOOK.target)].iterdir()} == names
