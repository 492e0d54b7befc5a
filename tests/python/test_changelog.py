# SPDX-License-Identifier: BSD-3-Clause
"""The changelog is made of its fragments, which have a line for each thing that users notice."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import changelog

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


def test_a_release_names_the_section_and_takes_the_fragments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "changelog", "mesh.added.md", "- A mesh.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\nold\n\n## [0.1.0]\n\nx\n"
    )
    monkeypatch.setattr(changelog, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["changelog.py", "--release", "0.2.0"])
    changelog.main()
    assert (tmp_path / "CHANGELOG.md").read_text() == (
        f"# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - {datetime.date.today()}\n\n"
        "### Added\n\n**Mesh**\n\n- A mesh.\n\n## [0.1.0]\n\nx\n"
    )
    assert list((tmp_path / "changelog").iterdir()) == []
