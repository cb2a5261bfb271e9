"""Leaves links to the host's files among its results, for the collector to follow."""

from pathlib import Path

from attack import facts, finish

out = Path(facts["out"])
(out / "metrics.json").symlink_to(facts["secret_file"])
(out / "folder").symlink_to(facts["secret_folder"])
(out / "relative").symlink_to("../../../../../../../../" + facts["secret_file"].lstrip("/"))
(out / "sound.txt").write_text("sound")
finish()
