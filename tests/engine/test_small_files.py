"""Text and JSON that a user names: what is not a regular file in UTF-8, or not JSON, is one clear error."""

from __future__ import annotations

import os

import pytest

from topicfold import FileError
from topicfold.analysis.judgement_tasks import JudgementTasks
from topicfold.engine.small_files import read_json, read_text
from topicfold.topics.edits import read_edits


def test_text_and_json_are_read(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xa9"}')
    assert read_text(tmp_path / "a.json", "text") == '{"a": "é"}'
    assert read_json(tmp_path / "a.json", "JSON") == {"a": "é"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", r"is not UTF-8 \(byte 1\): expected a list$"),
        (b"[1", r"is not JSON \(Expecting .*\): expected a list$"),
        (b"[" * 100_000, r"is not JSON \(.*\): expected a list$"),
        (b"1" * 5000, r"is not JSON \(.*\): expected a list$"),
    ],
)
def test_other_contents_are_refused(content, message, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FileError, match=message):
        read_json(tmp_path / "a.json", "a list")


def test_missing_and_huge_files_and_folders_are_refused(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_text(tmp_path / "none", "a list")
    with pytest.raises(FileError, match="is not a regular file: expected a list"):
        read_text(tmp_path, "a list")
    with open(tmp_path / "holes", "wb") as file:
        file.truncate(200 << 30)
    with pytest.raises(FileError, match="has 214,748 MB: expected a list"):
        read_text(tmp_path / "holes", "a list")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
@pytest.mark.parametrize("read", [read_edits, JudgementTasks.load_key])
def test_a_fifo_does_not_block(read, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileError, match="is not a regular file"):
        read(tmp_path / "fifo")
