"""YAML read into a frozen model, with errors that name the file, the line and the nearest key."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from repro_pipeline.errors import FileFormatError

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]


def load_model(path: Path, model: type[Model]) -> Model:
    """Read a YAML (or JSON) file as `model`.

    Raises FileFormatError with one line per fault, each with its line number, when the file is
    missing, is no YAML, repeats a key, or does not follow the model.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileFormatError("no such file.", where=str(path)) from None
    except (UnicodeDecodeError, OSError) as error:
        raise FileFormatError(f"cannot be read: {error}.", where=str(path)) from None
    return parse_model(text, model, name=str(path))


def parse_model(text: str, model: type[Model], *, name: str) -> Model:
    """Like `load_model`, from text; `name` stands for the file in errors."""
    value, lines = _parse(text, name)
    if not isinstance(value, dict):
        raise FileFormatError("must be a mapping of keys to values.", where=f"{name}:1")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = [_fault(item, model, lines) for item in error.errors()]
    faults.sort()
    sentences = [f"{name}:{line}: {sentence}" for line, sentence in faults]
    raise FileFormatError("\n".join(sentences))


def _parse(text: str, name: str) -> tuple[Any, dict[Location, int]]:
    lines: dict[Location, int] = {}
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _index(node, (), lines, name, seen=set())
        return yaml.safe_load(text), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise FileFormatError(
            f"is no valid YAML: {error.problem}.", where=f"{name}:{line}"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FileFormatError(f"is no valid YAML: {error}.", where=f"{name}:1") from None


def _index(
    node: yaml.Node, location: Location, lines: dict[Location, int], name: str, seen: set[int]
) -> None:
    """Note the line of each value; refuse repeated keys and values that hold themselves."""
    lines[location] = node.start_mark.line + 1
    if id(node) in seen:
        line = node.start_mark.line + 1
        raise FileFormatError("an alias refers to itself.", where=f"{name}:{line}")
    if isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in keys:
                raise FileFormatError(f"the key '{key}' stands twice.", where=f"{name}:{line}")
            keys.add(key)
            _index(value_node, (*location, key), lines, name, seen | {id(node)})
            lines[(*location, key)] = line
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            _index(item, (*location, position), lines, name, seen | {id(node)})


def _fault(item: Any, model: type[BaseModel], lines: dict[Location, int]) -> tuple[int, str]:
    location: Location = item["loc"]
    line = _line_of(location, lines)
    path = _path_of(location)
    if item["type"] == "extra_forbidden":
        return line, _unknown_key(location, model)
    if item["type"] == "missing":
        return line, f"the key '{path}' is missing."
    message = item["msg"].removeprefix("Value error, ").rstrip(".")
    message = message.replace("valid tuple", "list").replace("valid dictionary", "mapping")
    return line, f"{path}: {message}." if path else f"{message}."


def _line_of(location: Location, lines: dict[Location, int]) -> int:
    """The line of the longest known part of a pydantic location (unions add parts of their own)."""
    known = tuple(part for part in location if _is_key(part))
    for end in range(len(known), -1, -1):
        if known[:end] in lines:
            return lines[known[:end]]
    return 1


def _path_of(location: Location) -> str:
    path = ""
    for part in filter(_is_key, location):
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _is_key(part: str | int) -> bool:
    """Whether a part of a pydantic location is a key of the file, not the name of a union's arm."""
    return isinstance(part, int) or not (part[:1].isupper() or "[" in part)


def _unknown_key(location: Location, model: type[BaseModel]) -> str:
    key, known = str(location[-1]), _keys_at(location[:-1], model)
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"Known keys: {', '.join(sorted(known))}."
    return f"unknown key '{_path_of(location)}'. {hint}"


def _keys_at(location: Location, model: type[BaseModel]) -> list[str]:
    """The keys that the model knows at a location of the file."""
    models: list[type[BaseModel]] = [model]
    for part in location:
        if isinstance(part, int):
            continue
        if not _is_key(part):
            models = [found for found in models if found.__name__ == part] or models
            continue
        fields = [_field(found, part) for found in models]
        models = [inner for field in fields if field for inner in _models_in(field.annotation)]
    return [field.alias or name for found in models for name, field in found.model_fields.items()]


def _field(model: type[BaseModel], key: str) -> Any:
    for name, field in model.model_fields.items():
        if key in (field.alias, name):
            return field
    return None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]
