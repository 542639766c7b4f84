"""What a machine can check about our own code: names, sizes, and what never appears in it."""

from __future__ import annotations

import ast
import re

import pytest
from tests.architecture.sources import SOURCE, length, modules

# Names: STYLE 8.3

BANNED = set(
    "util utils helper helpers common misc base main manager handler processor factory service"
    " impl types v2".split()
)
NAMED_ON_PURPOSE = {
    "MemoryKind": "EventKind's sister; `Kind` alone is a scope's",
}


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def test_no_path_has_a_name_that_says_nothing() -> None:
    paths = [
        path.relative_to(SOURCE) for path in SOURCE.rglob("*") if "__pycache__" not in str(path)
    ]
    parts = {part.partition(".")[0] for path in paths for part in path.parts}

    said_nothing = {p for p in parts if not p.startswith("__") and BANNED & set(words(p))}

    assert said_nothing == set()


def test_no_class_has_a_name_that_says_nothing() -> None:
    classes = {
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    said_nothing = {name for name in classes if BANNED & set(words(name))}
    about_memory = {name for name in classes if re.match("Memory.", name)}

    assert len(classes) > 50
    assert said_nothing == set()
    assert about_memory == set(NAMED_ON_PURPOSE)


# Sizes: STYLE 9

LONGEST_FUNCTION = 40
LONGEST_MODULE = 400
LONGER_ON_PURPOSE = {
    "stores/inprocess.py": "the specification of a store, read in one go",
}


def test_functions_are_short() -> None:
    long = {
        f"{path}: {node.name}": node.end_lineno - node.lineno + 1
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    }

    assert long == {}


def test_modules_are_short() -> None:
    long = {path for path in modules() if length(path) > LONGEST_MODULE}

    assert long == set(LONGER_ON_PURPOSE)
    assert length("nexus.py") <= 200


def test_folders_are_not_deep_and_modules_say_what_they_are_for() -> None:
    silent = [path for path, tree in modules().items() if tree.body and not ast.get_docstring(tree)]

    assert max(path.count("/") for path in modules()) <= 3
    assert silent == []


# What never appears: no code in data, no effects on import

MODULES_NEVER = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "imp", "code"}
CALLS_NEVER = {
    "eval",
    "exec",
    "__import__",
    "compile",
    "yaml.load",
    "yaml.load_all",
    "yaml.full_load",
    "yaml.unsafe_load",
    "os.system",
    "os.popen",
    "tempfile.mktemp",
}
ON_PURPOSE = {
    "config_file.py": {"yaml.load"},  # with a loader stricter than SafeLoader
    "testing/suites/access.py": {"pickle"},  # shows that a grant cannot be pickled
}
OPTIONS_NEVER = {("allow_pickle", True), ("shell", True), ("verify", False)}


def found(tree: ast.Module) -> set[str]:
    """What of the above a module holds."""
    wrong: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wrong |= {alias.name for alias in node.names} & MODULES_NEVER
        elif isinstance(node, ast.ImportFrom):
            wrong |= {node.module or ""} & MODULES_NEVER
        elif isinstance(node, ast.Call):
            wrong |= {ast.unparse(node.func)} & CALLS_NEVER
            for option in node.keywords:
                if isinstance(option.value, ast.Constant):
                    given = (option.arg, option.value.value)
                    wrong |= {f"{given[0]}={given[1]}"} if given in OPTIONS_NEVER else set()
    return wrong


def test_no_data_becomes_code() -> None:
    assert {path: wrong for path, tree in modules().items() if (wrong := found(tree))} == ON_PURPOSE


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from marshal import loads",
        "eval(x)",
        "exec('y')",
        "yaml.load(text)",
        "np.load(file, allow_pickle=True)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_the_search_would_find_it(code: str) -> None:
    assert found(ast.parse(code))


def test_yaml_is_read_safely() -> None:
    assert not found(ast.parse("yaml.safe_load(text); re.compile(x); connection.execute(q)"))


# SQL lives in .sql files: STYLE 12

STATEMENT = re.compile(
    r"^\s*(SELECT\b|INSERT\s+(OR\s+\w+\s+)?INTO\b|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|WITH\s+\w+.*\bAS\b"
    r"|(CREATE|DROP|ALTER)\s+(TEMP\s+|VIRTUAL\s+|UNIQUE\s+)*(TABLE|INDEX|VIEW|TRIGGER)\b|REPLACE\s+INTO\b)",
    re.IGNORECASE | re.DOTALL,
)
CATALOGUE = re.compile(r"\bFROM sqlite_(master|schema)\b")  # SQLite's own, before any schema
SQL_IN_PYTHON = {
    "stores/sqlite/vec.py": "a vec0 table has its dimension in its definition: one per profile",
    "stores/postgres/vectors.py": "an index of one label has its numbers in its definition",
    "stores/postgres/traces.py": "every column that can hold a text, of whatever tables there are",
}
PUT_TOGETHER = {
    **SQL_IN_PYTHON,
    "stores/postgres/rows.py": "a cursor has a name and takes no number of rows as a parameter",
    "stores/sqlite/encrypted.py": "PRAGMA key takes no parameter: hexadecimal digits of our own",
}


def statements(tree: ast.Module) -> list[str]:
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if STATEMENT.match(text) and not CATALOGUE.search(text)]


def test_sql_lives_in_sql_files() -> None:
    holding = {path: found for path, tree in modules().items() if (found := statements(tree))}

    assert set(holding) == set(SQL_IN_PYTHON), holding


@pytest.mark.parametrize(
    "code",
    [
        "x.execute('SELECT 1 FROM a')",
        "x.execute(f'DELETE FROM {table}')",
        "q = '''\\n  insert into a values (1)'''",
        "'UPDATE a SET b = 1'",
        "'CREATE TEMP TABLE a (b)'",
        "'WITH x AS (SELECT 1) SELECT * FROM x'",
    ],
)
def test_the_search_for_sql_would_find_it(code: str) -> None:
    assert statements(ast.parse(code))


def test_a_query_is_never_put_together() -> None:
    """The text given to `execute` is a name in SQL, a constant, or one of ours on purpose."""
    joined = {
        f"{path}:{node.lineno}"
        for path, tree in modules().items()
        if path not in PUT_TOGETHER
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("execute", "executemany", "executescript")
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
    }

    assert joined == set()


def test_identity_is_never_matched_by_pattern() -> None:
    """No LIKE, GLOB or prefix on scopes, workspaces, users: `acme` is not `acme-corp`."""
    sql = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.sql"))
    without_comments = re.sub(r"--[^\n]*|\(LIKE audit\)", "", sql)  # a table made like another

    assert not re.search(r"\b(LIKE|GLOB|REGEXP|MATCH)\b", without_comments, re.IGNORECASE)
