"""What the words around a number say of it: a setting, which stays, or a result, which does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from repro_pipeline.claims.numerals import Numeral

_NEAR = 80
"""Characters before and after a number that are read."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text, by its places, and what its words tell."""

    start: int
    end: int
    metric: bool
    """It names a metric."""
    verdict: bool
    """It compares or reports."""
    setup: bool
    """It tells how something is set up."""

    @property
    def tells_results(self) -> bool:
        """It names a metric, or it reports and tells of no set-up."""
        return self.metric or (self.verdict and not self.setup)


def sentences_of(text: str, metrics: re.Pattern[str]) -> Iterator[Sentence]:
    """The sentences of a text; `metrics` finds the names of the claims' metrics."""
    start = 0
    for match in [*_END.finditer(text), None]:
        end = match.end() if match else len(text)
        part = text[start:end]
        if part.strip():
            yield Sentence(
                start=start,
                end=end,
                metric=bool(METRIC.search(part) or metrics.search(part)),
                verdict=bool(REPORTS.search(part) or DIRECTION.search(part)),
                setup=bool(SETUP.search(part)),
            )
        start = end


_END = re.compile(
    r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!al\.)(?<!cf\.)\s+(?=\W{0,2}[A-Z])|\n\s*"
)

METRIC = re.compile(
    r"\b(?:accurac(?:y|ies)|errors?|precision|recall|F-?1|F-?scores?|F-?measure|AUC|AUROC|ROC|BLEU|"
    r"ROUGE(?:-\w)?|METEOR|perplexit(?:y|ies)|ppl|loss(?:es)?|R?MSE|MAE|MAPE|scores?|m?AP|IoU|mIoU|"
    r"Dice|correlations?|likelihoods?|NLL|FID|divergences?|returns?|rewards?|performances?|"
    r"top-[15]|runtimes?|speed-?ups?|latency|throughput|sensitivity|specificity|kappa|EM|WER|CER|nDCG|"
    r"MRR|hits@\d+|PSNR|SSIM|bits per|bpc|bpd|(?:training|inference|evaluation|run|wall-clock) times?|"
    r"(?:success|hit|win|error|recognition|detection|identification|acceptance|false \w+|true \w+) "
    r"rates?)\b",
    re.I,
)
"""Names of metrics."""

REPORTS = re.compile(
    r"\b(?:achiev\w+|obtain\w*|reach\w*|attain\w*|yield\w*|report\w*|observ\w+|found|find|show\w*|"
    r"result\w*|gets?|got|gives?|gave|gain\w*|compar\w+|versus|vs|respectively|averag\w+|"
    r"correspond\w*|score[sd]?|from|table|figure|fig|rank\w*|summari[sz]\w+|perform\w*)\b",
    re.I,
)
_ADVERB = (
    r"(?:(?:\w+ly|far|much|even|slight|significant|substantial|marked|sharp|clear|consistent|"
    r"notable|dramatic|remarkable|small|large|big|strong|clearly)[ ,]+(?:and )?){0,2}"
)
DIRECTION = re.compile(
    rf"\b{_ADVERB}(?:"
    r"out-?perform\w*|under-?perform\w*|surpass\w*|exceed\w*|beat(?:s|en|ing)?|"
    r"superior(?:ity)?|inferior(?:ity)?|improv\w+|degrad\w+|deteriorat\w+|wors(?:e|en\w*|t)|better|best|"
    r"drop(?:s|ped|ping)?|fall(?:s|en|ing)?|fell|ris(?:e|es|en|ing)|rose|hurt(?:s|ing)?|harm(?:s|ed|ful)|"
    r"gain(?:s|ed|ing)?|benefit(?:s|ed)?|boost(?:s|ed)|decreas\w+|increas\w+|reduc(?:e|es|ed|ing|tion|tions)|"
    r"lower(?:s|ed|ing)?|higher|halv(?:e|es|ed|ing)|doubl(?:e|es|ed|ing)|tripl(?:e|es|ed|ing)|twice|"
    r"(?:two|three|four|five|ten)-?fold|by half|a (?:half|third|quarter|fifth|tenth) of|"
    r"one[- ](?:half|third|quarter|fifth|tenth)|state[- ]of[- ]the[- ]art|sota|"
    r"on par|comparabl[ey]|competitive(?:ly)?|close to|similar(?:ly)? to|"
    r"smaller|greater|fewer|faster|slower|stronger|weaker|no (?:significant )?(?:difference|effect|change)"
    r")\b(?!-)",
    re.I,
)
"""Words that tell who wins, and by how much."""

_AIM = re.compile(r"\bto (?:\w+ly )?$", re.I)
_OUTCOME = re.compile(
    r"\b(?:found|shown|seems?|seemed|appears?|appeared|able|observed|proved?n?|tend(?:s|ed)?|known|fail(?:s|ed)?|"
    r"help(?:s|ed)?|continues?d?|leads?|led) to (?:\w+ly )?$",
    re.I,
)


