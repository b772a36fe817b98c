"""Reports: JUnit XML against a schema, JSON against the one that is published, the words, the page as text."""

import base64
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
import xmlschema
from hand_made import hand_suite

from refmlc.oracle.suite.expectations import Deviation, Expectations
from refmlc.oracle.suite.report.junit import junit
from refmlc.oracle.suite.report.page import page, short_names
from refmlc.oracle.suite.report.text import as_data, summary, unexpected_lines
from refmlc.oracle.suite.result import CallResult, CaseVerdict, Element, case_result
from refmlc.oracle.suite.runner import reported

HERE = Path(__file__).parent
SCHEMA = Path(__import__("refmlc").__file__).parent / "oracle" / "suite" / "report" / "schema.json"
SUITE = hand_suite()
EVIL = '</script><script>document.title = "evil"</script><img src=x onerror=alert(1)> & "\x00\x1b'
ROWS = Expectations(
    "rows.toml",
    (
        Deviation("nan", "NaN is lost", "floats are taken for ordered", ("hand.max",), (CaseVerdict.FAIL,)),
        Deviation("old", "", "it is gone", ("hand.min", "hand.nowhere"), (CaseVerdict.FAIL,)),
    ),
)
ELEMENT = Element("`C`", "[1]", "2.5 (0x1.4p+1)", "2.0 (0x1p+1)", "0x1p+0 … 0x1p+2")


def one(name, verdict, why=""):
    rows = (ELEMENT,) if verdict is CaseVerdict.FAIL else ()
    return case_result(f"hand.{name}", [CallResult(verdict, why, f"got {why}" if why else "", rows)], 0.25)


def everything():
    """A report with every verdict."""
    results = [
        one("add", CaseVerdict.PASS),
        one("sum", CaseVerdict.PERMITTED, "`S`: element 0 is 1, recorded is 2"),
        one("sub", CaseVerdict.FAIL, "`C`: element 1 is 2.5, recorded is 2.0"),
        one("trap", CaseVerdict.MISSED_TRAP, "it returns, recorded is trap RM401"),
        one("mul", CaseVerdict.OVER_STRICT, EVIL),
        one("half", CaseVerdict.UNSUPPORTED, "no float16 here"),
        one("div", CaseVerdict.CRASH, "the process was killed by SIGSEGV"),
        one("tiny", CaseVerdict.TIMEOUT, "no answer within 1 s"),
        one("max", CaseVerdict.FAIL, "`C`: element 1 is 1.0, recorded is nan"),
        one("min", CaseVerdict.PASS),
        one("open", None),
    ]
    return reported(SUITE, (f"cmd:{EVIL}", "1.0"), results, ROWS, seconds=2.5)


def good():
    return reported(SUITE, ("interp", ""), [one("add", CaseVerdict.PASS), one("open", None)], seconds=0.5)


# ------------------------------------------------------------------------------------------ XML, JSON, words


def test_junit_is_as_the_schema_says_and_has_every_case():
    text = junit([everything(), good()])
    schema = xmlschema.XMLSchema(HERE / "junit.xsd")
    schema.validate(io.BytesIO(text.encode()))
    found = schema.to_dict(io.BytesIO(text.encode()))
    first, second = found["testsuite"]
    numbers = [first[f"@{name}"] for name in ("tests", "failures", "errors", "skipped")]
    assert numbers == [12, 5, 2, 3]
    assert [second[f"@{name}"] for name in ("tests", "failures", "errors", "skipped")] == [2, 0, 0, 1]
    cases = {case["@name"]: case for case in first["testcase"]}
    assert cases["sub"]["failure"]["@type"] == "fail"
    assert "`C`[1]: 2.5 (0x1.4p+1), recorded 2.0 (0x1p+1)" in cases["sub"]["failure"]["$"]
    assert cases["div"]["error"]["@message"] == "the process was killed by SIGSEGV"
    assert cases["min"]["failure"]["@message"] == "`old` expects fail; the verdict is pass"
    assert cases["max"]["skipped"]["@message"] == "known: nan: NaN is lost: floats are taken for ordered"
    assert cases["half"]["skipped"]["@message"] == "unsupported: no float16 here"
    assert "\ufffd" in cases["mul"]["failure"]["@message"]
    assert any(name.startswith("rows.toml, `old`: no case is called") for name in cases)


