"""C++ as the checks read it: without comments and literals, and cut into functions.

Not a parser: it knows what clang-format leaves behind, which is enough to count lines.
"""

import re

_TOKEN = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL)


def code_only(text):
    """The text with comments, strings and preprocessor lines blanked, line for line."""
    def blank(match):
        token = match.group(0)
        return ('""' if token[-1] == '"' else " ") + "\n" * token.count("\n")
    code = _TOKEN.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), code,
                  flags=re.MULTILINE)


_NO_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b|(?<![=!<>])=(?!=)|^extern\b")


def _opens_function(head):
    """Whether a '{' after `head`, at namespace or class level, opens a function's body."""
    bare, nested = head, 1
    while nested:
        bare, nested = re.subn(r"<[^<>]*>", "", bare)
    before_parens = bare.split("(")[0]
    is_operator = re.search(r"\boperator\b", bare)
    return is_operator or (re.search(r"[\w~]\s*\(", bare)
                           and not _NO_FUNCTION.search(before_parens))


def _opens_initializer(head):
    """Whether a '{' after `head` belongs to a member of a constructor's initializer list."""
    return re.search(r"\)\s*(noexcept\s*)?:(?!:)", head) and re.search(r"[\w>]\s*$", head)


def functions(text):
    """(name, first line, number of lines) of each function that has a body."""
    found = []
    levels = []  # of each open '{': "function" with its name and line, "outer", or "inner"
    head, head_line, line, parens = "", 1, 1, 0
    for c in code_only(text):
        inside = bool(levels) and levels[-1][0] != "outer"
        if c == "{":
            if inside or parens > 0 or _opens_initializer(head):
                levels.append(("inner", head, head_line))
                head = ""
            elif _opens_function(head):
                levels.append(("function", head, head_line))
            else:
                levels.append(("outer", head, head_line))
            if levels[-1][0] != "inner":
                head = ""
        elif c == "}" and levels:
            kind, opening, at = levels.pop()
            if kind == "function":
                name = re.search(r"operator\s*(?:\(\)|[^(]*)|[~\w:]+(?=\s*\()", opening)
                found.append((name.group(0).strip(), at, line - at + 1))
            within = bool(levels) and levels[-1][0] != "outer"
            head = opening + "{}" if kind == "inner" and not within else ""
            head_line = at if head else line
        elif not inside:
            parens += (c == "(") - (c == ")")
            ends_label = c == ":" and head.strip() in ("public", "private", "protected")
            if (c == ";" and parens == 0) or ends_label:
                head = ""
            elif head.strip() or not c.isspace():
                if not head.strip():
                    head_line = line
                head += c
        line += c == "\n"
    return found
