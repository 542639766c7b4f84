"""Tenant isolation, checked against the catalog of a Postgres database.

`find_defects(connection)` reads pg_catalog, not our own SQL files. It therefore finds a table
without row-level security, however the table was created.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

SCHEMA = "nexus"
NO_TENANT = {"schema_version", "profiles", "key_vault"}  # these tables contain no tenant data
# The lookup of a workspace by its name, and the worker's lookup of due work.
ACROSS_WORKSPACES = {"workspaces_name_key", "jobs_by_due"}
DEFINER_FUNCTIONS = {"rotate_audit_partitions"}  # run with owner rights; return no content

TABLES = """
SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relispartition,
       EXISTS (SELECT 1 FROM aclexplode(c.relacl) AS a
                WHERE a.grantee <> c.relowner)
  FROM pg_class AS c
 WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p', 'f', 'm')
 ORDER BY c.relname"""

KEYS = """
SELECT i.indexrelid::regclass::text, a.attname
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indexrelid
  JOIN pg_am ON pg_am.oid = c.relam
  LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
 WHERE i.indrelid = %s AND pg_am.amname <> 'brin'"""

FOREIGN_KEYS = """
SELECT k.conname, here.attname, there.attname
  FROM pg_constraint AS k
  JOIN pg_attribute AS here ON here.attrelid = k.conrelid AND here.attnum = k.conkey[1]
  JOIN pg_attribute AS there ON there.attrelid = k.confrelid AND there.attnum = k.confkey[1]
 WHERE k.contype = 'f' AND k.conrelid = %s"""

POLICIES = """
SELECT polname, polpermissive, polcmd::text, pg_get_expr(polqual, polrelid),
       pg_get_expr(polwithcheck, polrelid)
  FROM pg_policy WHERE polrelid = %s"""

VIEWS = """
SELECT relname, coalesce(reloptions::text, '') FROM pg_class
 WHERE relnamespace = %s::regnamespace AND relkind = 'v'"""

FUNCTIONS = """
SELECT proname FROM pg_proc WHERE pronamespace = %s::regnamespace AND prosecdef"""

ROLES = """
SELECT rolname, rolsuper, rolbypassrls,
       EXISTS (SELECT 1 FROM pg_class WHERE relowner = pg_roles.oid
                                        AND relnamespace = %s::regnamespace)
  FROM pg_roles WHERE rolname = %s"""


@dataclass(frozen=True)
class Table:
    """Catalog entry of one table."""

    oid: int
    name: str
    row_security: bool
    forced: bool
    partition: bool
    granted: bool


Ask = Callable[..., list[tuple[Any, ...]]]


def find_defects(connection: psycopg.Connection[Any], role: str = "nexus_app") -> list[str]:
    """Return every defect as one line."""

    def ask(sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    tables = [Table(*row) for row in ask(TABLES, SCHEMA)]
    return [
        *_role_defects(ask, role),
        *(line for table in tables for line in _of_table(ask, table)),
        *_of_views(ask),
        *_of_functions(ask),
    ]


def _of_table(ask: Ask, table: Table) -> Iterator[str]:
    if table.name in NO_TENANT:
        return
    yield from _of_keys(ask, table)
    if table.partition and not table.granted:
        return  # reachable only through its parent table, which has the policies
    if not table.row_security:
        yield f"{table.name}: row-level security is off"
    if not table.forced:
        yield f"{table.name}: row-level security is not forced upon its owner"
    policies = ask(POLICIES, table.oid)
    if not any(permissive for _, permissive, *_ in policies):
        yield f"{table.name}: it has no policy"
    for policy in policies:
        yield from (f"{table.name}: {line}" for line in _of_policy(*policy))


def _of_keys(ask: Ask, table: Table) -> Iterator[str]:
    keys = ask(KEYS, table.oid)
    if not keys:
        yield f"{table.name}: it has no key"
    for index, first in keys:
        if first != "workspace" and index.rpartition(".")[2] not in ACROSS_WORKSPACES:
            yield f"{table.name}: {index} starts with {first}, not with the workspace"
    for name, here, there in ask(FOREIGN_KEYS, table.oid):
        if (here, there) != ("workspace", "workspace"):
            yield f"{table.name}: the foreign key {name} does not start with the workspace"


def _of_policy(name: str, permissive: bool, command: str, using: Any, check: Any) -> Iterator[str]:
    if not permissive:
        return
    shown = {"USING": using} if command != "a" else {}
    shown |= {"WITH CHECK": check} if check or command == "a" else {}
    for part, expression in shown.items():
        text = expression or ""
        if "nexus.workspace" not in text or "workspace" not in text.replace("nexus.workspace", ""):
            yield f"{part} of the policy {name} does not compare the workspace"
        if reads_setting_per_row(text):
            yield f"{part} of the policy {name} asks for the setting once a row"


def reads_setting_per_row(expression: str) -> bool:
    """Return whether an expression reads a setting outside of a `(SELECT …)`, that is once a
    row.
    """
    inside: list[bool] = []
    for found in re.finditer(r"'[^']*'|\(\s*SELECT\b|\(|\)|current_setting\(", expression):
        word = found[0]
        if word == ")":
            inside.pop()
        elif word == "current_setting(":
            if not any(inside):
                return True
            inside.append(False)
        elif word.startswith("("):
            inside.append(word != "(")
    return False


def _role_defects(ask: Ask, role: str) -> Iterator[str]:
    """Return defects of the application role: it must not be able to bypass the policies."""
    roles = ask(ROLES, SCHEMA, role)
    if not roles:
        yield f"there is no role {role}"
    for name, superuser, bypasses, owns in roles:
        if superuser or bypasses:
            yield f"{name}: it is above row-level security"
        if owns:
            yield f"{name}: it owns tables, and could take their walls away"


def _of_views(ask: Ask) -> Iterator[str]:
    for name, options in ask(VIEWS, SCHEMA):
        if not re.search(r"security_invoker=(true|on|1|yes)", options):
            yield f"{name}: a plain view reads with its owner's rights"


def _of_functions(ask: Ask) -> Iterator[str]:
    for (name,) in ask(FUNCTIONS, SCHEMA):
        if name not in DEFINER_FUNCTIONS:
            yield f"{name}: a SECURITY DEFINER function that is not listed"