def is_purpose(text: str, direction: re.Match[str]) -> bool:
    """Whether a comparing word tells of an aim (`to reduce memory`), not of an outcome."""
    before = text[max(0, direction.start() - 40) : direction.start()]
    bare = re.search(r"(?:e|er|p|t|st)$", direction[0]) is not None
    return bare and bool(_AIM.search(before)) and not _OUTCOME.search(before)


COMPARES = re.compile(
    r"\b(?:we|ours?|(?:proposed|our|this) (?:method|approach|model)|baselines?|without|ablat\w+|remov\w+|"
    r"omit\w+|dropping|compar\w+|than|tables?|figures?|methods?|models?|variants?|counterparts?)\b",
    re.I,
)
"""Words that tell that methods are compared."""

SETUP = re.compile(
    r"\b(?:learning[ -]rates?|step[ -]sizes?|batch(?:es)?|epochs?|optimi[sz]er|Adam\w*|SGD|momentum|"
    r"weight[ -]decay|dropout|hyper-?param\w*|early[ -]stop\w*|patience|schedul\w+|warm-?up|initiali[sz]\w+|"
    r"seeds?|cross-?validat\w+|validation set|split|selected|tuned|chosen|choose|set to|grid|is trained|are trained|"
    r"we train|trained (?:for|with|on)|regulari[sz]\w+|parameters?|threshold)\b",
    re.I,
)

_FILLER = (
    r"(?:\s(?:is|are|was|were|of|to|at|as|with|from|by|set|fixed|initially|equal|values?|parameters?|"
    r"sizes?|for|all|the|a|an|about|up|in|and|or|be|between|among|rate|constant|default|each|both|"
    r"initial|approximately|around|only|either|reduced|dropp(?:ed|ing)|decay(?:ed|ing)|lowered|increased|\w\s?=)){0,5}[\s=:≈~∈(\[{$|]*$"
)
_HYPERPARAMETER = re.compile(
    r"\b(?:learning[ _-]?rates?|lrs?|step[ -]?sizes?|momentum|(?:weight[ _-]?)?decay(?: (?:rate|step)s?)?|"
    r"drop-?out(?: rate| probability)?s?|(?:mini-?)?batch(?:es)?(?:[ _-]?sizes?)?|"
    r"(?:max_|num_|n_)?(?:epochs?|iter(?:ation)?s?|(?:time-?)?steps?|trees?|estimators?|layers?|seeds?|"
    r"folds?|neighbou?rs)|random_state|temperature|patience|warm-?up|smoothing|depth|"
    r"(?:hidden|embedding|latent|input|output|feature)[ _-](?:size|dim\w*|units?|states?)|"
    r"dimension(?:ality|s)?|window|stride|kernel(?: size)?s?|margin|clip(?:ping)?(?: norm)?|radius|bandwidth|"
    r"betas?_?[12]?|alpha|gamma|lambda|epsilon|eps|tau|sigma|rho|eta|mu|nu|theta|delta|"
    r"regulari[sz]ation(?: strength| parameter| coefficient| weight)?|penalty|thresholds?|"
    r"noise(?: level| rate)?s?|significance level)" + _FILLER,
    re.I,
)
_THEN_NAMED = re.compile(
    r"\s(?:initial )?(?:learning rate|momentum|dropout|weight decay|label smoothing|probability of)\b",
    re.I,
)
_SYMBOL = re.compile(
    r"(?<![A-Za-z])(?P<symbol>[A-Za-zα-ωΑ-Ω][\d²*′']?(?:\^[12])?(?:_\{?[\w,]+\}?)?)"
    r"\s?(?:∈|≈|=|:=|≤|≥|<|>|~)[\s({\[$]*$"
)
_STATISTICS = re.compile(r"[pPrRFtWHVdUZzQκ](?:_.*)?|[RrFχ]\^?[12²](?:_.*)?")
"""Symbols of results rather than of settings."""
_LOOSE = re.compile(
    r"\b(?:weight(?:ed|s|ing)?|coefficients?|variance|standard deviation|probabilit(?:y|ies)|proportion|"
    r"fraction|ratio|resolution|length|budget|capacity|percentiles?|quantiles?|range[sd]?|interval|size|width|rank|"
    r"norm|centers?|centres?|degrees of freedom|set|fixed|initiali[sz]ed|equal|chosen|varied|between|top|first|last)"
    + _FILLER,
    re.I,
)
_LIST = re.compile(r"(?:[\d.,;/\s{}()\[\]$%×^−–-]|\b(?:and|or|to|then|masked)\b)+$")