def test_the_schema_of_junit_is_no_sieve():
    schema = xmlschema.XMLSchema(HERE / "junit.xsd")
    text = junit([good()])
    for wrong in (text.replace('tests="2"', ""), text.replace("testcase", "case"), text.replace('"0.500"', '"soon"')):
        assert wrong != text
        assert not schema.is_valid(io.BytesIO(wrong.encode()))


def test_json_is_as_the_published_schema_says():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    data = json.loads(json.dumps(as_data([everything(), good()]), allow_nan=False))
    jsonschema.validate(data, schema)
    assert (data["ok"], [report["ok"] for report in data["reports"]]) == (False, [False, True])
    cases = {case["id"]: case for case in data["reports"][0]["cases"]}
    assert cases["hand.max"] == {
        "id": "hand.max",
        "verdict": "known",
        "was": "fail",
        "known": "nan",
        "seconds": 0.25,
        "calls": [
            {
                "verdict": "fail",
                "why": "`C`: element 1 is 1.0, recorded is nan",
                "got": "got `C`: element 1 is 1.0, recorded is nan",
                "rows": [
                    {
                        "label": "`C`",
                        "index": "[1]",
                        "got": "2.5 (0x1.4p+1)",
                        "recorded": "2.0 (0x1p+1)",
                        "permitted": "0x1p+0 … 0x1p+2",
                    }
                ],
            }
        ],
    }
    data["reports"][0]["cases"][0]["verdict"] = "fine"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_in_words():
    report = everything()
    assert list(unexpected_lines(report))[:3] == [
        "rows.toml, `old`: no case is called `hand.nowhere`",
        "fail: hand.sub: `C`: element 1 is 2.5, recorded is 2.0",
        "    `C`[1]: 2.5 (0x1.4p+1), recorded 2.0 (0x1p+1); permitted: 0x1p+0 … 0x1p+2",
    ]
    assert list(unexpected_lines(report, 1))[-1] == "… and 5 more"
    assert summary(replace(report, implementation="x")) == (
        "x 1.0: 1 crash, 1 timeout, 1 fail, 1 missed-trap, 1 over-strict, 1 known, 1 unsupported, 1 permitted, "
        "2 pass, 1 not scored: 7 not as expected"
    )
    assert summary(good()) == "interp: 1 pass, 1 not scored: as expected"
    assert list(unexpected_lines(good())) == []
    broken_off = replace(good(), interrupted=True, results=good().results[:1])
    assert list(unexpected_lines(broken_off)) == ["the run was interrupted after 1 case"]


# ------------------------------------------------------------------------------------------ the page


class Tags(HTMLParser):
    """The tags of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "script"

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def test_the_page_needs_nothing_and_permits_its_own_script_alone():
    evil = replace(SUITE.cases[0], id=EVIL, text=f"# {EVIL}")
    suite = replace(SUITE, cases=(*SUITE.cases, evil))
    results = [*everything().results, replace(one("evil", CaseVerdict.FAIL, EVIL), id=EVIL)]
    text = page(suite, [replace(everything(), results=tuple(results)), good()])
    found = Tags(text)
    assert [tag for tag, attrs in found.tags if "src" in attrs or ("href" in attrs and attrs["href"][0] != "#")] == []
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    data, script = found.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [attrs["content"] for tag, attrs in found.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert [case["id"] for case in json.loads(data)["cases"]][-1] == EVIL
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|XMLHttp|import\(", script)


def test_the_page_is_the_same_each_time():
    assert page(SUITE, [everything()]) == page(SUITE, [everything()])


def test_the_path_of_a_python_is_no_part_of_what_is_shown():
    tvm = replace(good(), implementation="tvm:/opt/a/bin/python,target=c", version="1")
    other = replace(tvm, implementation="tvm:/opt/b/bin/python,target=c", version="2")
    command = replace(tvm, implementation="cmd:./mine --serve")
    assert short_names([tvm, other, command]) == ["tvm,target=c", "tvm,target=c", "cmd:./mine --serve"]
    far = replace(tvm, implementation="cmd:/opt/a/bin/python -S /home/me/mine.py --to=/tmp/x http://a/b")
    assert short_names([far]) == ["cmd:python -S mine.py --to=/tmp/x http://a/b"]
    same = replace(other, version="1")
    assert short_names([tvm, same]) == [tvm.implementation, same.implementation]
    assert 'title="tvm:/opt/a/bin/python,target=c"><span class="name">tvm,target=c<' in page(SUITE, [tvm])
