"""What C compilers say: of one cause in one form, whichever compiler and program it is."""

import pytest

from refmlc.oracle.fuzz.c_errors import c_error
from refmlc.oracle.fuzz.finding_pattern import failure_words
from refmlc.oracle.reasons import normalised

HEAD = "RuntimeError: Compilation error: /tmp/tmp1/lib0.c: In function ‘int f(void*)’: /tmp/tmp1/lib0.c:1:2: "
CONVERSION = "cannot convert int* to float in assignment"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("error: ‘half’ was not declared in this scope 12 | if (half) | ^~~~ /tmp/a.c:1:2: error: expected", "half"),
        ("error: ‘half’ undeclared (first use in this function) 12 | half", "half"),
        ("error: ‘half’ does not name a type 12 | half", "half"),
        ("error: use of undeclared identifier 'half' 12 | half", "half"),
        ("error: unknown type name 'half'\n half x;", "half"),
        ("error: ‘double2’ was not declared in this scope 12 | x", "a vector type"),
        ("error: ‘uint8_t16’ was not declared in this scope; did you mean ‘uint8_t’? 12 | x", "a vector type"),
        ("error: ‘half4’ was not declared in this scope 12 | x", "a vector type"),
    ],
)
def test_a_name_that_is_not_known_is_named(message, words):
    assert c_error(HEAD + message) == c_error(normalised(HEAD + message)) == f"{words} is undeclared"


def test_of_other_errors_the_first_is_left_without_quotes_and_numbers():
    message = f"{HEAD}error: cannot convert ‘int*’ to ‘float’ in assignment 7 | a"
    assert c_error(message) == c_error(normalised(message)) == CONVERSION
    assert c_error(f"{HEAD}error: ‘a’ has 3 fields 7 | a") == "a has # fields"


@pytest.mark.parametrize("message", ["", "InternalError: error: no compiler", "RuntimeError: Compilation error: none"])
def test_what_no_c_compiler_says_has_no_words(message):
    assert c_error(message) == ""


def test_names_of_a_program_are_left_out_of_the_words():
    message = f"{HEAD}error: ‘Dn’ was not declared in this scope 7 | a"
    assert failure_words(message, {"Dn"}) == "the C compiler: _ is undeclared"
    assert failure_words(message) == "the C compiler: Dn is undeclared"
    assert c_error(f"{HEAD}error: a is 3 of Dn 7 | x", {"Dn"}) == "a is # of _"


def test_the_words_for_vectors_are_no_names_of_a_program():
    assert c_error(f"{HEAD}error: ‘int8_t4’ was not declared in this scope 1 | a", {"a", "type"}) == (
        "a vector type is undeclared"
    )


@pytest.mark.parametrize(
    "words",
    [
        "no matching function for call to ‘exp(double (&)(const char*) noexcept)’",
        "no matching function for call to ‘pow(float&, float (&)(const char*))’",
        "cannot convert ‘float(const char*) noexcept’ to ‘float’ in assignment",
        "cannot convert ‘float (*)(const char*) noexcept’ to ‘float’",
        "invalid operands of types ‘float’ and ‘float(const char*) noexcept’ to binary ‘operator*’",
        "wrong type argument to unary minus",
    ],
)
def test_a_literal_that_is_a_function_of_c_is_one_cause_whatever_takes_it(words):
    message = f"{HEAD}error: {words} 9 | a"
    assert c_error(message) == c_error(normalised(message)) == "a function of C is taken for a number"
    other = "no matching function for call to f(int&)"
    assert c_error(f"{HEAD}error: {other} 9 | a") == other


def test_an_infinity_in_a_message_without_numbers_is_named():
    message = f"{HEAD}error: ‘inf’ was not declared in this scope; did you mean ‘ynf’? 9 | X[0] = inf;"
    assert c_error(message) == c_error(normalised(message)) == "inf is undeclared"