_COUNTED = re.compile(
    r"^\$?\s?[-–]?\s?(?:[\w-]+\s){0,2}?(?:"
    r"trees|epochs?|iterations?|(?:time-?|training |gradient )?steps?|layers?|units|neurons|samples?|examples?|images?|cases|"
    r"draws|runs|seeds?|trials?|fold|folds|repetitions|repeats|replicat\w+|class(?:es)?|features?|inputs?|dimension\w*|"
    r"tokens?|words|sentences|documents|nodes|edges|heads|filters|channels|[GC]PUs?|cores|bits?|bins|neighbou?rs|clusters|components|"
    r"parameters|points (?:per|in|from)|observations|subjects|patients|participants|instances|rows|columns|records|"
    r"data ?sets?|models|experiments|methods|splits?|batch(?:es)?|noise|training data|labels?|variables|"
    r"years?|months|weeks|days|authors|papers|CI\b|confidence|quantiles?|percentiles?|significance|"
    r"degrees|hidden|dropout|initial|per (?:class|batch|epoch)|times (?:with|using|and|for|each))\b",
    re.I,
)
_SHARE = re.compile(
    r"^\$?\s?\\?%\$?\s?(?:(?:of|for) (?:\w+\s){0,3}(?:samples|examples|images|cases|data|features|labels|rows|"
    r"time|tokens|set|points|weights|inputs|observations|training|validation|testing|batch)|"
    r"(?:confidence|CI|credible|(?:label |random )?noise|dropout|significance|quantile|percentile|"
    r"train|validation|test(?:ing)? (?:split|set|data)|split|sparsity|missing|level)\b)"
)
_DURATION = re.compile(r"^\$?\s?(?:[munµ]?s|secs?|seconds?|min(?:ute)?s?|h|hours?|ms|[KMGT]i?B)\b")
_POINTER = re.compile(
    r"(?:\b(?:tables?|tabs?\.?|figures?|figs?\.?|sections?|sec\.?|§|equations?|eqs?\.?|eqn\.?|appendix|chapter|ch\.|"
    r"theorem|lemma|algorithm|step|page|pp?\.|vol\.?|no\.|footnote|reference|refs?\.?|arxiv:?|doi:?|versions?|v|Python|"
    r"PyTorch|TensorFlow|CUDA|scikit-learn|sklearn)\s?\(?|https?://\S*|\b10\.\d{4,9}/\S*|[A-Za-z]/\S*)$",
    re.I,
)
_SHAPE_BEFORE, _SHAPE_AFTER = re.compile(r"\d\s?[x×]\s?$"), re.compile(r"\s?[x×]\s?\d")
_EXPONENT = re.compile(r"\^\{?\s?[+\-−]?$")
_CITED = re.compile(r"\[[\d,;\s–-]*$")


def is_hyperparameter(text: str, one: Numeral) -> bool:
    """Whether a hyperparameter's name, or a symbol that is no statistic's, stands before a number."""
    if one.unit in ("points", "times"):
        return False
    if _THEN_NAMED.match(text[one.stop : one.stop + _NEAR]):
        return True
    return any(
        _HYPERPARAMETER.search(before)
        or ((found := _SYMBOL.search(before)) and not _STATISTICS.fullmatch(found["symbol"]))
        for before in _before(text, one)
    )


def is_loose_setting(text: str, one: Numeral, sentence: Sentence) -> bool:
    """Whether a number is likely a setting: it counts things, or words such as `range` precede it."""
    if is_count(text, one):
        return True
    told = sentence.metric and not sentence.setup
    return not told and any(_LOOSE.search(before) for before in _before(text, one))


def _before(text: str, one: Numeral) -> Iterator[str]:
    """What stands before a number; for a further member of a list, what stands before the list."""
    before = text[max(0, one.start - _NEAR) : one.start]
    yield before
    members = _LIST.search(before)
    if members and re.search(r"\d", members[0]):
        opening = re.match(r"[\s({\[$]*", members[0])[0]
        yield before[: members.start()] + opening


def is_count(text: str, one: Numeral) -> bool:
    """Whether a whole number counts what follows it: trees, epochs, samples; or is a share of it."""
    if one.unit in ("points", "times"):
        return False
    known = _SHARE if one.unit == "%" else _COUNTED
    return known.match(text[one.stop : one.stop + _NEAR]) is not None


def is_duration(text: str, one: Numeral) -> bool:
    """Whether a unit of time or of memory follows a number."""
    return _DURATION.match(text[one.stop : one.stop + 12]) is not None


def is_pointer(text: str, one: Numeral) -> bool:
    """Whether a number names a table, a citation, a version, a year, a shape or an exponent."""
    before, after = text[max(0, one.start - 40) : one.start], text[one.stop : one.stop + 4]
    if _SHAPE_BEFORE.search(before) or _SHAPE_AFTER.match(after) or _EXPONENT.search(before):
        return True
    if _POINTER.search(before) or (not one.decimal and _CITED.search(before)):
        return True
    value = one.readings[0]
    year = value.quantum == 1 and 1900 <= value.value <= 2100 and not one.unit
    return year and len(text[one.start : one.stop]) == 4
