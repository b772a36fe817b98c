"""A mutant without loading anything again: its functions' code takes the place of the right one where refmlc is loaded.

Not every mutant can be had so: what runs when a module is loaded (rows of tables, defaults of parameters, bases of
classes) has run; functions that see other names around them are other closures. `swaps` is None for those. Functions
that other ones are made by have run as well (`run_at_loading`).
"""

import ast
import gc
from collections import defaultdict
from types import CodeType, FunctionType

LOADED = ("<module>",)


def functions(root):
    """All functions of refmlc, by their code."""
    found = defaultdict(list)
    for each in gc.get_objects():  # by type: asked for their class, some objects of libraries warn
        if type(each) is FunctionType and each.__code__.co_filename.startswith(str(root)):
            found[each.__code__].append(each)
    return found


def swaps(path, right, wrong):
    """Pairs of code, the right one and the wrong one; None where that is not all there is to it."""
    pairs = []
    one, other = (compile(text, str(path), "exec") for text in (right, wrong))
    return pairs if _paired(one, other, pairs, at_loading=True) else None


def _paired(right, wrong, pairs, *, at_loading):
    """Whether both have the same functions inside; at loading, the same instructions too."""
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (right, wrong)]
    if [each.co_name for each in inner[0]] != [each.co_name for each in inner[1]]:
        return False
    if at_loading and _without_functions(right) != _without_functions(wrong):
        return False
    for one, other in zip(*inner, strict=True):
        of_class = at_loading and "__module__" in one.co_names and "__qualname__" in one.co_names
        if not _paired(one, other, pairs, at_loading=of_class):
            return False
        if not of_class and one != other:
            if one.co_freevars != other.co_freevars:
                return False
            pairs.append((one, other))
    return True


def _without_functions(code):
    """The instructions and constants, places in the text left out."""
    kept = [repr(each) for each in code.co_consts if not isinstance(each, CodeType) and not isinstance(each, int)]
    numbers = [each for each in code.co_consts if isinstance(each, int)]
    return code.co_code, kept, numbers, code.co_names


def swap(known, pairs):
    """Put the wrong code into the functions; whether there was one."""
    done = 0
    for right, wrong in pairs:
        for function in known.get(right, ()):
            function.__code__ = wrong
            done += 1
    return done


def run_at_loading(text):
    """Lines of a module's functions that run when it is loaded: what they made then is not made again.

    The bodies of functions that these make run later; their defaults have been.
    """
    tree = ast.parse(text)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    left, found = [node for node in tree.body if node not in defined.values()], {}
    left += [part for node in defined.values() for part in (*node.decorator_list, *node.args.defaults)]
    while left:
        names = {node.func.id for node in _executed(left.pop()) if _is_call_by_name(node)}
        for name in names & defined.keys() - found.keys():
            found[name] = defined[name]
            left += defined[name].body
    return {line for node in found.values() for line in _own_lines(node)}


def _own_lines(function):
    """The lines of a function, without the bodies of those inside."""
    lines = set(range(function.lineno, function.end_lineno + 1))
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            lines -= set(range(node.body[0].lineno, node.end_lineno + 1))
    return lines


def _executed(node):
    """The node and all in it but the bodies of functions inside."""
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _executed(child)


def _is_call_by_name(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
