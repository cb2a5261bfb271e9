"""Dependencies from a conda environment file, as far as the package index has them."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from repro_pipeline.environment.imports import name_table
from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.requirement_lines import parse_entry, read_text
from repro_pipeline.errors import BuildError

_SPEC = re.compile(
    r"(?:[\w.-]+(?:/[\w-]+)?::)?(?P<name>[\w.-]+)\s*(?P<version>[^=\s].*|=.*)?$", re.ASCII
)


def read_environment_yml(path: Path, file: str) -> Requirements | None:
    """The `pip` part, and the plain names with their versions; None without dependencies.

    Raises BuildError naming the packages that only conda or the system has.
    """
    text = read_text(path, file)
    entries = _dependencies(text, file)
    if entries is None:
        return None
    table = name_table()
    python, lines, notes, missing = None, [], [], []
    for entry, line in entries:
        if isinstance(entry, list):
            lines += [str(parse_entry(one, file, number).requirement) for one, number in entry]
            continue
        name, version, build = _split(entry, f"{file}:{line}")
        if name == "python":
            python = _python(version)
        elif name in table["conda_only"]["interpreter"] + table["conda_only"]["selectors"]:
            notes.append(f"{file}:{line}: '{name}' was left out: it comes with the interpreter.")
        elif _is_system(name, table):
            missing.append(f"{name} (line {line})")
        else:
            lines.append(_pip_requirement(table["conda"].get(name, name), version, file, line))
            if build:
                notes.append(f"{file}:{line}: the build '{build}' of '{name}' was left out.")
    if missing:
        raise BuildError(
            f"only conda or the system has: {', '.join(missing)}.",
            where=file,
            hint="Use an image (docker runner) that holds them, or write a requirements.txt "
            "if the experiment runs without them.",
        )
    return Requirements(
        kind="environment_yml", file=file, python=python, lines=tuple(lines), notes=tuple(notes)
    )


def _dependencies(text: str, file: str) -> list[tuple[object, int]] | None:
    """The entries of `dependencies` with their lines; a `pip` part is a list of such pairs."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        reason = getattr(error, "problem", None) or error
        raise BuildError(f"is no valid YAML: {reason}.", where=file) from None
    if not isinstance(root, yaml.MappingNode):
        return None
    parts = {key.value: value for key, value in root.value}
    listed = parts.get("dependencies")
    if listed is None:
        return None
    if not isinstance(listed, yaml.SequenceNode):
        raise BuildError("`dependencies` must be a list.", where=_place(listed, file))
    return [(_entry(node, file), node.start_mark.line + 1) for node in listed.value]


def _entry(node: yaml.Node, file: str) -> str | list[tuple[str, int]]:
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        key, value = node.value[0]
        if key.value == "pip" and isinstance(value, yaml.SequenceNode):
            return [(item.value, item.start_mark.line + 1) for item in value.value]
    raise BuildError("must be a package, or `pip:` with a list.", where=_place(node, file))


def _split(spec: str, place: str) -> tuple[str, str, str]:
    """Name, version part and build of a conda spec (`numpy=1.19.2=py37h_0`, `numpy >=1.19`)."""
    match = _SPEC.fullmatch(spec.strip())
    if not match:
        raise BuildError(f"'{spec}' is no conda package.", where=place)
    version = (match["version"] or "").strip()
    exact = re.fullmatch(r"(==?)([^=<>!~,|\s]+)(?:[=\s]([^=<>!~,|\s]+))?", version)
    if exact and exact[3]:
        return match["name"].lower(), f"=={exact[2]}", exact[3]
    return match["name"].lower(), version, ""


def _python(version: str) -> str | None:
    """Conda's version of Python as a version or a specifier; None where it names none."""
    exact = re.fullmatch(r"={1,2}\s*([\d.]+?)(?:\.\*)?", version)
    return exact[1] if exact else version.replace(" ", "") or None


def _pip_requirement(name: str, version: str, file: str, line: int) -> str:
    """Conda's `=1.19` admits every 1.19.x; its `==` and comparisons mean the same as in pip."""
    fuzzy = re.fullmatch(r"=\s*([\w.]+?)(?:\.?\*)?", version)
    if fuzzy:
        version = f"=={fuzzy[1]}.*"
    elif re.match(r"\d", version):
        version = f"=={version}"
    return str(parse_entry(name + version.replace(" ", ""), file, line).requirement)


def _is_system(name: str, table: dict) -> bool:
    if name in table["conda"]:
        return False
    return any(
        name == start or name.startswith(start if start.endswith("-") else f"{start}-")
        for start in table["conda_only"]["system"]
    ) or bool(re.match(r"_|lib(?!rosa)|r-", name))


def _place(node: yaml.Node, file: str) -> str:
    return f"{file}:{node.start_mark.line + 1}"
