"""A line of the language of contracts (`language` has the grammar) as its clauses."""

import re

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.oracle.contracts.language import (
    PROPERTIES,
    SIGNS,
    Chain,
    Combination,
    ContractClause,
    Every,
    Item,
    ItemRange,
    Numeral,
    Property,
    Quantity,
    Some,
    ValueOf,
    Within,
)

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+|\d+)|(?P<name>[^\W\d][\w.]*)"
    r"|(?P<sign><=|>=|==|!=|//|[-+*%<>()\[\],:]))"
)
LONGEST = 2000  # characters of a line
DEEPEST = 40  # brackets and signs within each other
KEYWORDS = frozenset(("or", "and", "in", "min", "max"))


def parse(text: str) -> tuple[ContractClause, ...]:
    """The clauses of a line. Fails: RM112, with the place in the line."""
    if len(text) > LONGEST:
        raise fail(BAD_USAGE, f"a contract has at most {LONGEST} characters, this one {len(text)}")
    return _Parser(text).line()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str, int]] = []
        self._at = self._depth = 0
        self._subject: ValueOf | None = None
        at = 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            if match is None:
                raise self._problem("is not a token of a contract", at + len(text[at:]) - len(text[at:].lstrip()))
            self._tokens.append((match.lastgroup or "", match[match.lastgroup or 0], match.start(match.lastgroup or 0)))
            at = match.end()

    # ------------------------------------------------------------------------------------------- tokens

    def _problem(self, what: str, at: int) -> RefmlcError:
        """The failure at a character of the line."""
        rest = self._text[at : at + 20]
        place = f"`{rest}` {what}" if rest else f"its end {what}"
        return fail(BAD_USAGE, f"the contract `{self._text}` cannot be read: {place}")

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at][:2] if self._at < len(self._tokens) else ("end", "")

    def _place(self) -> int:
        return self._tokens[self._at][2] if self._at < len(self._tokens) else len(self._text)

    def _takes(self, *texts: str) -> str:
        """The next token if it is one of `texts`, which is then passed; else empty."""
        kind, text = self._next()
        if kind in ("sign", "name") and text in texts:
            self._at += 1
            return text
        return ""

    def _needs(self, *texts: str) -> str:
        """The next token, one of `texts`. Fails: RM112."""
        at, token = self._place(), self._takes(*texts)
        if not token:
            raise self._problem(f"is not {' or '.join(f'`{text}`' for text in texts)}", at)
        return token

    # ------------------------------------------------------------------------------------------ clauses

    def line(self) -> tuple[ContractClause, ...]:
        """The whole line."""
        start = self._at
        if self._next()[0] == "name" and self._next()[1] not in KEYWORDS:
            subject = self._value()
            if self._takes(":"):
                self._subject = subject
            else:
                self._at = start
        clauses = [self._clause()]
        while self._takes(","):
            clauses.append(self._clause())
        if self._next()[0] != "end":
            raise self._problem("is not the end of the contract", self._place())
        return tuple(clauses)

    def _clause(self) -> ContractClause:
        options = [self._part()]
        while self._takes("or"):
            options.append(self._part())
        return options[0] if len(options) == 1 else Some(tuple(options))

    def _part(self) -> ContractClause:
        parts = [self._piece()]
        while self._takes("and"):
            parts.append(self._piece())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _piece(self) -> ContractClause:
        at = self._place()
        word = self._property()
        if word:
            if self._subject is None:
                raise self._problem("is a property of no subject: write `name: property`", at)
            return Property(self._subject, word)
        first = self._sum() if self._next()[1] != "in" or self._subject is None else self._subject
        if self._takes("in"):
            opening = self._needs("[", "(")
            low = self._sum()
            self._needs(",")
            high = self._sum()
            return Within(first, low, high, (opening == "[", self._needs("]", ")") == "]"))
        operands, signs = [first], [self._needs(*SIGNS)]
        operands.append(self._sum())
        while sign := self._takes(*SIGNS):
            signs.append(sign)
            operands.append(self._sum())
        return Chain(tuple(operands), tuple(signs))

    def _property(self) -> str:
        """The property that comes next; empty: none does."""
        words = [text for kind, text, _ in self._tokens[self._at : self._at + 2] if kind == "name"]
        following = self._tokens[self._at + 1][1] if self._at + 1 < len(self._tokens) else ","
        for word in PROPERTIES:
            parts = word.split()
            if words[: len(parts)] == parts and (len(parts) > 1 or following in (",", "or", "and")):
                self._at += len(parts)
                return word
        return ""

    # --------------------------------------------------------------------------------------- quantities

    def _sum(self) -> Quantity:
        left = self._product()
        while op := self._takes("+", "-"):
            left = Combination(op, left, self._product())
        return left

    def _product(self) -> Quantity:
        left = self._factor()
        while op := self._takes("*", "//", "%"):
            left = Combination(op, left, self._factor())
        return left

    def _factor(self) -> Quantity:
        self._depth += 1
        at = self._place()
        if self._depth > DEEPEST:
            raise self._problem("is nested too deeply", at)
        try:
            return self._factor_at(at)
        finally:
            self._depth -= 1

    def _factor_at(self, at: int) -> Quantity:
        kind, text = self._next()
        if kind == "number":
            self._at += 1
            return Numeral(int(text) if text.isdigit() else float(text))
        if self._takes("-"):
            inner = self._factor()
            return Numeral(-inner.value) if isinstance(inner, Numeral) else Combination("-", Numeral(0), inner)
        if self._takes("("):
            inner = self._sum()
            self._needs(")")
            return inner
        if op := self._takes("min", "max"):
            self._needs("(")
            left = self._sum()
            self._needs(",")
            right = self._sum()
            self._needs(")")
            return Combination(op, left, right)
        if kind == "name" and text not in KEYWORDS:
            return self._value()
        raise self._problem("is not a quantity", at)

    def _value(self) -> ValueOf:
        name = self._next()[1]
        self._at += 1
        if not self._takes("["):
            return ValueOf(name)
        items = [self._item()]
        while self._takes(","):
            items.append(self._item())
        self._needs("]")
        return ValueOf(name, tuple(items))

    def _item(self) -> Item:
        at, start = self._place(), self._integer()
        if self._takes(":"):
            return ItemRange(start, self._integer())
        if start is None:
            raise self._problem("is not an index", at)
        return start

    def _integer(self) -> int | None:
        """The integer that comes next; None: none does."""
        before = self._at
        negative = bool(self._takes("-"))
        kind, text = self._next()
        if kind != "number" or not text.isdigit():
            self._at = before
            return None
        self._at += 1
        return -int(text) if negative else int(text)
