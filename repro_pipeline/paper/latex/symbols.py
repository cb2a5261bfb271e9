"""What LaTeX commands look like in print: symbols, accents, and how many arguments to drop."""

from __future__ import annotations

from repro_pipeline.paper.latex.arguments import words


def _pairs(text: str) -> dict[str, str]:
    items = text.split()
    return dict(zip(items[::2], items[1::2], strict=True))


_GREEK = _pairs(
    """alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι
    kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ
    upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ
    Upsilon Υ Phi Φ Psi Ψ Omega Ω"""
)
RELATIONS = _pairs(
    """leq ≤ le ≤ leqslant ≤ geq ≥ ge ≥ geqslant ≥ neq ≠ ne ≠ approx ≈ sim ~ simeq ≃ equiv ≡ propto ∝
    ll ≪ gg ≫ lesssim ≲ gtrsim ≳ in ∈ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ to → gets ←
    rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ leftrightarrow ↔ Leftrightarrow ⇔ mapsto ↦
    longrightarrow → longleftarrow ← implies ⇒ iff ⇔ pm ± mp ∓ times × cdot · div ÷ ast * coloneqq ≔
    triangleq ≜ mid | parallel ∥ perp ⊥ cup ∪ cap ∩ vee ∨ wedge ∧ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙
    setminus ∖ lt < gt >"""
)
"""Relations and binary operators: printed with space around them."""

_OTHERS = _pairs(
    r"""infty ∞ partial ∂ nabla ∇ forall ∀ exists ∃ emptyset ∅ varnothing ∅ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ
    sum ∑ prod ∏ int ∫ oint ∮ bigcup ⋃ bigcap ⋂ angle ∠ triangle △ square □ blacksquare ■
    Box □ Diamond ◇ diamond ◇ lozenge ◊ bigstar ★ star ⋆ circ ∘ bullet • cdots ⋯ ldots … dots … vdots ⋮
    ddots ⋱ textellipsis … prime ′ dagger † ddagger ‡ dag † ddag ‡ textdagger † textdaggerdbl ‡
    S § textsection § P ¶ textparagraph ¶ pounds £ textsterling £ euro € texteuro € EUR € yen ¥
    copyright © textcopyright © textregistered ® texttrademark ™ textdegree ° degree °
    uparrow ↑ downarrow ↓ Uparrow ⇑ Downarrow ⇓ updownarrow ↕ nearrow ↗ searrow ↘ nwarrow ↖ swarrow ↙
    textuparrow ↑ textdownarrow ↓ textrightarrow → textleftarrow ← upuparrows ⇈ downdownarrows ⇊
    blacktriangle ▲ blacktriangledown ▼ blacktriangleright ▶ triangledown ▽ bigtriangleup △
    bigtriangledown ▽ checkmark ✓ cmark ✓ tick ✓ xmark ✗ cross ✗ ding ✓ Checkmark ✓ XSolidBrush ✗
    CheckmarkBold ✓ clubsuit ♣ diamondsuit ♦ heartsuit ♥ spadesuit ♠ textbullet • textperiodcentered ·
    textasteriskcentered * textbackslash \ backslash \ textbar | vert | Vert ‖ lVert ‖ rVert ‖ lvert |
    rvert | textless < textgreater > textpm ± textmu μ textasciitilde ~ texttildelow ~ textendash –
    textemdash — textquoteright ’ textquoteleft ‘ textquotedblleft “ textquotedblright ”
    textquotesingle ' textquotedbl " textunderscore _ textdollar $ textpercent % textbraceleft {
    textbraceright } lbrace { rbrace } langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrack [
    rbrack ] colon : ss ß ae æ AE Æ oe œ OE Œ o ø O Ø aa å AA Å l ł L Ł i ı j ȷ TeX TeX LaTeX LaTeX
    BibTeX BibTeX top ⊤ bot ⊥ models ⊨ vdash ⊢ neg ¬ lnot ¬ land ∧ lor ∨ dh ð th þ Omega Ω"""
)
SYMBOLS = {
    **_GREEK,
    **_OTHERS,
    **{character: character for character in "%&#_${}"},
    "|": "‖",
    ",": "\u2009",
    ";": " ",
    ":": " ",
    ">": " ",
    "!": "",
    "/": "",
    "-": "",
    "@": "",
    "thinspace": "\u2009",
    "quad": " ",
    "qquad": " ",
    "enspace": " ",
    "space": " ",
    "nobreakspace": " ",
    "nobreakdash": "",
    "newline": " ",
    "\\": " ",
    "tabularnewline": " ",
    "linebreak": " ",
    "item": "\n- ",
    "and": ", ",
    "And": ", ",
    "AND": ", ",
    "slash": "/",
    "textvisiblespace": " ",
    "cr": " ",
    "enskip": " ",
    "textminus": "−",
    "shortminus": "−",
    "textperthousand": "‰",
    "permil": "‰",
    "faCheck": "✓",
    "faTimes": "✗",
    "tablename": "Table",
    "figurename": "Figure",
}
"""Commands that print a sign."""

