"""A scripted judge of the tiny suite's code."""

from __future__ import annotations

from repro_pipeline.chat import ChatRequest
from tests.bench_suites import REFERENCE

QUOTE = "wrong += rng.random() < threshold"
LINE = next(n for n, line in enumerate(REFERENCE.splitlines(), 1) if QUOTE in line)
SPAN = {"file": "experiment.py", "first": LINE, "last": LINE, "quote": QUOTE}


def judged(request: ChatRequest) -> dict:
    """The first point gets half of its worth, the others all."""
    text = request.messages[-1].content
    if request.answer_schema["title"] == "Sample":
        count = 4 if " 25 points" in request.messages[0].content else 5
        worth = 100 // count
        given = {n: worth if n > 1 else worth // 2 for n in range(1, count + 1)}
        return {
            "judgements": [
                {"point": n, "evidence": [SPAN], "reasoning": "Seen.", "points": points}
                for n, points in given.items()
            ]
        }
    of_paper, of_code = ("not shown" not in part for part in text.split("The reference code"))
    point = {"statement": "A case is wrong with a fixed probability."}
    point |= {"paper_quote": "We estimate the mean of a noisy source"} if of_paper else {}
    point |= {"reference": SPAN} if of_code else {}
    return {"points": [point] * (5 if of_paper else 4)}
