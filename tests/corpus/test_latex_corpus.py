"""Real LaTeX sources: values read by eye, values that logs give, and no source that breaks us."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.address import CellAddress, TableLabel
from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.read import read_paper
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.reading.agree import disagreements

S2ORC = "tex/1911.02782_S2ORC_src.tar.gz"


def sources(corpus: Path) -> list[Path]:
    return [
        corpus / S2ORC,
        corpus / "tex/axcell_test_main.tex",
        *sorted(corpus.glob("tex/mlrc/2020/*/openreview")),
        *sorted(corpus.glob("tex/aiscientist/*/latex")),
    ]


@pytest.mark.parametrize(
    ("source", "table", "row", "column", "value", "uncertainty"),
    [  # Read by eye in the sources.
        (S2ORC, "replication_study", "BC5CDR", "S2ORC-SciBERT", 90.41, 0.06),
        (S2ORC, "replication_study", "ChemProt", "SciBERT", 83.64, None),
        (S2ORC, "evaluation_results", "Paper clustering", "Title", 0.93, None),
        (S2ORC, "stats_provenance", "Total papers", "column 2", 81.1, None),
        ("kim2021re", "baseline", "AwA > Ours (paper params)", "Co-occur > Our BC", 69.9, None),
        ("kim2021re", "mainresults", "feature-split", "UnRel > Paper", 52.1, None),
        ("kim2021re", "mainresults", "standard", "COCO-Stuff > Exclusive > Paper", 24.5, None),
        (
            "kim2021re",
            "awa-results",
            "white > ground",
            "Co-occur > feature-split > Ours",
            82.6,
            None,
        ),
        ("kim2021re", "coco-data", "cup > dining table", "Training > Co-occur", 3186, None),
        ("mizrahi2021re", "cifar-results", "CIFAR-10 > PHuber-CE τ = 2", "ρ = 0.4", 87.8, 0.2),
        ("mizrahi2021re", "cifar-results", "CIFAR-100 > GCE", r"$\rho=0.6$", 40.3, 0.4),
        ("mizrahi2021re", "seed-results", "CIFAR-100 > CE", "Original paper", 11.4, 0.2),
        (
            "rodas2021rehamiltonian",
            "reproduction",
            "HGN (Leapfrog) ours",
            "Three-body > Test",
            8.81,
            0.01,
        ),
        ("liiv2021a", "spiral", "Our results", "ENSM", 2.3, None),
        ("liiv2021a", "classification-measures-norm", "ERR↓, paper", "IND", 1.29, 0.06),
    ],
)
def test_values_read_by_eye(corpus, source, table, row, column, value, uncertainty):
    path = corpus / source if "/" in source else corpus / f"tex/mlrc/2020/{source}/openreview"
    rows, columns = tuple(row.split(" > ")), tuple(column.split(" > "))
    address = CellAddress(table=TableLabel(label=f"tab:{table}"), row=rows, column=columns)
    number = resolve_cell(read_latex(path), address)[4]
    assert (number.value, number.uncertainty) == (value, uncertainty)


@pytest.mark.parametrize(
    ("paper", "table", "runs"),
    [
        ("dual_expert_denoiser", "Table 1", {"Baseline": 0, "Dual-Expert": 1}),
        ("gan_diffusion", "Table 1", {None: 0}),
        ("gan_diffusion", "Table 2", {None: 2}),
    ],
)
def test_tables_hold_what_the_logs_say(corpus, paper, table, runs):
    """The logged mean, rounded as printed."""
    found = read_latex(corpus / f"tex/aiscientist/{paper}/latex")
    seen = 0
    for method, run in runs.items():
        log = corpus / f"gold/aiscientist/{paper}/run_{run}/final_info.json"
        for dataset, entry in json.loads(log.read_text()).items():
            for key, headers in {
                "training_time": ("Train Time", "Training Time (s)"),
                "eval_loss": ("Eval Loss", "Evaluation Loss"),
                "kl_divergence": ("KL Div", "KL Divergence"),
            }.items():
                header = headers[method is None]
                column = (method, header) if method else (header,)
                address = CellAddress(table=table, row=(dataset,), column=column)
                number = resolve_cell(found, address)[4]
                assert abs(number.value - entry["means"][key]) <= 0.501 * number.quantum
                seen += 1
    assert seen >= 12


def test_every_source_is_read(corpus):
    """Each tabular gives a table, none is doubted but for commands that the source lacks."""
    for path in sources(corpus):
        paper = read_latex(path)
        assert paper.sections
        for table in paper.tables:
            rows, columns = table.shape
            assert all(len(row) == columns for row in table.grid)
            assert 0 <= table.header_rows < max(rows, 2)
            for doubt in table.doubts:
                assert re.search(r"does not define|single row|guess|No header", doubt), (
                    path,
                    doubt,
                )


@pytest.mark.parametrize("paper", ["rl_lr_adaptation", "weight_initialization_grokking"])
def test_source_and_pdf_agree(corpus, paper):
    source = read_latex(corpus / f"tex/aiscientist/{paper}/latex")
    printed = read_paper(corpus / f"pdf/aiscientist_{paper}.pdf")
    assert disagreements(source, printed) == ()
    text = source.model_dump_json()
    (cell,) = [c for c in source.tables[0].grid[1] if c.numbers][:1]
    changed = source.model_validate_json(text.replace(f'"{cell.text}"', '"7654.321"'))
    assert len(disagreements(changed, printed)) == 1


def mutations(text: str, count: int, seed: int):
    """Cut, flipped, shuffled and repeated pieces of a source."""
    chance = random.Random(seed)
    for _ in range(count):
        lines = text.splitlines(keepends=True)
        kind = chance.randrange(5)
        if kind == 0:
            yield text[: chance.randrange(len(text))]
        elif kind == 1:
            place = chance.randrange(len(text))
            yield text[:place] + chance.choice("\\{}$&%#^_~\x00\n[]") + text[place + 1 :]
        elif kind == 2:
            at, size = chance.randrange(len(lines)), chance.randrange(1, 12)
            piece = lines[at : at + size]
            chance.shuffle(piece)
            yield "".join(lines[:at] + piece + lines[at + size :])
        elif kind == 3:
            at = chance.randrange(len(lines))
            yield "".join(lines[:at] + lines[at + chance.randrange(1, 9) :])
        else:
            at = chance.randrange(len(text))
            yield text[:at] + text[at : at + 300] * 3 + text[at + 300 :]


def test_mutated_sources_are_read_or_refused(corpus, tmp_path):
    """No crash and no hang; REPRO_FUZZ sets how many mutations of each source are tried."""
    count = int(os.environ.get("REPRO_FUZZ", "2"))
    read = refused = 0
    for at, path in enumerate(sources(corpus)[1:]):
        main = path if path.is_file() else max(path.glob("*.tex"), key=lambda f: f.stat().st_size)
        text = main.read_text(errors="replace")
        for changed in mutations(text, count, seed=at):
            target = tmp_path / "paper.tex"
            target.write_text(changed)
            try:
                read_latex(target)
                read += 1
            except PaperError as error:
                assert error.what.endswith(".")
                refused += 1
    assert read > refused