FUNCTIONS = words(
    """log ln exp sin cos tan max min sup inf lim arg det dim ker deg gcd Pr argmax argmin tanh sinh
    cosh limsup liminf hom bmod mod"""
)
"""Operators that print their name."""

ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    '"': "\u0308",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "d": "\u0323",
    "b": "\u0331",
    "k": "\u0328",
    "r": "\u030a",
    "hat": "\u0302",
    "widehat": "\u0302",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "bar": "\u0304",
    "dot": "\u0307",
    "ddot": "\u0308",
    "vec": "\u20d7",
    "check": "\u030c",
    "acute": "\u0301",
    "grave": "\u0300",
    "breve": "\u0306",
}
"""Combining characters that follow the letter."""

DROPPED = {
    **dict.fromkeys(
        words(
            """label vspace hspace vspace* hspace* pagestyle thispagestyle bibliographystyle usepackage
            RequirePackage input pagenumbering thispagestyle hyphenation graphicspath theoremstyle
            captionsetup phantomsection vphantom hphantom phantom footnotemark rowcolor columncolor
            cellcolor color pagecolor arrayrulecolor doublerulesepcolor selectlanguage nocite
            includegraphics includesvg tikz lstset sisetup hypersetup index glsadd addlinespace
            cmidrule cline cdashline morecmidrules affil affiliation institution orcid orcidID
            bibliography addbibresource tablehead tabletail documentclass documentstyle
            DeclareUnicodeCharacter icmlsetsymbol thanks title author date keywords email pgfplotsset
            usetikzlibrary rowfont strut xspace noalign vskip setitemize setlist crefname Crefname
            thetable thefigure thesection theequation"""
        ),
        "om",
    ),
    **dict.fromkeys(
        words(
            """setlength addtolength setcounter addtocounter definecolor colorlet newtheorem rule
            specialrule fontsize DeclareCaptionFont settowidth newcounter markboth
            addcontentsline"""
        ),
        "omm",
    ),
    "definecolor": "mmm",
    "newtheorem": "momo",
    "crefname": "mmm",
    "Crefname": "mmm",
    "addcontentsline": "mmm",
    "specialrule": "mmm",
    "rowcolors": "ommm",
    "Xhline": "m",
    "rule": "omm",
    "cmidrule": "opm",
    "addlinespace": "o",
    "strut": "",
    "xspace": "",
    "hdashline": "o",
    "vskip": "d",
    "raise": "d",
    "lower": "d",
    "bigstrut": "o",
    "hskip": "d",
    "kern": "d",
    "vspace": "m",
    "footnotemark": "o",
    "linebreak": "o",
    "pagebreak": "o",
    "printbibliography": "o",
    "newcounter": "mo",
    "tablefootnotemark": "o",
    "floatname": "mm",
    "captionlistentry": "om",
    "renewcommand": "mom",
    "newcommand": "mom",
}
"""Arguments that are not printed: m mandatory, o optional, p in parentheses, d a dimension."""

LAST_KEPT = {
    "textcolor": "om",
    "colorbox": "om",
    "fcolorbox": "omm",
    "resizebox": "mm",
    "scalebox": "mo",
    "rotatebox": "om",
    "raisebox": "moo",
    "parbox": "ooom",
    "makebox": "oo",
    "framebox": "oo",
    "href": "m",
    "hyperlink": "m",
    "hypertarget": "m",
    "hyperref": "o",
    "adjustbox": "m",
    "multicolumn": "mm",
    "multirow": "omom",
    "multirowcell": "omo",
    "multirowthead": "omo",
    "pbox": "m",
    "shortstack": "o",
    "makecell": "o",
    "thead": "o",
    "rothead": "o",
    "textsubscript": "",
    "foreignlanguage": "m",
    "texorpdfstring": "",
    "subfloat": "o",
    "subcaptionbox": "om",
    "rotcell": "o",
    "turnbox": "m",
    "stackanchor": "",
    "captionof": "m",
    "item": "",
    "SetCell": "o",
    "Block": "o",
    "gls": "o",
    "glspl": "o",
    "todo": "o",
}
"""Commands that print their last argument only: the arguments before it."""

