"""Tables made at random and typeset, with what stands in each of their cells.

The truth is what the generator meant, never what a reader found. The layouts are those of papers:
booktabs, full rules, no rules, one and two columns, tables across both, sideways; headers that span
columns with and without a rule below, turned headers, headers and labels of several lines; labels
beside several rows, section rows; values with ±, brackets, marks, units, signs, gaps; bold and
underlined values; narrow columns, small type, three kinds of fonts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace

import typeset

from repro_pipeline.paper.model import Table
from repro_pipeline.paper.tables import DOUBTED, column_path, normalise, row_path

Key = tuple[str, str]
"""The row's header path and the column's, each joined to one text."""


@dataclass(frozen=True)
class Value:
    """A number as printed, and its uncertainty."""

    tex: str
    value: float
    uncertainty: float | None = None


@dataclass(frozen=True)
class Typeset:
    """A table's LaTeX, and its numbers by row and column headers."""

    number: str
    tex: str
    truth: dict[Key, Value]
    layout: str
    """Its features, in words."""


@dataclass(frozen=True)
class Style:
    """How a table is set."""

    rules: str = "booktabs"
    """booktabs, full, or none"""
    values: str = "plain"
    """plain, pm, bracket, below, percent, whole, power, change"""
    spans: str = "none"
    """none, ruled (cmidrule below), bare (nothing below)"""
    labels: str = "one"
    """one, two (a second label column), middle (the first label beside several rows)"""
    sections: bool = False
    turned: bool = False
    stacked: bool = False
    """Headers of two lines."""
    wrapped: bool = False
    """Labels of two lines."""
    marks: bool = False
    best: bool = False
    gaps: bool = False
    bars: bool = False
    """Vertical rules between some columns, without full rules."""
    notes: bool = False
    """A note below the last rule."""
    shade: bool = False
    """Rows with a coloured ground."""
    remarks: bool = False
    """A last column of wrapped text."""
    counted: bool = False
    """Row labels that are numbers."""
    averages: bool = False
    """A last row below a rule of its own."""
    align: str = "c"
    separation: float = 6.0
    stretch: float = 1.0
    size: str = ""
    caption_above: bool = True
    place: str = "column"
    """column, wide (across both columns), sideways, scaled"""


METHODS = [
    "LSTM",
    "GRU",
    "Transformer",
    "ResNet-50",
    "BERT",
    "SVM",
    "Ours",
    "DropConnect",
    "Mixup",
    "AdaBoost",
    "SGD",
    "Adam",
    "GIN",
    "Random~forest",
    "Logistic~regression",
    "Label~smoothing",
    "k-NN~(k~=~5)",
    "BERT-large",
    "w/o~attention",
    "+~pre-training",
    "Naive~Bayes",
    "VGG-16",
    "U-Net",
    "GPT-2~small",
]
DATASETS = [
    "MNIST",
    "CIFAR-10",
    "SST-2",
    "QNLI",
    "IMDB",
    "Twonorm",
    "Waveform",
    "Cora",
    "PubMed",
    "ImageNet",
    "SQuAD~2.0",
    "WMT'14",
    "PTB",
]
METRICS = [
    "Acc.",
    "F1",
    "Prec.",
    "Rec.",
    "AUC",
    "BLEU",
    "MSE",
    "Time~(s)",
    "Params",
    "Error~(\\%)",
    "NLL",
    "R@1",
    "mAP",
]
GROUPS = ["Vision", "Text~data", "Graphs", "Low~resource", "Dev~set", "Test~set"]
REMARKS = ("our run", "taken from the paper of its authors", "", "best of three seeds", "n/a")
SECTIONS = ("Supervised methods", "Semi-supervised methods", "Our models", "Trained on full data")


