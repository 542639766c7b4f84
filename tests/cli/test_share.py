"""`nexus share`."""

from __future__ import annotations


def test_share_into_room(lines, run) -> None:
    lines("observe", "alice", "The kettle is on the stove.", "--dm")
    (hit,) = lines("memory", "search", "kettle", "--dm")

    (first,) = lines("share", hit["id"], "--dm", "--to", "room:kitchen")
    (again,) = lines("share", hit["id"], "--dm", "--to", "room:kitchen")

    assert (first["scope"], first["duplicate"], again["duplicate"]) == ("room:kitchen", False, True)
    assert first["event"] == again["event"]
    (found,) = lines("memory", "search", "kettle", "--room", "kitchen")
    assert found["text"] == "The kettle is on the stove."
    assert "no memory" in run("share", "0" * 32, "--dm", "--to", "user", code=2).stderr
    assert (
        "is not visible here" in run("share", hit["id"], "--dm", "--to", "project:x", code=2).stderr
    )
