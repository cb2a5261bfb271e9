"""GROBID's TEI: prose and citations; tables that it broke are recognised as such."""

from __future__ import annotations

import re

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.tables import DOUBTED
from repro_pipeline.paper.tei import BROKEN, read_tei

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><encodingDesc><appInfo>
<application version="{version}" ident="{software}"/></appInfo></encodingDesc>
<fileDesc><titleStmt><title>A title</title></titleStmt><sourceDesc><biblStruct><analytic>
<author><persName><forename type="first">Ada</forename><surname>Lovelace</surname></persName></author>
</analytic><monogr><imprint><date type="published" when="2020-05-01"/></imprint></monogr></biblStruct>
</sourceDesc></fileDesc><profileDesc><abstract><div><p>Short.</p></div></abstract></profileDesc>
</teiHeader><text><body>"""
BACK = """</body><back><div type="references"><listBibl>
<biblStruct xml:id="b0"><analytic><title level="a">First things</title><author><persName>
<forename>R</forename><surname>Roe</surname></persName></author><idno type="DOI">10.1000/abc</idno>
</analytic><monogr><title level="j">J</title><imprint><date when="2001"/></imprint></monogr>
<note type="raw_reference">R Roe. 2001. First things. J.</note></biblStruct>
<biblStruct xml:id="b1"><monogr><title>Second things</title><author><persName><surname>Doe</surname>
</persName></author><idno type="arXiv">arXiv:1706.03762</idno><imprint><date when="2017"/></imprint>
</monogr></biblStruct></listBibl></div></back></text></TEI>"""


@pytest.fixture
def read(tmp_path):
    def reader(body: str, software: str = "GROBID"):
        path = tmp_path / "paper.tei.xml"
        head = HEAD.format(version="0.8.1", software=software)
        path.write_text(head + body + BACK, encoding="utf-8")
        return read_tei(path)

    return reader


def table(*rows: str, head: str = "Table 1:", text: str = "Scores.", more: str = "") -> str:
    cells = "".join(
        "<row>" + "".join(f"<cell>{cell}</cell>" for cell in row.split("|")) + "</row>"
        for row in rows
    )
    return (
        f'<figure type="table" xml:id="tab_0" {more}><head>{head}</head><label>1</label>'
        f"<figDesc>{text}</figDesc><table>{cells}</table></figure>"
    )


def test_a_document(read):
    paper = read("""<div><head n="1">One</head><p>As shown <ref type="bibr" target="#b0">(Roe, 2001)
        </ref>. Then more.</p><formula xml:id="f">a = b<label>(1)</label></formula></div>
        <div><head n="1.1">Two</head><p><s>By Doe <ref type="bibr">(2017)</ref>.</s><s>End.</s></p></div>
        <figure xml:id="fig_0"><head>Figure 1 :</head><figDesc>Figure 1: A plot.</figDesc></figure>""")
    assert (paper.title, paper.authors, paper.year) == ("A title", ("Ada Lovelace",), 2020)
    assert (paper.abstract, paper.source.reader) == ("Short.", "tei 1 on GROBID 0.8.1")
    assert [(s.title, s.level) for s in paper.sections] == [("1 One", 1), ("1.1 Two", 2)]
    assert paper.sections[1].text == "By Doe (2017). End."
    assert paper.equations == ("a = b",)
    assert [(f.number, f.text) for f in paper.figures] == [("Figure 1", "A plot.")]
    first, second = paper.references
    assert (first.title, first.authors, first.year) == ("First things", ("R Roe",), 2001)
    assert (first.doi, second.arxiv, second.year) == ("10.1000/abc", "1706.03762", 2017)
    assert [(c.section, c.sentence) for c in first.contexts] == [
        ("1 One", "As shown (Roe, 2001) .")
    ]
    assert [c.section for c in second.contexts] == ["1.1 Two"]  # unlinked: found by name and year


def test_the_feet_of_pages_are_a_last_section_with_the_works_that_they_cite(read):
    paper = read("""<div><head n="1">One</head><p>Settings are below.<note place="foot" n="1">The step
        size is 0.1, as in <ref type="bibr" target="#b0">(Roe, 2001)</ref>.</note></p></div>
        <note place="foot" n="2">Code: https://example.org/code</note>""")
    assert [section.title for section in paper.sections] == ["1 One", "Footnotes"]
    assert paper.sections[0].text == "Settings are below."
    assert paper.sections[1].text.startswith("1 The step size is 0.1, as in (Roe, 2001).")
    assert paper.sections[1].text.endswith("2 Code: https://example.org/code")
    assert [context.section for context in paper.references[0].contexts] == ["Footnotes"]