def style(rng: random.Random) -> Style:
    """A style drawn at random, likely ones more often."""
    rules = rng.choice(["booktabs"] * 5 + ["full"] * 2 + ["none"])
    spans = rng.choice(["none", "none", "ruled", "ruled", "bare"])
    return Style(
        rules=rules,
        values=rng.choice(
            ["plain"] * 4 + ["pm", "pm", "bracket", "below", "percent", "whole", "power", "change"]
        ),
        spans="none" if rules == "full" and spans == "bare" else spans,
        labels=rng.choice(["one"] * 3 + ["two", "middle"]),
        sections=rng.random() < 0.2,
        turned=spans == "none" and rng.random() < 0.1,
        stacked=rng.random() < 0.15,
        wrapped=rng.random() < 0.1,
        marks=rng.random() < 0.25,
        best=rng.random() < 0.5,
        gaps=rng.random() < 0.3,
        bars=rules != "full" and rng.random() < 0.1,
        notes=rng.random() < 0.1,
        shade=rng.random() < 0.07,
        remarks=spans == "none" and rng.random() < 0.07,
        counted=rng.random() < 0.06,
        averages=rng.random() < 0.12,
        align=rng.choice("ccccrl"),
        separation=rng.choice([6.0, 6.0, 6.0, 4.0, 3.0, 2.0]),
        stretch=rng.choice([1.0, 1.0, 1.0, 1.15, 0.9]),
        size=rng.choice(["", "", "\\small", "\\footnotesize", "\\scriptsize"]),
        place=rng.choice(["column"] * 5 + ["wide", "sideways", "scaled"]),
    )


@dataclass
class _Writer:
    """A table being written."""

    style: Style
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    truth: dict[Key, Value] = field(default_factory=dict)


def table(number: int, style: Style, rng: random.Random, *, narrow: bool) -> Typeset:
    """A table of the given style. `narrow` keeps it within one of two columns."""
    writer = _Writer(style, rng)
    heads, columns = _columns(style, rng, narrow)
    label_columns = 1 if style.labels == "one" else 2
    _top(writer)
    for line in heads:
        writer.lines.append(_with_remark(line, "Remark", style))
    _middle(writer)
    _body(writer, columns)
    _bottom(writer)
    bar = "|" if style.rules == "full" else ""
    after_labels = "|" if style.bars else bar
    cell = f"{bar}{style.align}"
    spec = bar + bar.join("l" * label_columns) + after_labels + cell[len(bar) :]
    spec += cell * (len(columns) - 1) + bar + (f"p{{2.2cm}}{bar}" if style.remarks else "")
    tabular = "\n".join([f"\\begin{{tabular}}{{{spec}}}", *writer.lines, "\\end{tabular}"])
    tabular = f"\\{'scaled' if style.place == 'scaled' else 'fitted'}{{{tabular}}}"
    caption = f"\\caption{{{_caption(rng)}}}"
    notes = ["\\par\\footnotesize $^*$ Taken from earlier work of 2019; 3 of 5 runs."] * style.notes
    tabular = "\n".join([tabular, *notes])
    parts = [caption, "\\vspace{4pt}", tabular] if style.caption_above else [tabular, caption]
    settings = (
        f"\\setlength{{\\tabcolsep}}{{{style.separation}pt}}"
        f"\\renewcommand{{\\arraystretch}}{{{style.stretch}}}{style.size}"
    )
    environment = {"wide": "table*", "sideways": "sidewaystable"}.get(style.place, "table")
    option = "" if environment == "sidewaystable" else "[t]" if environment == "table*" else "[ht]"
    tex = "\n".join(
        [
            f"\\begin{{{environment}}}{option}\\centering{settings}",
            *parts,
            f"\\end{{{environment}}}",
        ]
    )
    return Typeset(f"Table {number}", tex, writer.truth, _describe(style))


def _with_remark(line: str, text: str, style: Style) -> str:
    return line.replace(" \\\\", f" & {text} \\\\", 1) if style.remarks else line


def _describe(style: Style) -> str:
    flags = [
        name
        for name in (
            "sections",
            "turned",
            "stacked",
            "wrapped",
            "marks",
            "gaps",
            "bars",
            "notes",
            "shade",
            "remarks",
            "counted",
            "averages",
        )
        if getattr(style, name)
    ]
    spans = [] if style.spans == "none" else [f"spans {style.spans}"]
    return " ".join(
        [style.rules, style.values, style.place, f"labels {style.labels}", *spans, *flags]
    )


