"""A Neo4j Community server for tests, fetched by Maven and run by Java.

    with Neo4j() as server:
        server.url          bolt://127.0.0.1:…
        server.empty()      delete every node

No Python, Debian or npm package contains Neo4j. `neo4j/pom.xml` lists its jars, `neo4j/Bolt.java`
starts it. The jars are fetched once, into the cache folder of the user ($NEXUS_CACHE overrides).
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
FETCH_SECONDS = 900.0  # for 120 MB
JAVA = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def cache_folder() -> Path:
    """Return the cache folder of this version of `pom.xml` and `Bolt.java`."""
    configured = os.environ.get("NEXUS_CACHE")
    parent = Path(configured) if configured else Path.home() / ".cache" / "nexus"
    parts = b"".join((HERE / name).read_bytes() for name in ("pom.xml", "Bolt.java"))
    return parent / f"neo4j-{hashlib.sha256(parts).hexdigest()[:12]}"


def fetch_server() -> Path:
    """Return the folder with jars and classes; fetch and compile them if they are missing."""
    folder = cache_folder()
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            raise Missing(f"Neo4j for tests needs {program} (Debian: default-jdk-headless, maven)")
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(folder)
        _run_or_raise(
            ["javac", "-cp", folder / "lib" / "*", "-d", folder / "classes", HERE / "Bolt.java"]
        )
        (folder / "ready").touch()
    return folder


def _fetch(folder: Path) -> None:
    copy = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
    into = [f"-Dmaven.repo.local={folder / 'maven'}", f"-DoutputDirectory={folder / 'lib'}"]
    _run_or_raise(
        ["mvn", "-q", "-B", "-f", HERE / "pom.xml", *into, "-DincludeScope=runtime", copy]
    )
    shutil.rmtree(folder / "maven", ignore_errors=True)  # the jars are in `lib`


def _run_or_raise(command: list[Any]) -> None:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Missing(f"Neo4j could not be fetched: {words[0]} took too long") from error
    if done.returncode:
        (why, *_) = (done.stdout + done.stderr).strip().splitlines() or ["no reason given"]
        raise Missing(f"Neo4j could not be fetched: {why[:300]}")


class Neo4j(Server):
    """A Neo4j server with one database, without passwords."""

    name = "neo4j"
    start_seconds = 90.0  # Java with 200 jars on a busy machine

    def __init__(self, folder: Path | None = None) -> None:
        self._parts = fetch_server()
        super().__init__(folder)
        self.start()

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def command(self) -> list[Any]:
        parts = f"{self._parts / 'classes'}:{self._parts / 'lib'}/*"
        return ["java", *JAVA, "-cp", parts, "Bolt", self.folder / "data", self.port, self.pid_file]

    def ready(self) -> bool:
        """Return whether the server answers the handshake of the Bolt protocol."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.settimeout(2)
                connection.sendall(bytes.fromhex("6060b01700000405" + "00000000" * 3))
                return len(connection.recv(4)) == 4
        except OSError:
            time.sleep(0.1)
            return False

    def execute(self, cypher: str, **values: Any) -> list[dict[str, Any]]:
        """Run one query and return its rows."""
        from neo4j import GraphDatabase

        with GraphDatabase.driver(self.url) as driver:
            records, _, _ = driver.execute_query(cypher, values)
        return [record.data() for record in records]

    def empty(self) -> None:
        self.execute("MATCH (n) DETACH DELETE n")
