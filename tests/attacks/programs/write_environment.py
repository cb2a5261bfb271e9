"""Plants code in the environment, so that later runs would load it."""

from pathlib import Path

from attack import attempt, facts, finish

folder = Path(facts["site_packages"])
with attempt("adding a .pth file"):
    (folder / "evil.pth").write_text("import evil")
with attempt("changing a module"):
    (folder / "module.py").write_text("evil = True")
with attempt("replacing a module"):
    (folder / "module.py").rename(folder / "other.py")
finish()
