"""Commands that a README proposes: those that run something, with their lines."""

from __future__ import annotations

import pytest
from foreign import write
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.imports.readme import commands_in, commands_proposed

README = r"""# Code of a study
Run `python inline.py` if you like.
```bash
pip install -r requirements.txt
python -m pip install numpy
conda create -n x
cd study
python setup.py install
```
## Experiments
```
$ python train.py --lr 0.1 \
    --epochs 3     # long
(base) me@host:~/study$ bash run.sh
CUDA_VISIBLE_DEVICES=0 python eval.py "a b"
cd src && python main.py > log.txt
python
Epoch 1 loss 0.3
```
~~~console
> Rscript plot.R
~~~
```python
python = 3
```

    make tables
    make install

python in_text.py
"""


def test_the_commands_that_run_something():
    found = [(one.line, one.command) for one in commands_in(README, "README.md")]
    assert found == [
        (12, ("python", "train.py", "--lr", "0.1", "--epochs", "3")),
        (14, ("bash", "run.sh")),
        (15, ("env", "CUDA_VISIBLE_DEVICES=0", "python", "eval.py", "a b")),
        (16, ("sh", "-c", "cd src && python main.py > log.txt")),
        (21, ("Rscript", "plot.R")),
        (27, ("make", "tables")),
    ]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ('python a.py "a # b" | tee l  # c', ("sh", "-c", 'python a.py "a # b" | tee l')),
        ("python a.py --url http://h/x#y", ("python", "a.py", "--url", "http://h/x#y")),
        ("python a.py 'a # b' # it's", ("python", "a.py", "a # b")),
        ("# python a.py", None),
    ],
)
def test_a_comment_begins_a_word_outside_of_quotes(line, command):
    found = [one.command for one in commands_in(f"```\n{line}\n```", "README.md")]
    assert found == ([command] if command else [])


def test_the_files_at_the_top_are_read_and_repeats_are_one(tmp_path):
    text = "```\npython a.py\n```\n"
    write(tmp_path, {"README.md": text, "REPRODUCING.md": text, "doc/README.md": "    python b.py"})
    assert [str(one) for one in commands_proposed(tmp_path)] == ["README.md:2: python a.py"]


@given(st.lists(st.sampled_from([*README.splitlines(), "```", "'", "\\", "$ ", "FOO=1"])))
def test_any_text_gives_lines_of_its_own(lines):
    for one in commands_in("\n".join(lines), "x"):
        assert 1 <= one.line <= len(lines) and one.command
