"""What an agent's work on a paper cost: tokens by role, share of repairs and failures, largest prompt,
and how long the loop itself took beside models and runs.

    python benchmarks/agent.py PROJECT PAPER
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from repro_pipeline.agent.standing import kind_of
from repro_pipeline.agent.story import by_role
from repro_pipeline.asking.budget import KINDS, spent
from repro_pipeline.chat import ChatAnswer, ChatRequest
from repro_pipeline.ledger.runs import Purpose
from resources.opening import open_project

RUNS = {"run_tests", "change_code", "run_sample", "run_experiments"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("paper")
    options = parser.parse_args()
    project = open_project(options.project)
    events = list(project.ledger.events(options.paper))
    calls = [event.content for event in events if event.kind == "model_called"]
    requests = [ChatRequest.model_validate_json(project.store.get(call.request)) for call in calls]
    answers = [ChatAnswer.model_validate_json(project.store.get(call.answer)) for call in calls]
    steps = [event.content for event in events if event.kind == "agent_stepped"]
    attempts = [event.content.attempt for event in events if event.kind == "attempt_finished"]

    print(f"{len(steps)} steps: {dict(Counter(kind_of(step) for step in steps))}")
    for role, (count, sent, cached, out) in by_role(events).items():
        print(f"{role:<10} {count:>4} answers {sent:>9,} in ({cached:,} cached) {out:>8,} out")
    total = sum(call.tokens_in + call.tokens_out for call in calls)
    repairs = [call for call, sent in zip(calls, requests, strict=True) if len(sent.messages) > 2]
    failed = {step.step for step in steps if step.status != "ok"}
    wasted = [call for call in calls if call.step.rpartition("/")[2] in map(str, failed)]
    for name, some in (("repairs", repairs), ("steps that failed", wasted)):
        tokens = sum(call.tokens_in + call.tokens_out for call in some)
        print(f"{name}: {len(some)} answers, {tokens:,} of {total:,} tokens")
    estimated = sum(answer.usage.estimated for answer in answers)
    print(f"counts estimated, not the provider's own: {estimated} of {len(answers)}")
    largest = max((len(sent.model_dump_json().encode()) for sent in requests), default=0)
    print(
        f"largest question: {largest:,} bytes; spent: {spent(e for e in events if e.kind in KINDS)}"
    )
    quiet = [step for step in steps if kind_of(step) not in RUNS]
    waiting = Counter()
    for call in calls:
        waiting[call.step.rpartition("/")[2]] += call.seconds
    own = [step.seconds - waiting[str(step.step)] for step in quiet]
    if own:
        print(f"the loop itself, in steps that run nothing: {sum(own) / len(own):.2f} s a step")
    dev = sum(attempt.seconds for attempt in attempts if attempt.purpose is Purpose.DEV)
    print(f"development runs: {dev:.0f} s; all steps: {sum(step.seconds for step in steps):.0f} s")


if __name__ == "__main__":
    main()
