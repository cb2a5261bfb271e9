"""YAML read into a frozen model, with errors that name the file, the line and the nearest key."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from repro_pipeline.choices import nearest, short
from repro_pipeline.errors import FileFormatError
from repro_pipeline.frozen import Misfit
from repro_pipeline.yamltext import LARGEST, Document, Location, read_yaml, too_large

Model = TypeVar("Model", bound=BaseModel)

_MOST = 20
"""Faults that are told at once."""


def load_model(path: Path, model: type[Model]) -> Model:
    """Read a YAML (or JSON) file as `model`.

    Raises FileFormatError with one line per fault, each with its line number, when the file is
    missing, is no YAML (see `read_yaml`), or does not follow the model.
    """
    return parse_model(read_text(path), model, name=str(path))


def read_text(path: Path) -> str:
    """The text of such a file. Raises FileFormatError where it is missing, too large or no UTF-8."""
    name = str(path)
    if path.exists() and not path.is_file():
        raise FileFormatError("is no file.", where=name)
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise FileFormatError("no such file.", where=name) from None
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=name) from None
    if len(content) > LARGEST:
        raise too_large(name)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            "is not UTF-8.", where=f"{name}:{line}", hint="Save it in that encoding."
        ) from None


def parse_model(text: str, model: type[Model], *, name: str) -> Model:
    """Like `load_model`, from text; `name` stands for the file in errors.

    Kinds are strict: a number is no text, a text no number, and true is not 1.
    """
    document = read_yaml(text, name)
    if not isinstance(document.value, dict):
        alone = isinstance(document.value, str)
        raise FileFormatError(
            "must be a mapping of keys to values.",
            where=f"{name}:{document.line(())}",
            hint="Write a colon and a space between a key and its value." if alone else "",
        )
    try:
        return model.model_validate_json(json.dumps(document.value), strict=True)
    except ValidationError as error:
        faults = _faults(error.errors(include_url=False), document, model)
    told = [f"{name}:{line}: {sentence}" for line, sentence in faults[:_MOST]]
    if len(faults) > _MOST:
        told.append(f"{name}: There are more faults than these.")
    raise FileFormatError("\n".join(told))


@dataclass(frozen=True)
class _Unknown:
    """A key that the model does not know where it stands."""

    key: str
    here: Sequence[str]
    """The keys that go with the others of its mapping."""
    elsewhere: Sequence[str] = ()
    """Keys of the other forms that the mapping could have."""

    @property
    def near(self) -> str | None:
        if self.key in self.elsewhere:
            return None
        return nearest(self.key, self.here) or nearest(self.key, self.elsewhere)

    def sentence(self, path: str) -> str:
        if self.near:
            return f"unknown key '{path}'. Did you mean '{self.near}'?"
        if self.key in self.elsewhere:
            return f"the key '{path}' does not go with the others. Here go: {_listed(self.here)}."
        return f"unknown key '{path}'. Known keys: {_listed({*self.here, *self.elsewhere})}."

    def explains_missing(self, key: str) -> bool:
        """Whether the mended typo would also supply a key that is missed, or make it needless."""
        return self.near is not None and (self.near == key or self.near not in self.here)


def _faults(errors: list, document: Document, model: type[BaseModel]) -> list[tuple[int, str]]:
    """Line and sentence of each fault, in the file's order; consequences of others are left out."""
    by_place: dict[Location, list] = {}
    for error in errors:
        by_place.setdefault(_place(error, document.value), []).append(error)
    places = sorted(by_place, key=document.line)[: 2 * _MOST]
    unknown = {
        place: found for place in places if (found := _unknown(by_place[place][0], place, model))
    }
    faults = []
    for place in places:
        kinds = {error["type"] for error in by_place[place]}
        neighbours = [u for at, u in unknown.items() if at[:-1] == place[:-1]]
        if kinds == {"missing"} and any(u.explains_missing(str(place[-1])) for u in neighbours):
            continue
        if kinds == {"too_short"} and any(_is_below(at, place) for at in places):
            continue  # its items were counted without the faulty ones
        path = _path_of(place)
        if place in unknown:
            sentence = unknown[place].sentence(path)
        elif "missing" in kinds:
            sentence = f"the key '{path}' is missing."
        else:
            sentence = _sentence(by_place[place], document.written.get(place))
            sentence = f"{path}: {sentence}" if path else sentence
        faults.append((document.line(place), sentence))
    return faults


