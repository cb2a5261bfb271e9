"""The words by which settings and results are told apart. Each line of a list is one family of words."""

from __future__ import annotations

import re


def _any(lines: str) -> str:
    """A pattern for any of the patterns in the lines."""
    return "(?:" + "|".join(line.strip() for line in lines.strip().splitlines()) + ")"


def _words(lines: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_any(lines)}\b", re.I)


SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!al\.)(?<!cf\.)\s+(?=\W{0,2}[A-Z])"
    r"|\n\s*\n\s*|(?<![^\n]{60})\n\s*|\n\s*(?=(?:[-*+•|]|\d+[.)]|\(\w\))\s)"
)
"""A line's end too, but for a wrapped line, which is long and followed by neither blank line nor list."""

# Results

METRIC = _words(
    r"""
    accurac(?:y|ies)|errors?|precision|recall|F-?1|F-?scores?|F-?measure|AUC|AUROC|ROC|kappa
    BLEU|ROUGE(?:-\w)?|METEOR|perplexit(?:y|ies)|ppl|bits per|bpc|bpd|EM|WER|CER
    loss(?:es)?|R?MSE|MAE|MAPE|likelihoods?|NLL|FID|divergences?|PSNR|SSIM|correlations?
    scores?|m?AP|IoU|mIoU|Dice|nDCG|MRR|hits@\d+|top-[15]|sensitivity|specificity
    returns?|rewards?|performances?|runtimes?|speed-?ups?|latency|throughput
    (?:training|inference|evaluation|run|wall-clock) times?
    (?:success|hit|win|error|recognition|detection|identification|acceptance|false \w+|true \w+) rates?
    """
)
"""Names of metrics."""

REPORTS = _words(
    r"""
    achiev\w+|obtain\w*|reach\w*|attain\w*|yield\w*|gets?|got|gives?|gave|gain\w*|from
    report\w*|observ\w+|found|find|show\w*|result\w*|table|figure|fig|summari[sz]\w+
    compar\w+|versus|vs|respectively|averag\w+|correspond\w*|score[sd]?|rank\w*|perform\w*
    gaps?|differences?|differ(?:s|ed)?|margins?
    """
)
"""Words that report results."""

_ADVERB = r"(?:(?:{}) (?:and )?){{0,2}}".format(
    r"\w+ly,?|far|much|even|slight|significant|substantial|marked|sharp|clear|consistent|notable|"
    r"dramatic|remarkable|small|large|big|strong"
)
DIRECTION = re.compile(
    rf"\b{_ADVERB}"
    + _any(
        r"""
        out-?perform\w*|under-?perform\w*|surpass\w*|exceed\w*|beat(?:s|en|ing)?
        superior(?:ity)?|inferior(?:ity)?|better|best|wors(?:e|en\w*|t)|state[- ]of[- ]the[- ]art|sota
        improv\w+|degrad\w+|deteriorat\w+|hurt(?:s|ing)?|harm(?:s|ed|ful)|benefit(?:s|ed)?
        boosts|boosted(?! (?:\w+ )?(?:tree|stump|ensemble|classifier|model|learner)s?)
        drop(?:s|ped|ping)?|fall(?:s|en|ing)?|fell|ris(?:e|es|en|ing)|rose|rais(?:e|es|ed|ing)|gain(?:s|ed|ing)?
        decreas\w+|increas\w+|reduc(?:e|es|ed|ing|tion|tions)|lower(?:s|ed|ing)?|higher
        halv(?:e|es|ed|ing)|doubl(?:e|es|ed|ing)|tripl(?:e|es|ed|ing)|twice|by half
        (?:two|three|four|five|ten)-?fold
        (?<!\bon )(?<!\binto )(?:a|one)[- ](?:half|third|quarter|fifth|tenth)(?: of)?
        on par|comparabl[ey]|competitive(?:ly)?|close to|similar(?:ly)? to
        win(?:s|ning|ner)?|won|suffer\w*|plummet\w*|collaps\w+|help(?:s|ed|ful)|ahead of|behind|advantages?
        crucial|essential|detrimental|negligibl[ey]|marginal
        perfect(?:ly)?|flawless(?:ly)?|(?:clos|narrow|widen)\w* (?:\w+ ){0,4}gap
        (?:most|least|more|less) (?:accurate(?:ly)?|often|frequent(?:ly)?|reliabl[ey])
        (?:high|low|fast|slow|strong|weak|small|larg|great)est
        smaller|greater|fewer|faster|slower|stronger|weaker
        no (?:significant )?(?:difference|effect|change)
        """
    )
    + r"\b(?!-)",
    re.I,
)
"""Words that tell who wins, and by how much; `trained on one half` tells of a part of the data."""

