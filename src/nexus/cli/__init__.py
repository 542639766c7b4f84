"""The command line. A command parses, calls Nexus and prints; it decides nothing.

Each command lives in a module that is imported when it runs, so that `nexus --help` is quick.
"""

from __future__ import annotations

import sys

import click

from .lazy import LazyGroup

COMMANDS = {
    "init": ("setup", "Write nexus.yaml and create the memory."),
    "observe": ("telling", "Write down what somebody said."),
    "remember": ("telling", "Keep exactly this."),
    "memory": ("memory", "Search, index, count, compact, export and import."),
    "compose": ("composing", "Print what a model should know before it answers."),
    "explain": ("composing", "Show why a context was as it was."),
    "profile": ("profile", "Show what is known of a person."),
    "patterns": ("profile", "Work out people's habits again."),
    "episodes": (
        "episodes",
        "What happened, in a few sentences: threads, sessions, days and weeks.",
    ),
    "sessions": (
        "sessions",
        "Which conversation knows somebody best, and which is no longer right.",
    ),
    "window": (
        "window",
        "What is on the table in a place: the last messages, notes, thoughts and the goal.",
    ),
    "goal": (
        "goals",
        "What is to be achieved: goals, their parts, what blocks them, how they ended.",
    ),
    "procedure": (
        "procedures",
        "How things are done: tools as they are used, tasks as they end, what works.",
    ),
    "notebook": (
        "notebook",
        "Documents with a path, every version kept; people may edit them as files.",
    ),
    "skills": ("skills", "Files that teach an agent with a shell to use the memory."),
    "dossier": (
        "dossiers",
        "What is known of somebody or something in one document, with its sources.",
    ),
    "jobs": ("jobs", "Work that is still to be done, and why it is not; jobs and when they ran."),
    "worker": ("working", "Learn and do the jobs of all workspaces, until told to end."),
    "metrics": (
        "metrics",
        "How much there is, how long things take, what waits, what models cost.",
    ),
    "quota": ("quota", "How much a workspace may keep and do, and how much is used."),
    "usage": ("usage", "What language models cost, and what is left of today's budget."),
    "entity": ("entities", "Who and what is known."),
    "review": ("reviewing", "Merges and contradictions for a person to decide."),
    "share": ("sharing", "Let more people read a memory, in your name."),
    "forget": ("forgetting", "Erase, with everything derived from it, and prove it."),
    "verify": ("checks", "Walk the hash chain of the ledger."),
    "audit": (
        "auditing",
        "What was done here, by whom and from where; and whether it still is so.",
    ),
    "doctor": (
        "doctor",
        "Look for what could go wrong on this machine and with every configured product.",
    ),
    "migrate": ("migrating", "Move a whole memory into another store, as it is, and compare both."),
    "rekey": ("rekeying", "Write an encrypted SQLite file anew with another key."),
    "rebuild": ("checks", "Make what was derived again from what it rests on."),
    "reembed": ("checks", "Give every memory a vector of the configured embedder."),
    "models": ("setup", "Models that run on this machine."),
    "leaktest": ("leaktest", "Try to make the memory leak, for a while."),
    "eval": ("evaluating", "Measure how much is found, on benchmarks or by your questions."),
    "completion": ("setup", "Print the completion script of your shell."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, package=__name__)
@click.version_option(package_name="nexus-memory", prog_name="nexus")
def nexus() -> None:
    """Nexus: memory for AI agents and the people they work with.

    \b
        nexus init
        nexus observe alice "We decided to use PostgreSQL." --room design
        nexus memory search "which database did we choose?" --room design

    Exit codes: 0 found or done, 1 nothing found or a problem found, 2 wrong usage or input,
    3 something did not answer.
    """


def main() -> None:
    """The entry point: whatever the terminal's encoding, printing a memory does not fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    nexus(prog_name="nexus")
