"""A real Neo4j Community, which Maven fetches and Java runs.

    with Neo4j() as server:
        server.url          bolt://127.0.0.1:…
        server.empty()      every node gone

Neo4j is in no Python, Debian or npm package. `neo4j/pom.xml` names its parts, `neo4j/Bolt.java`
starts it. They are fetched once, into a folder of the user's cache ($NEXUS_CACHE says another).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.servers.process import Missing, Server

HERE = Path(__file__).with_name("neo4j")
FETCHING = 900.0  # seconds: 120 MB, from a slow line
JAVA = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def cache() -> Path:
    """Of these very parts: another version has another folder."""
    told = os.environ.get("NEXUS_CACHE")
    parent = Path(told) if told else Path.home() / ".cache" / "nexus"
    parts = b"".join((HERE / name).read_bytes() for name in ("pom.xml", "Bolt.java"))
    return parent / f"neo4j-{hashlib.sha256(parts).hexdigest()[:12]}"


def fetched() -> Path:
    """The folder with everything in it, after Maven and the compiler have run if they must."""
    folder = cache()
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            raise Missing(f"Neo4j for tests needs {program} (Debian: default-jdk-headless, maven)")
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(folder)
        _must(["javac", "-cp", folder / "lib" / "*", "-d", folder / "classes", HERE / "Bolt.java"])
        (folder / "ready").touch()
    return folder


def _fetch(folder: Path) -> None:
    copy = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
    into = [f"-Dmaven.repo.local={folder / 'maven'}", f"-DoutputDirectory={folder / 'lib'}"]
    _must(["mvn", "-q", "-B", "-f", HERE / "pom.xml", *into, "-DincludeScope=runtime", copy])
    shutil.rmtree(folder / "maven", ignore_errors=True)  # it is all in `lib`


def _must(command: list[Any]) -> None:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=FETCHING, check=False)
    except subprocess.TimeoutExpired as error:
        raise Missing(f"Neo4j could not be fetched: {words[0]} took too long") from error
    if done.returncode:
        (why, *_) = (done.stdout + done.stderr).strip().splitlines() or ["no reason given"]
        raise Missing(f"Neo4j could not be fetched: {why[:300]}")


class Neo4j(Server):
    """One database, in a folder of its own, without passwords."""

    name = "neo4j"
    patience = 90.0  # seconds: a Java program of two hundred parts on a busy machine

    def __init__(self, folder: Path | None = None) -> None:
        self._parts = fetched()
        super().__init__(folder)
        self.start()

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def command(self) -> list[Any]:
        parts = f"{self._parts / 'classes'}:{self._parts / 'lib'}/*"
        return ["java", *JAVA, "-cp", parts, "Bolt", self.folder / "data", self.port, self.pid_file]

    def ready(self) -> bool:
        """It answers the first four bytes of its protocol, and not just the network does."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.settimeout(2)
                connection.sendall(bytes.fromhex("6060b01700000405" + "00000000" * 3))
                return len(connection.recv(4)) == 4
        except OSError:
            time.sleep(0.1)
            return False

    def ask(self, cypher: str, **values: Any) -> list[dict[str, Any]]:
        """What a query of one's own gives."""
        from neo4j import GraphDatabase

        with GraphDatabase.driver(self.url) as driver:
            records, _, _ = driver.execute_query(cypher, values)
        return [record.data() for record in records]

    def empty(self) -> None:
        self.ask("MATCH (n) DETACH DELETE n")