def test_a_table_that_looks_whole_is_still_doubted(read):
    (found,) = read(table("Method|Acc|F1", "Ours|93.2|91", "Theirs|-|90")).tables
    assert (found.number, found.caption, found.confidence) == ("Table 1", "Scores.", DOUBTED)
    assert found.grid[1][1].numbers[0].value == 93.2
    assert "GROBID" in found.doubts[0]


def test_a_table_that_people_wrote_is_not_doubted(read):
    body = table("Method|Acc", "Ours|93.2", "Theirs|90.1").replace("<row>", '<row role="label">', 1)
    (found,) = read(body, software="oxygen").tables
    assert (found.confidence, found.header_rows) == (1, 1)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (table("Signal|CLS USR CITE", "SPECTER|84.2 88.4 91.5"), "Several numbers"),
        (table("A|B|C", "x|1.5|2.5", "y|3.5"), "shorter|length"),
        (table("A|B", "x|1.5|2.5", "y|3.5"), "shorter|length"),
        (table("84.2|88.4|91.5"), "single row"),
        (table("A", "1.5", "2.5"), "single"),
        (table("A|B", "x|1.5", text="x 1.5 2.5 y 3.5 4.5 z 5.5"), "caption holds"),
        (table("A|B", "x|1.5", "y|2.0", head=""), None),
        (table(), "without any"),
        ('<figure type="table"><head>Table 2:</head><table>The caption.\n\nA B\nx 1.5\n</table></figure>',
         "text without rows"),
    ],
)  # fmt: skip
def test_broken_tables_are_recognised(read, broken, says):
    (found,) = read(broken).tables
    if says is None:
        assert found.number == "Table 1"  # by its label
        return
    assert found.confidence == BROKEN
    assert re.search(says, " ".join(found.doubts))


def test_coordinates_are_the_provenance(read):
    coords = 'coords="3,72.0,100.0,50.0,20.0;3,60.0,125.0,80.0,10.0;4,0,0,1,1"'
    (found,) = read(table("A|B", "x|1.5", "y|2.0", more=coords)).tables
    assert (found.provenance.page, found.provenance.box) == (3, (60.0, 100.0, 140.0, 135.0))
    assert found.grid[1][1].provenance.page == 3
    (found,) = read(table("A|B", "x|1.5", "y|2.0", more='coords="3,nan,x"')).tables
    assert found.provenance.page is None and found.provenance.line


def test_a_number_that_is_no_number_is_part_of_the_caption(read):
    (found,) = read(
        '<figure type="table"><head>) the e18 were</head><figDesc>x</figDesc><table/></figure>'
    ).tables
    assert (found.number, found.caption) == (None, ") the e18 were x")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('<!DOCTYPE TEI [<!ENTITY a "b">]><TEI>&a;</TEI>', "entities"),
        ("<TEI><text>", "well-formed"),
        ("<article/>", "no <TEI>"),
        ("<TEI/>", "no text"),
    ],
)
def test_broken_files_are_refused(tmp_path, source, says):
    path = tmp_path / "paper.tei.xml"
    path.write_text(source)
    with pytest.raises(PaperError, match=says):
        read_tei(path)
