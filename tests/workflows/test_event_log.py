"""Events written to a file and read from another process, a few at a time."""

from __future__ import annotations

from pathlib import Path

from lcifr.workflows.events import EventLog, Resumed, counting_people, emit, listening, note, read_events


def test_what_is_heard_is_read_again_and_only_once(tmp_path):
    path = tmp_path / "events.jsonl"
    with listening(EventLog(path)):
        note("φ is “odd”")
        first = read_events(path)
        with counting_people(5) as advance:
            advance(2)
        emit(Resumed(Path("out")))
    assert [one["text"] for one in first.events] == ["φ is “odd”"]
    rest = read_events(path, first.start)
    assert [one["event"] for one in rest.events] == ["started", "advanced", "ended", "resumed"]
    assert rest.events[1]["done"] == 2
    assert read_events(path, rest.start).events == ()


def test_half_a_line_waits_for_its_end(tmp_path):
    path = tmp_path / "events.jsonl"
    assert read_events(path).events == ()
    path.write_bytes(b'{"event": "note"}\n{"event": "no')
    found = read_events(path)
    assert len(found.events) == 1
    with path.open("ab") as file:
        file.write(b'te"}\n')
    assert len(read_events(path, found.start).events) == 1