DECLARATIONS = words(
    """centering raggedright raggedleft small tiny footnotesize scriptsize normalsize large Large LARGE
    huge Huge scriptstyle textstyle displaystyle scriptscriptstyle normalfont rmfamily sffamily
    ttfamily itshape upshape scshape slshape sc sl it rm sf tt em mdseries hfill vfill noindent
    indent clearpage newpage cleardoublepage maketitle tableofcontents bigskip medskip smallskip
    arraybackslash toprule midrule bottomrule hline displaybreak protect left right big Big bigg
    Bigg bigl bigr Bigl Bigr biggl biggr limits nolimits allowbreak newblock sloppy fussy
    leavevmode null frenchspacing singlespacing doublespacing onehalfspacing appendix phantomsection
    unskip ignorespaces par break smash boldmath unboldmath relax par hrulefill dotfill hfil
    endhead endfirsthead endfoot endlastfoot nonumber notag qedhere qed makeatletter makeatother
    linewidth textwidth columnwidth hsize textheight arrayrulewidth tabcolsep baselineskip
    arraystretch extrarowheight parskip parindent tabularnewline endgroup begingroup
    twocolumn onecolumn thickhline FloatBarrier justify flushleft bfseries bf selectfont ensuremath
    centerline balance xspace fill stretch CodeBefore CodeAfter Body
    vline RaggedRight RaggedLeft Centering mathstrut Tstrut Bstrut strutbox nolinebreak smaller larger
    makegapedcells onecolumn twocolumn landscape sffamily"""
) - {"ensuremath", "centerline", "bfseries", "bf", "par"}
"""Commands without arguments that print nothing."""

BOLD = words("textbf mathbf boldsymbol bm pmb bfs mathbfit textbfit symbf")
UNDERLINED = words("underline uline ul underbar uuline dashuline")
FONTS = words(
    """mathcal mathbb mathrm mathsf mathtt mathfrak mathscr mathit mathnormal ensuremath overline
    mathds bar overrightarrow underbrace overbrace centerline uppercase lowercase MakeUppercase
    rlap llap mathrlap mathllap clap mathclap smash hfil tabincell textls enquote textquote sout"""
) - {"bar", "hfil"}
"""Commands that print their argument in another face."""

TEXT = words(
    """text textrm textnormal mbox textup textit textsc textsf texttt textsl emph hbox textmd intertext
    fbox operatorname operatorname*"""
)
"""Commands whose argument is text, also in mathematics."""

CITATIONS = words(
    """cite citep citet citealp citealt citeauthor citeyear citeyearpar parencite textcite autocite
    footcite Cite Citet Citep citenum onlinecite shortcite citeA citeN smartcite supercite
    footfullcite fullcite newcite posscite citeposs citetext parencites textcites autocites cites"""
)
REFERENCES = words("ref cref Cref autoref eqref pageref nameref vref subref labelcref hyperref")
FOOTNOTES = words(
    "footnote tablefootnote footnotetext tabfootnote tablefoot tfootnote thanks Thanks"
)
NUMBERS = words("num SI qty ang si unit numlist numrange SIrange tablenum numproduct")

MATH_ENVIRONMENTS = frozenset(
    [
        "equation",
        "align",
        "gather",
        "multline",
        "eqnarray",
        "displaymath",
        "math",
        "flalign",
        "alignat",
    ]
)
"""Environments that are set as mathematics."""

ENVIRONMENT_ARGUMENTS = {
    "tabular": "om",
    "tabularx": "mom",
    "array": "om",
    "longtable": "om",
    "minipage": "ooom",
    "adjustbox": "m",
    "subfigure": "om",
    "subtable": "om",
    "wraptable": "omom",
    "wrapfigure": "omom",
    "multicols": "m",
    "spacing": "m",
    "alignat": "m",
    "thebibliography": "m",
    "turn": "m",
    "rotate": "m",
    "list": "mm",
    "figure": "o",
    "table": "o",
}
"""What follows `\\begin{name}` and is not printed: m a mandatory argument, o an optional one."""