VERDICT = re.compile(
    r"perform|surpass|exceed|beat|superior|inferior|better|best|wors|state|sota|on par|compar|compet|win|won",
    re.I,
)
"""Those of them that tell it whatever they are said of."""

COMPARES = _words(
    r"""
    we|ours?|(?:proposed|our|this) (?:method|approach|model)|methods?|models?|variants?|counterparts?
    baselines?|without|ablat\w+|remov\w+|omit\w+|dropping|compar\w+|than|tables?|figures?
    """
)
"""Words that tell that methods are compared."""

AIM = re.compile(r"\bto (?:\w+ly )?$", re.I)
OUTCOME = re.compile(
    r"\b"
    + _any(
        r"""
        found|shown|seems?|seemed|appears?|appeared|able|observed|proved?n?|tend(?:s|ed)?|known
        fail(?:s|ed)?|help(?:s|ed)?|continues?d?|leads?|led
        """
    )
    + r" to (?:\w+ly )?$",
    re.I,
)
"""`to reduce` tells of an aim, `was found to reduce` of an outcome."""

# Settings

SETUP = _words(
    r"""
    learning[ -]rates?|step[ -]sizes?|batch(?:es)?|epochs?|optimi[sz]er|Adam\w*|SGD|momentum
    weight[ -]decay|dropout|regulari[sz]\w+|early[ -]stop\w*|patience|schedul\w+|warm-?up
    hyper-?param\w*|parameters?|threshold|seeds?|cross-?validat\w+|validation set|split
    selected|tuned|chosen|choose|set to|grid|initiali[sz]\w+
    (?:is|are|we) train(?:ed)?|trained (?:for|with|on)
    """
)
"""Words that tell how something is set up."""

_FILLER = (
    r"(?:\s"
    + _any(
        r"""
        is|are|was|were|be|of|to|at|as|with|from|by|for|about|up|in|and|or|between|among|all|the|a|an
        set|fixed|initially|initial|equal|values?|parameters?|sizes?|rate|constant|default|each|both
        approximately|around|only|either|reduced|dropp(?:ed|ing)|decay(?:ed|ing)|lowered|increased
        \w\s?=
        """
    )
    + r"){0,5}[\s=:≈~∈(\[{$|]*$"
)
HYPERPARAMETER = re.compile(
    r"\b"
    + _any(
        r"""
        learning[ _-]?rates?|lrs?|step[ -]?sizes?|momentum|(?:weight[ _-]?)?decay(?: (?:rate|step)s?)?
        drop-?out(?: rate| probability)?s?|(?:mini-?)?batch(?:es)?(?:[ _-]?sizes?)?
        (?:max_|num_|n_)?(?:epochs?|iter(?:ation)?s?|(?:time-?)?steps?|trees?|estimators?|layers?)
        (?:num_|n_)?(?:seeds?|folds?|neighbou?rs)|random_state|temperature|patience|warm-?up|smoothing
        (?:hidden|embedding|latent|input|output|feature)[ _-](?:size|dim\w*|units?|states?)
        dimension(?:ality|s)?|depth|window|stride|kernel(?: size)?s?|margin|radius|bandwidth
        clip(?:ping)?(?: norm)?|penalty|thresholds?|significance level|noise(?: level| rate)?s?
        regulari[sz]ation(?: strength| parameter| coefficient| weight)?|weight(?:ed|s|ing)?
        betas?_?[12]?|alpha|gamma|lambda|epsilon|eps|tau|sigma|rho|eta|mu|nu|theta|delta
        """
    )
    + _FILLER,
    re.I,
)
"""A hyperparameter's name before a number."""

COUNTED_SETTING = re.compile(
    r"(?:max_|num_|n_)?(?:epochs?|iter(?:ation)?s?|(?:time-?)?steps?|trees?|estimators?|layers?|"
    r"seeds?|folds?|neighbou?rs|(?:mini-?)?batch)",
    re.I,
)
"""One that is a number of things."""

THEN_NAMED = re.compile(
    r"\s(?:initial )?(?:learning rate|momentum|dropout|weight decay|label smoothing|probability of)\b",
    re.I,
)
"""A hyperparameter's name behind a number."""

SYMBOL = re.compile(
    r"(?<![A-Za-z])(?P<symbol>[A-Za-zα-ωΑ-Ω][\d²*′']?(?:\^[12])?(?:_\{?[\w,]+\}?)?)"
    r"\s?(?:∈|≈|=|:=|≤|≥|<|>|~)[\s({\[$]*$"
)
STATISTIC = re.compile(r"[pPrRFtWHVdUZzQκ](?:_.*)?|[RrFχ]\^?[12²](?:_.*)?")
"""Symbols of results rather than of settings."""

