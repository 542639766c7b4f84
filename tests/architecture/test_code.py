"""Static checks of the source code: unsafe calls, SQL in Python, missing docstrings."""

from __future__ import annotations

import ast
import re

import pytest
from tests.architecture.sources import SOURCE, modules


def test_every_module_has_a_docstring() -> None:
    missing = [
        path for path, tree in modules().items() if tree.body and not ast.get_docstring(tree)
    ]

    assert missing == []


# Unsafe modules and calls: data must never become code

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
    "config/yaml_file.py": {"yaml.load"},  # with a loader stricter than SafeLoader
    "testing/suites/access.py": {"pickle"},  # shows that a grant cannot be pickled
}
OPTIONS_NEVER = {("allow_pickle", True), ("shell", True), ("verify", False)}


def find_unsafe(tree: ast.Module) -> set[str]:
    """Return the forbidden imports, calls and keyword arguments of a module."""
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


def test_source_has_no_unsafe_calls() -> None:
    assert {
        path: wrong for path, tree in modules().items() if (wrong := find_unsafe(tree))
    } == ON_PURPOSE


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
def test_unsafe_call_is_detected(code: str) -> None:
    assert find_unsafe(ast.parse(code))


def test_safe_calls_are_accepted() -> None:
    assert not find_unsafe(ast.parse("yaml.safe_load(text); re.compile(x); connection.execute(q)"))


# SQL belongs into .sql files

STATEMENT = re.compile(
    r"^\s*(SELECT\b|INSERT\s+(OR\s+\w+\s+)?INTO\b|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|WITH\s+\w+.*\bAS\b"
    r"|(CREATE|DROP|ALTER)\s+(TEMP\s+|VIRTUAL\s+|UNIQUE\s+)*(TABLE|INDEX|VIEW|TRIGGER)\b|REPLACE\s+INTO\b)",
    re.IGNORECASE | re.DOTALL,
)
CATALOG = re.compile(r"\bFROM sqlite_(master|schema)\b")  # SQLite's own, before any schema
SQL_IN_PYTHON = {
    "stores/sqlite/sqlite_vec.py": "a vec0 table names its dimension: one table per profile",
    "stores/postgres/vectors.py": "a partial index names its label in its definition",
    "stores/postgres/eraser.py": "searches every text column of every existing table",
}
SQL_FROM_PARTS = {
    **SQL_IN_PYTHON,
    "stores/postgres/transaction.py": "a named cursor does not take its row count as a parameter",
    "stores/sqlite/sqlcipher.py": "PRAGMA key takes no parameter; the value is hexadecimal digits",
}


def find_sql(tree: ast.Module) -> list[str]:
    """Return the SQL statements among the string constants of a module, without docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]
    return [text for text in texts if STATEMENT.match(text) and not CATALOG.search(text)]


def test_sql_is_in_sql_files() -> None:
    modules_with_sql = {
        path: found for path, tree in modules().items() if (found := find_sql(tree))
    }

    assert set(modules_with_sql) == set(SQL_IN_PYTHON), modules_with_sql


@pytest.mark.parametrize(
    "code",
    [
        "x.execute('SELECT 1 FROM a')",
        "x.execute(f'DELETE FROM {table}')",
        "q = '''\\n  insert into a values (1)'''",
        "q = 'UPDATE a SET b = 1'",
        "q = 'CREATE TEMP TABLE a (b)'",
        "q = 'WITH x AS (SELECT 1) SELECT * FROM x'",
    ],
)
def test_sql_in_python_is_detected(code: str) -> None:
    assert find_sql(ast.parse(code))


def test_docstring_is_no_sql() -> None:
    assert not find_sql(ast.parse("def f():\n    'Select the best hits.'"))


def test_execute_takes_no_concatenated_sql() -> None:
    """The first argument of `execute` is a named query or a constant."""
    joined = {
        f"{path}:{node.lineno}"
        for path, tree in modules().items()
        if path not in SQL_FROM_PARTS
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("execute", "executemany", "executescript")
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
    }

    assert joined == set()


def test_sql_uses_no_pattern_match() -> None:
    """SQL compares scopes, workspaces and users exactly: `acme` must not match `acme-corp`."""
    sql = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.sql"))
    without_comments = re.sub(
        r"--[^\n]*|\(LIKE audit\)", "", sql
    )  # a table with the columns of another

    assert not re.search(r"\b(LIKE|GLOB|REGEXP|MATCH)\b", without_comments, re.IGNORECASE)