def _is_below(place: Location, other: Location) -> bool:
    return len(place) > len(other) and place[: len(other)] == other


def _place(error: Any, value: Any) -> Location:
    """Where an error stands in the file: pydantic's location without the names of unions' forms."""
    place: Location = ()
    for part in error["loc"]:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value, place = value[part], (*place, part)
    if error["type"] == "missing":
        return (*place, error["loc"][-1])
    own = error.get("ctx", {}).get("error")
    return (*place, *own.place) if isinstance(own, Misfit) else place


def _path_of(place: Location) -> str:
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


_KINDS = {
    "a text": ("string_type",),
    "a whole number": ("int_type", "int_parsing", "int_from_float"),
    "a number": ("float_type", "float_parsing"),
    "true or false": ("bool_type", "bool_parsing"),
    "a list": ("tuple_type", "list_type"),
    "a mapping": ("model_type", "model_attributes_type", "dict_type"),
}
_WANTED = {kind: name for name, kinds in _KINDS.items() for kind in kinds}


def _sentence(errors: Sequence[Any], written: str | None) -> str:
    """What is wrong with a value: the ways to be right of all its forms, and what it is."""
    needs = []
    for error in errors:
        message = error["msg"].removeprefix("Value error, ").rstrip(".")
        name = _WANTED.get(error["type"])
        if error["type"] == "too_short" and error["ctx"]["actual_length"] == 0:
            return "must not be empty."
        needs.append(f"must be {name}" if name else re.sub(r"^\w+ should ", "must ", message))
    need = " or ".join(dict.fromkeys(needs)).replace(" or must be ", " or ")
    if not need.startswith("must ") or errors[0]["type"] == "too_short":
        return f"{need}."
    value = errors[0]["input"]
    sentence = f"{need}, not {described(value, written)}."
    if "a text" in need and written is not None:
        return f"{sentence} Write it in quotes: '{written}'."
    if needs == ["must be a list"] and isinstance(value, str):
        return f"{sentence} A list is written [one, two]."
    return sentence


def described(value: Any, written: str | None = None) -> str:
    """What a value is, in words of one line: its kind, and a text or number as far as it is short."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if isinstance(value, str):
        return f"the text '{short(value)}'"
    if value is None:
        return "nothing"
    shown = short(written or str(value))
    return shown if isinstance(value, bool) else f"the number {shown}"


def _unknown(error: Any, place: Location, model: type[BaseModel]) -> _Unknown | None:
    if error["loc"][-1:] == ("[key]",):
        return _Unknown(str(place[-1]), re.findall("'([^']*)'", error["ctx"].get("expected", "")))
    if error["type"] != "extra_forbidden":
        return None
    here = _keys_at(error["loc"][:-1], model)
    elsewhere = [key for key in _keys_at(place[:-1], model) if key not in here]
    return _Unknown(str(place[-1]), here, elsewhere)


def _listed(keys: Sequence[str] | set[str]) -> str:
    return ", ".join(sorted(keys))


def _keys_at(location: Location, model: type[BaseModel]) -> list[str]:
    """The keys that the model knows at a location, in all forms that the location leaves open."""
    models = [model]
    for part in location:
        if isinstance(part, int):
            continue
        form = [found for found in models if found.__name__ == part]
        fields = [_field(found, part) for found in models]
        models = form or [inner for one in fields if one for inner in _models_in(one.annotation)]
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
