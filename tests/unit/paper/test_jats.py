"""JATS: tables with their notes, citations with their sentences, and files that are refused."""

from __future__ import annotations

import re

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.jats import read_jats
from repro_pipeline.paper.tables import DOUBTED

HEAD = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS-archivearticle1.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink">
<front><article-meta><title-group><article-title>On <italic>x</italic><xref ref-type="fn"
rid="n1">*</xref></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lovelace</surname>
<given-names>Ada</given-names></name><xref ref-type="aff">1</xref></contrib>
<contrib contrib-type="author"><collab>The Group<contrib-group><contrib contrib-type="author"><name>
<surname>Member</surname><given-names>A</given-names></name></contrib></contrib-group></collab>
</contrib><contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib></contrib-group>
<pub-date pub-type="ppub"><year>2021</year></pub-date>
<pub-date pub-type="epub"><month>12</month><year>2020</year></pub-date>
<abstract abstract-type="graphical"><p>Picture.</p></abstract>
<abstract><sec><title>Aim</title><p>To know.</p></sec></abstract></article-meta></front>"""
REFERENCES = """<back><ack><p>Thanks.</p></ack><ref-list><title>References</title>
<ref id="B1"><label>1</label><mixed-citation publication-type="journal"><name><surname>Roe</surname>
<given-names>R</given-names></name><article-title>First things</article-title><source>J</source>
<year>2001</year><pub-id pub-id-type="doi">10.1000/abc</pub-id></mixed-citation></ref>
<ref id="B2"><mixed-citation>Doe J. <article-title>Second things</article-title>. arXiv:1706.03762,
<year>2017</year>.</mixed-citation></ref>
<ref id="B3"><element-citation><person-group person-group-type="author"><name><surname>Poe</surname>
<given-names>E</given-names></name></person-group><person-group person-group-type="editor"><name>
<surname>Ed</surname></name></person-group><source>A Book</source><year>1999</year>
</element-citation></ref>
<ref id="B4"><mixed-citation>Moe M. Plain text of a reference. J. 2010;1:2.</mixed-citation></ref>
</ref-list></back>"""


@pytest.fixture
def read(tmp_path):
    def reader(body: str, back: str = REFERENCES, head: str = HEAD, tail: str = "</article>"):
        path = tmp_path / "paper.nxml"
        path.write_text(f"{head}<body>{body}</body>{back}{tail}", encoding="utf-8")
        return read_jats(path)

    return reader


def texts(table):
    return [[cell.text for cell in row] for row in table.grid]


def test_front_and_sections(read):
    paper = read("<p>Before.</p><sec><label>1</label><title>One</title><p>A.</p><sec><title>Two"
                 "</title><list><list-item><p>item</p></list-item></list></sec></sec>")  # fmt: skip
    assert (paper.title, paper.year) == ("On x", 2020)
    assert paper.authors == ("Ada Lovelace", "The Group")
    assert paper.abstract == "Aim: To know."
    assert [(s.title, s.level, s.text) for s in paper.sections] == [
        ("", 1, "Before."),
        ("1 One", 1, "A."),
        ("Two", 2, "- item"),
        ("Acknowledgements", 1, "Thanks."),
    ]


def test_references(read):
    first, second, third, fourth = read("<p>x</p>").references
    assert (first.title, first.authors, first.year) == ("First things", ("R Roe",), 2001)
    assert first.doi == "10.1000/abc"
    assert "Roe. First things. J. 2001" in first.text
    assert (second.title, second.year, second.arxiv) == ("Second things", 2017, "1706.03762")
    assert (third.title, third.authors) == ("A Book", ("E Poe",))
    assert (fourth.title, fourth.year) == ("Plain text of a reference", 2010)


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ('As shown [<xref ref-type="bibr" rid="B2">2</xref>].', {"B2"}),
        ('As shown.<sup><xref ref-type="bibr" rid="B1">1</xref>,<xref ref-type="bibr" rid="B3">3'
         "</xref></sup>", {"B1", "B3"}),
        ('As shown.<xref ref-type="bibr" rid="B1"><sup>1</sup></xref>', {"B1"}),
        ('As shown [<xref ref-type="bibr" rid="B1">1</xref>–<xref ref-type="bibr" rid="B4">4'
         "</xref>].", {"B1", "B2", "B3", "B4"}),
        ('As Roe did (<xref ref-type="bibr" rid="B1 B2">2001, 2017</xref>).', {"B1", "B2"}),
        ("As Roe did (Roe 2001) long ago.", {"B1"}),
        ('As shown [<xref ref-type="bibr" rid="">1</xref>-<xref ref-type="bibr" rid="B4"/>].', {"B4"}),
        ('As shown [<xref ref-type="bibr" rid="none">1</xref>–<xref ref-type="bibr" rid="B4">4</xref>].',
         {"B1", "B2", "B3", "B4"}),
        ('See <xref ref-type="fig" rid="B1">1</xref>.', set()),
    ],
)  # fmt: skip
def test_citations_in_every_style(read, sentence, cited):
    paper = read(f"<sec><title>S</title><p>Nothing here. {sentence} The end of it.</p></sec>")
    found = {r.key: r.contexts for r in paper.references if r.contexts}
    assert set(found) == cited
    for contexts in found.values():
        (context,) = contexts
        assert context.section == "S"
        assert context.sentence.startswith(("As ", "See"))
        assert "The end" not in context.sentence and "\ue000" not in context.sentence


def test_a_work_that_only_a_table_cites_is_cited(read):
    paper = read('<table-wrap><label>Table 1</label><table><tr><td>M [<xref ref-type="bibr" rid="B1"'
                 ">1</xref>]</td><td>2.0</td></tr><tr><td>N</td><td>3.0</td></tr></table>"
                 "</table-wrap>")  # fmt: skip
    assert paper.references[0].contexts[0].section == "Table 1"
    assert paper.sections[0].title == "Acknowledgements"


TABLE = """<p>See <table-wrap id="T1"><label>TABLE 1.</label><caption><title>Scores</title>
<p>Mean (SD in parentheses).</p></caption>
<alternatives><graphic xlink:href="t1"/><table>
<thead><tr><td rowspan="2">Method</td><td colspan="2">Digits<xref ref-type="table-fn" rid="f1">a</xref>
</td></tr><tr><td>Acc</td><td><italic>n</italic></td></tr></thead>
<tbody><tr><td>Ours</td><td><bold>93.2 (30.4)</bold></td><td>274<xref ref-type="table-fn"
rid="f2"><sup>1</sup></xref></td></tr>
<tr><td>Theirs</td><td>&minus;1.5 (.2)</td><td>10<sup>3</sup></td></tr></tbody>
<tfoot><tr><td>Mean</td><td>45.9 (0.1)</td><td>2</td></tr></tfoot></table></alternatives>
<table-wrap-foot><fn id="f1"><p>Handwritten.</p></fn></table-wrap-foot></table-wrap>
and so on.</p>"""


def test_a_table(read):
    paper = read(TABLE)
    (table,) = paper.tables
    assert (table.number, table.label, table.confidence) == ("Table 1", "T1", 1)
    assert table.caption == "Scores Mean (SD in parentheses). Handwritten."
    assert texts(table)[:2] == [["Method", "Digits^a", "Digits^a"], ["Method", "Acc", "n"]]
    assert (table.header_rows, table.header_columns) == (2, 1)
    best, count = table.grid[2][1:]
    assert (best.numbers[0].value, best.numbers[0].uncertainty, best.bold) == (93.2, 30.4, True)
    assert best.numbers[0].uncertainty_kind == "sd"
    assert (count.text, count.numbers[0].value, count.numbers[0].mark) == ("274[1]", 274, "[1]")
    assert [cell.numbers[0].value for cell in table.grid[3][1:]] == [-1.5, 1000]
    assert texts(table)[4] == ["Mean", "45.9 (0.1)", "2"]
    assert paper.sections[0].text == "See and so on."


def test_several_grids_in_one_table(read):
    grid = "<table><tr><td>{}</td><td>x</td></tr><tr><td>r</td><td>1.5</td></tr></table>"
    wrap = f"<table-wrap><label>Table 2</label>{grid.format('A')}{grid.format('B')}</table-wrap>"
    tables = read(wrap).tables
    assert [(t.index, t.number, t.grid[0][0].text) for t in tables] == [
        (1, "Table 2", "A"),
        (2, "Table 2", "B"),
    ]


def test_a_picture_of_a_table_is_named(read):
    (table,) = read(
        '<table-wrap><label>Table 3</label><graphic xlink:href="t3"/></table-wrap>'
    ).tables
    assert (table.number, table.grid, table.confidence) == ("Table 3", (), 0)
    assert "picture" in table.doubts[0]


def test_a_picture_in_a_cell_is_a_doubt(read):
    (table,) = read("<table-wrap><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>"
                    '<inline-graphic xlink:href="x"/></td></tr></table></table-wrap>').tables  # fmt: skip
    assert table.confidence <= DOUBTED and "picture" in table.doubts[0]


def test_an_oasis_row_leaves_out_columns(read):
    columns = "".join(f'<oasis:colspec colname="c{n}"/>' for n in range(1, 5))

    def row(**cells: str) -> str:
        entries = "".join(f'<oasis:entry colname="{c}">{t}</oasis:entry>' for c, t in cells.items())
        return f"<oasis:row>{entries}</oasis:row>"

    body = row(c1="A", c2="1.5", c3="2.5", c4="3.5") + row(c1="B", c4="4.5") + row(c1="C", c3="5.5")
    (table,) = read(f"""<table-wrap><label>Table 4</label><oasis:table
        xmlns:oasis="http://docs.oasis-open.org/ns/oasis-exchange/table"><oasis:tgroup cols="4">
        {columns}<oasis:thead>{row(c1="M", c2="P", c3="R", c4="F")}</oasis:thead>
        <oasis:tbody>{body}<oasis:row><oasis:entry colname="c1" morerows="1">D</oasis:entry>
        <oasis:entry colname="c2">6.5</oasis:entry></oasis:row>{row(c3="7.5")}</oasis:tbody>
        </oasis:tgroup></oasis:table></table-wrap>""").tables
    assert [[cell.text for cell in row] for row in table.grid[2:]] == [
        ["B", "", "", "4.5"],
        ["C", "", "5.5", ""],
        ["D", "6.5", "", ""],
        ["D", "", "7.5", ""],
    ]
    assert table.doubts == ()


def test_the_parts_of_a_group_of_tables(read):
    grid = "<table><tr><th>M</th><th>x</th></tr><tr><td>A</td><td>1.5</td></tr></table>"
    first, second, third = read(
        "<table-wrap-group><label>Table 2</label><caption><title>All.</title></caption>"
        f"<table-wrap><label>(A)</label>{grid}</table-wrap>"
        f"<table-wrap><label>B</label><caption><p>More.</p></caption>{grid}</table-wrap>"
        f"<table-wrap>{grid}</table-wrap></table-wrap-group>"
    ).tables
    assert [first.number, second.number, third.number] == ["Table 2a", "Table 2b", "Table 2"]
    assert [first.caption, second.caption] == ["All.", "All. More."]


def test_an_oasis_table(read):
    (table,) = read("""<table-wrap><label>Table 4</label><oasis:table
        xmlns:oasis="http://docs.oasis-open.org/ns/oasis-exchange/table"><oasis:tgroup cols="3">
        <oasis:colspec colname="c1"/><oasis:colspec colname="c2"/><oasis:colspec colname="c3"/>
        <oasis:thead><oasis:row><oasis:entry morerows="1">M</oasis:entry><oasis:entry namest="c2"
        nameend="c3">D</oasis:entry></oasis:row><oasis:row><oasis:entry>P</oasis:entry>
        <oasis:entry>R</oasis:entry></oasis:row></oasis:thead><oasis:tbody><oasis:row>
        <oasis:entry>A</oasis:entry><oasis:entry>1.5</oasis:entry><oasis:entry>2.5</oasis:entry>
        </oasis:row></oasis:tbody></oasis:tgroup></oasis:table></table-wrap>""").tables
    assert texts(table) == [["M", "D", "D"], ["M", "P", "R"], ["A", "1.5", "2.5"]]
    assert table.header_rows == 2


def test_formulas(read):
    paper = read(r"""<p>With <inline-formula><alternatives><inline-graphic xlink:href="i"/><tex-math>
        \documentclass{article}\begin{document}$$\alpha_i \le 2$$\end{document}</tex-math>
        <mml:math><mml:msub><mml:mi>a</mml:mi><mml:mi>i</mml:mi></mml:msub></mml:math></alternatives>
        </inline-formula> and <inline-formula><tex-math>$\beta$</tex-math></inline-formula>.</p>
        <disp-formula><label>(1)</label><mml:math><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi>
        </mml:mfrac></mml:math></disp-formula>""")
    assert re.sub(r"\s+", " ", paper.sections[0].text) == "With a_i and β.\n\na/b".replace(
        "\n\n", " "
    )
    assert paper.equations == ("a/b",)


def test_attached_articles_are_left_out(read):
    reply = ("<sub-article><body><p>Reviewer.</p><table-wrap><table><tr><td>1</td></tr></table>"
             "</table-wrap></body></sub-article></article>")  # fmt: skip
    paper = read("<p>Own.</p>", tail=reply)
    assert paper.tables == () and [s.text for s in paper.sections] == ["Own.", "Thanks."]


def test_named_characters_are_read_without_their_definition(read):
    assert read("<p>10 &plusmn; 1 &alpha;</p>").sections[0].text == "10 ± 1 α"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (f'<!DOCTYPE article [<!ENTITY l0 "lol">{LAUGHS}]><article><p>&l11;</p></article>', "entit"),
        ('<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]><article>&x;</article>', "entities"),
        (HEAD + "<body><p>cut", "well-formed"),
        ("<article>" + "<sec>" * 100_000, "well-formed"),
        ("<html/>", "no <article>"),
    ],
)  # fmt: skip
def test_hostile_and_broken_files_are_refused(tmp_path, source, says):
    path = tmp_path / "paper.nxml"
    path.write_text(source)
    with pytest.raises(PaperError, match=says) as raised:
        read_jats(path)
    assert raised.value.where.startswith("paper.nxml")