LOOSE = re.compile(
    r"\b"
    + _any(
        r"""
        coefficients?|variance|standard deviation|probabilit(?:y|ies)|norm
        proportion|fraction|ratio|percentiles?|quantiles?|range[sd]?|interval|degrees of freedom
        resolution|length|budget|capacity|size|width|rank|centers?|centres?
        set|fixed|initiali[sz]ed|equal|chosen|varied|between|top|first|last
        """
    )
    + _FILLER,
    re.I,
)
"""Words before a number that make it a setting where no metric is named."""

LIST = re.compile(r"(?:[\d.,;/\s{}()\[\]$%×^−–-]|\b(?:and|or|to|then|masked)\b)+$")
"""The members of a list before a number."""

COUNTED = re.compile(
    r"^\$?\s?[-–]?\s?(?:(?!(?:in|on|at|for|with|over|across|and|or|after|than|to|by|from|as|when|using|but|is|was)\b)"
    r"[\w-]+\s){0,2}?"
    + _any(
        r"""
        trees|epochs?|iterations?|(?:time-?|training |gradient )?steps?|batch(?:es)?|draws|runs|seeds?
        trials?|folds?|repetitions|repeats|replicat\w+|splits?|experiments|data ?sets?|models|methods
        layers?|units|neurons|nodes|edges|heads|filters|channels|components|clusters|neighbou?rs|bins
        samples?|examples?|images?|cases|observations|instances|rows|columns|records|labels?|variables
        class(?:es)?|features?|inputs?|dimension\w*|parameters|training data|noise|hidden|dropout|initial
        (?:different|distinct|separate|independent|further)
        tokens?|words|sentences|documents|subjects|patients|participants|papers|authors
        [GC]PUs?|cores|bits?|years?|months|weeks|days|degrees|CI\b|confidence|quantiles?|percentiles?
        significance|points (?:per|in|from)|per (?:class|batch|epoch)|times (?:with|using|and|for|each)
        """
    )
    + r"\b",
    re.I,
)
"""What a whole number counts."""

SHARE = re.compile(
    r"^\$?\s?\\?%\$?\s?(?:(?:of|for) (?:\w+\s){0,3}(?:samples|examples|images|cases|data|features|labels|"
    r"rows|time|tokens|set|points|weights|inputs|observations|training|validation|testing|batch)|"
    r"(?:confidence|CI|credible|(?:label |random )?noise|dropout|significance|quantile|percentile|"
    r"train|validation|test(?:ing)? (?:split|set|data)|split|sparsity|missing|level|probability|chance)\b)"
)
"""What a percentage is a share of, where it is no result."""

MULTIPLE = re.compile(
    r"\s?(?:as|faster|slower|more|less|fewer|lower|higher|better|worse|smaller|larger|greater|speed|the)\b",
    re.I,
)
"""What makes `three times` a ratio rather than a count of repetitions."""

# Numbers that are names

POINTER = re.compile(
    r"(?:\b"
    + _any(
        r"""
        tables?|tabs?\.?|figures?|figs?\.?|sections?|sec\.?|§|equations?|eqs?\.?|eqn\.?|appendix|chapter|ch\.
        theorem|lemma|algorithm|step|page|pp?\.|vol\.?|no\.|footnote|reference|refs?\.?|arxiv:?|doi:?
        versions?|v|Python|PyTorch|TensorFlow|CUDA|scikit-learn|sklearn
        """
    )
    + r"\s?\(?|https?://\S*|\b10\.\d{4,9}/\S*|[A-Za-z]/\S*)$",
    re.I,
)
CITED = re.compile(r"\[[\d,;\s–-]*$")
SHAPE_BEFORE, SHAPE_AFTER = re.compile(r"\d\s?[x×]\s?$"), re.compile(r"\s?[x×]\s?\d")
EXPONENT = re.compile(r"\^\{?\s?[+\-−]?$")
POWER = re.compile(r"\s?\^\s?[{(]?\s?[|‖−-]?\s?[A-Za-zα-ωΑ-Ω]|\s(?:raised )?to the\s+power\b")
"""An exponent in symbols or words: what it raises is a part of a formula."""

# Sections

RESULTS_TITLE = re.compile(
    r"result|experiment|ablation|evaluation|discussion|conclusion|abstract|finding|analys[ie]s|"
    r"comparison|performance|summary|limitation",
    re.I,
)
SETTING_UP_TITLE = re.compile(r"set-?up|detail|setting|protocol|procedure|design", re.I)
METHODS_TITLE = re.compile(
    r"method|approach|model|architecture|implement|data|training|hyper|background|related|"
    r"preliminar|notation|problem|algorithm|theor|proof|definition|formulation|material",
    re.I,
)