def _caption(rng: random.Random) -> str:
    words = [
        "results",
        "of",
        "all",
        "methods",
        "on",
        "the",
        "held-out",
        "data",
        "mean",
        "over",
        "five",
        "runs",
        "in",
        "the",
        "setting",
        "of",
    ]
    return "Comparison of " + " ".join(rng.choices(words, k=rng.randint(3, 24))) + "."


def _columns(style: Style, rng: random.Random, narrow: bool) -> tuple[list[str], list[str]]:
    """The header lines, and each value column's header path as one text."""
    label = ["Method"] if style.labels == "one" else ["Data", "Method"]
    wide = style.values in ("pm", "bracket", "power")
    most = (2 if wide else 4) if narrow else (4 if wide else 8)
    blank = ["" for _ in label]
    if style.spans != "none":
        size = 2 if narrow or rng.random() < 0.7 else 3
        groups = rng.sample(GROUPS, max(1, min(3, most // size)))
        metrics = rng.sample(METRICS, size)
        bar = "|" if style.rules == "full" else ""
        upper = [f"\\multicolumn{{{size}}}{{c{bar}}}{{{group}}}" for group in groups]
        first = " & ".join([*blank, *upper]) + " \\\\"
        rule = ""
        if style.spans == "ruled":
            kind = "\\cline" if style.rules == "full" else "\\cmidrule(lr)"
            starts = [len(label) + 1 + size * place for place in range(len(groups))]
            rule = "".join(f"{kind}{{{start}-{start + size - 1}}}" for start in starts)
        lower = " & ".join([*label, *(metric for _ in groups for metric in metrics)]) + " \\\\"
        paths = [group + metric for group in groups for metric in metrics]
        return [first + rule, lower], paths
    names = rng.sample(METRICS if rng.random() < 0.5 else DATASETS, rng.randint(2, most))
    if style.turned:
        names = [f"{name}" for name in names]
        shown = [f"\\rotatebox{{90}}{{{name}}}" for name in names]
        return [" & ".join([*label, *shown]) + " \\\\"], names
    if style.stacked:
        second = rng.choices(["(dev)", "(test)", "score", "mean"], k=len(names))
        shown = [
            f"\\begin{{tabular}}[b]{{@{{}}c@{{}}}}{name}\\\\{tail}\\end{{tabular}}"
            for name, tail in zip(names, second, strict=True)
        ]
        paths = [name + tail for name, tail in zip(names, second, strict=True)]
        return [" & ".join([*label, *shown]) + " \\\\"], paths
    return [" & ".join([*label, *names]) + " \\\\"], names


def _body(writer: _Writer, columns: list[str]) -> None:
    style, rng = writer.style, writer.rng
    decimals = rng.choice([1, 1, 2, 2, 3])
    scale = 100 if decimals < 3 else 1
    blocks = rng.randint(2, 3) if style.labels != "one" or style.sections else 1
    data = rng.sample(DATASETS, blocks)
    sections = rng.sample(SECTIONS, blocks)
    per_block = rng.randint(2, 4) if blocks > 1 else rng.randint(3, 9)
    shared = rng.sample(METHODS, per_block)
    for block in range(blocks):
        methods = shared if style.labels != "one" else rng.sample(METHODS, per_block)
        width = len(columns) + (1 if style.labels == "one" else 2) + style.remarks
        section = ""
        if style.sections and style.labels == "one":
            section = sections[block]
            bar = "|" if style.rules == "full" else ""
            if block:
                writer.lines.append(_between(style))
            align = rng.choice(["l", "c"])
            writer.lines.append(
                f"\\multicolumn{{{width}}}{{{bar}{align}{bar}}}{{\\emph{{{section}}}}} \\\\"
            )
        elif block:
            writer.lines.append(_between(style))
        for place, method in enumerate(methods):
            name = method
            if style.wrapped and style.labels == "one" and place == 0:
                name = f"\\begin{{tabular}}[c]{{@{{}}l@{{}}}}{method}\\\\(re-run)\\end{{tabular}}"
                method += "(re-run)"
            if style.counted and style.labels == "one" and not style.wrapped:
                name = method = str(2**place)
            label = [name]
            if style.labels == "two":
                label = [data[block], name]
            elif style.labels == "middle":
                shown = _middle_label(data[block], len(methods)) if place == 0 else ""
                label = [shown, name]
            values = [_value(style, rng, decimals, scale) for _ in columns]
            row = section + (data[block] if len(label) == 2 else "") + method
            cells = _cells(writer, row, columns, values)
            shade = "\\rowcolor[gray]{0.9} " if style.shade and place % 2 else ""
            line = shade + " & ".join([*label, *cells]) + " \\\\"
            writer.lines.append(_with_remark(line, rng.choice(REMARKS), style))
            if style.rules == "full":
                partly = style.labels == "middle" and place < len(methods) - 1
                writer.lines.append(f"\\cline{{2-{width}}}" if partly else "\\hline")

    if style.averages and style.labels == "one" and not style.sections:
        values = [_value(style, rng, decimals, scale) for _ in columns]
        if style.rules == "booktabs":
            writer.lines.append("\\midrule")
        cells = _cells(writer, "Average", columns, values)
        line = " & ".join(["Average", *cells]) + " \\\\"
        writer.lines.append(_with_remark(line, "", style))
        writer.lines.append("\\hline" if style.rules == "full" else "")


def _middle_label(text: str, rows: int) -> str:
    """What multirow does: a label in the middle of rows, without height."""
    return (
        f"\\raisebox{{-{(rows - 1) / 2}\\dimexpr\\arraystretch\\dimexpr\\ht\\strutbox+\\dp\\strutbox\\relax}}"
        f"[0pt][0pt]{{{text}}}"
    )


def _between(style: Style) -> str:
    return {"booktabs": "\\midrule", "full": "", "none": ""}[style.rules]


def _cells(writer: _Writer, row: str, columns: list[str], values: list[Value]) -> list[str]:
    style, rng = writer.style, writer.rng
    best = rng.randrange(len(values)) if style.best else -1
    cells = []
    for index, (column, value) in enumerate(zip(columns, values, strict=True)):
        if style.gaps and index and rng.random() < 0.15:
            cells.append(rng.choice(["--", "", "n/a"]))
            continue
        tex = value.tex
        if style.marks and rng.random() < 0.2:
            # A raised digit at a whole number is a power, to any reader.
            digits = ["$^1$", "$^{2}$"] if style.values not in ("whole", "power") else []
            tex += rng.choice([*digits, "$^\\dagger$", "$^*$", "\\textsuperscript{a}"])
        if index == best:
            tex = f"\\textbf{{{tex}}}"
        elif style.best and rng.random() < 0.1 and "$" not in tex:
            tex = f"\\underline{{{tex}}}"
        cells.append(tex)
        writer.truth[_plain(row), _plain(column)] = value
    return cells


def _value(style: Style, rng: random.Random, decimals: int, scale: float) -> Value:
    number = round(rng.random() * scale, decimals)
    text = f"{number:.{decimals}f}"
    spread = round(rng.random() * 0.05 * scale + 10**-decimals, decimals)
    match style.values:
        case "pm":
            return Value(f"{text} $\\pm$ {spread:.{decimals}f}", number, spread)
        case "bracket":
            return Value(f"{text} ({spread:.{decimals}f})", number, None)
        case "below":
            return Value(f"{text}$_{{\\pm {spread:.{decimals}f}}}$", number, spread)
        case "percent":
            return Value(f"{text}\\%", number)
        case "whole":
            whole = rng.choice([rng.randint(1, 99), rng.randint(1000, 99999)])
            return Value(f"{whole:,}" if rng.random() < 0.5 else f"{whole}", float(whole))
        case "change":
            change = f"{rng.random() * 3:.1f}"
            return Value(f"{text} ($\\uparrow${change})", number)
        case "power":
            power = rng.randint(-6, -2)
            mantissa = round(1 + 8.9 * rng.random(), 1)
            return Value(f"${mantissa} \\times 10^{{{power}}}$", float(f"{mantissa}e{power}"))
        case _:
            sign = "$-$" if rng.random() < 0.05 else ""
            return Value(sign + text, -number if sign else number)


def _plain(tex: str) -> str:
    return tex.replace("~", " ").replace("\\", "")


def _top(writer: _Writer) -> None:
    top = {"booktabs": "\\toprule", "full": "\\hline", "none": ""}
    writer.lines.append(top[writer.style.rules])


def _middle(writer: _Writer) -> None:
    middle = {"booktabs": "\\midrule", "full": "\\hline", "none": ""}
    writer.lines.append(middle[writer.style.rules])


def _bottom(writer: _Writer) -> None:
    writer.lines.append("\\bottomrule" if writer.style.rules == "booktabs" else "")


# Documents

FONTS = ("", "", "\\renewcommand{\\familydefault}{\\sfdefault}", "\\usepackage[T1]{fontenc}")

_SENTENCES = (
    "We compare the methods on all of the data sets and report the mean over five runs.",
    "The learning rate is chosen on the development set, and the test set is used only once.",
    "As the results show, the difference between the two variants is small in most of the cases.",
    "Training takes about two hours on one machine, of which most is spent on the largest model.",
    "For a fair comparison, all of the models are given the same number of updates.",
)


def document(seed: int, tables: int = 8) -> tuple[str, list[Typeset]]:
    """A LaTeX document of prose with tables in random styles, and the tables."""
    rng = random.Random(seed)
    columns = rng.random() < 0.5
    above = rng.random() < 0.5
    made = []
    body = []
    for number in range(1, tables + 1):
        chosen = replace(style(rng), caption_above=above)
        narrow = columns and chosen.place not in ("wide", "sideways")
        made.append(table(number, chosen, rng, narrow=narrow))
        body += [_prose(rng), made[-1].tex, _prose(rng)]
        if number % 4 == 0:
            body.append("\\clearpage")
    return typeset.latex("\n\n".join(body), font=rng.choice(FONTS), columns=columns), made


def _prose(rng: random.Random) -> str:
    return " ".join(rng.choices(_SENTENCES, k=rng.randint(3, 8)))


# Against what a reader found


@dataclass(frozen=True)
class Score:
    """Counts of numbers: those that are there, those read, and what the read ones are."""

    there: int = 0
    read: int = 0
    right: int = 0
    """At the right headers with the right value and uncertainty."""
    wrong: int = 0
    """At headers that the table has, with another value."""
    misplaced: int = 0
    """At headers that no number of the table has."""
    sure: int = 0
    """Read in tables without a doubt."""
    sure_wrong: int = 0
    """Wrong or misplaced in tables without a doubt."""
    tables: int = 0
    doubted: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def score(found: Sequence[Table], made: Sequence[Typeset]) -> Score:
    """The numbers of typeset tables against those that a reader found."""
    total = Score()
    for table in made:
        own = [candidate for candidate in found if candidate.number == table.number]
        total += _score(own, table)
    return total


def _score(found: Sequence[Table], made: Typeset) -> Score:
    truth = {(normalise(row), normalise(column)): v for (row, column), v in made.truth.items()}
    right: set[Key] = set()
    total = Score(there=len(truth), tables=1, doubted=any(t.confidence <= DOUBTED for t in found))
    for table in found:
        sure = table.confidence > DOUBTED
        for key, value, uncertainty in numbers(table):
            meant = truth.get(key)
            same = (
                meant is not None
                and abs(meant.value - value) < 1e-9
                and meant.uncertainty in (None, uncertainty)
            )
            right |= {key} if same else set()
            bad = not same
            total += Score(
                read=1,
                wrong=bad and meant is not None,
                misplaced=meant is None,
                sure=sure,
                sure_wrong=sure and bad,
            )
    return total + Score(right=len(right))


def numbers(table: Table) -> list[tuple[Key, float, float | None]]:
    """The first number of each body cell, by its headers."""
    return [
        (
            (_joined(row_path(table, row)), _joined(column_path(table, row, column))),
            cell.numbers[0].value,
            cell.numbers[0].uncertainty,
        )
        for row in range(table.header_rows, len(table.grid))
        for column in range(table.header_columns, len(table.grid[row]))
        if (cell := table.grid[row][column]).numbers and not cell.spanned
    ]


def _joined(path: Sequence[str]) -> str:
    return "".join(normalise(text) for text in path)
