# SPDX-License-Identifier: BSD-3-Clause
"""The changelog is made of its fragments, which have a line for each thing that users notice."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import changelog
import pyop2cxx

ROOT = Path(__file__).parents[2]


def put(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_the_changelog_has_all_fragments() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert changelog.section(ROOT / "changelog").strip() in text, "run tools/changelog.py"


def test_fragments_come_by_kind_and_topic(tmp_path: Path) -> None:
    put(tmp_path, "mesh.fixed.md", "- A fault.\n")
    put(tmp_path, "check-mode.added.md", "- A check.\n- Another.\n")
    put(tmp_path, "chains.added.md", "- A pass.\n")
    assert changelog.section(tmp_path) == (
        "## [Unreleased]\n\n### Added\n\n**Chains**\n\n- A pass.\n\n**Check mode**\n\n- A check.\n"
        "- Another.\n\n### Fixed\n\n**Mesh**\n\n- A fault.\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("mesh.md", "- A.\n", "TOPIC.KIND.md"),
        ("mesh.new.md", "- A.\n", "TOPIC.KIND.md"),
        ("mesh.added.md", "A.\n", "begins with"),
        ("mesh.added.md", "- " + "a" * 199 + "\n", "200 characters"),
    ],
)
def test_a_wrong_fragment_is_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    put(tmp_path, name, text)
    with pytest.raises(ValueError, match=why):
        changelog.fragments(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path / "changelog", "mesh.added.md", "- A mesh.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\nold\n\n## [0.1.0]\n\nx\n"
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\ndate-released: 2026-11-29\n")
    return tmp_path


def test_a_release_names_the_section_and_takes_the_fragments(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelog, "ROOT", project)
    monkeypatch.setattr(sys, "argv", ["changelog.py", "release"])
    changelog.main()
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-29\n\n"
        "### Added\n\n**Mesh**\n\n- A mesh.\n\n## [0.1.0]\n\nx\n"
    )
    assert list((project / "changelog").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("pyproject.toml", 'version = "0.1.0"\n', "of version 0.2.0, and pyproject.toml of 0.1.0"),
        ("CITATION.cff", "version: 0.2.0\n", "CITATION.cff has no line date-released"),
        ("CHANGELOG.md", "## [Unreleased]\n\n## [0.2.0] - 2026-01-01\n", "has a section"),
        ("changelog/mesh.added.md", "", "no fragments"),
    ],
)
def test_a_release_is_refused_before_anything_is_written(
    project: Path, name: str, text: str, why: str
) -> None:
    if text:
        (project / name).write_text(text)
    else:
        (project / name).unlink()
    before = {path: path.read_text() for path in project.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=why):
        changelog.write(project, release=True)
    assert {path: path.read_text() for path in project.rglob("*") if path.is_file()} == before


def test_the_version_stands_in_one_place() -> None:
    """The others are made from `pyproject.toml`, and `CITATION.cff` agrees."""
    version, date = changelog.released(ROOT)
    assert pyop2cxx.__version__ == version
    assert datetime.date.fromisoformat(date)
