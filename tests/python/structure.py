# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that a text search can check. Each returns one line for each breach."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from pathlib import Path

RANKS = {
    "base": 0,
    "move": 1,
    "mesh": 2,
    "kernel": 1,
    "ir": 2,
    "kir": 2,
    "chain": 3,
    "graph": 3,
    "lower": 3,
    "plan": 4,
    "cg": 4,
    "exec": 5,
    "dispatch": 6,
    "runtime": 7,
    "libs": 8,
    "jit": 8,
    "api": 9,
    "tune": 10,
    "bind": 11,
}
PYTHON_RANKS = {
    "exceptions": 0,
    "base": 1,
    "backends": 2,
    "runtime": 3,
    "interop": 4,
    "sets": 5,
    "data": 6,
    "ranks": 7,
    "kernel": 8,
    "pipeline": 9,
    "loop": 10,
    "check": 11,
    "chain": 12,
    "graph": 13,
    "tune": 14,
    "ahead": 15,
    "algebra": 16,
    "mesh": 17,
    "io": 18,
    "plot": 19,
    "fem": 20,
    "reports": 21,
    "pyop2": 22,
    "op2": 23,
    "__init__": 24,
    "__main__": 24,
    "pytest_plugin": 24,
}
"""Rooms of the package, from the ground up; beside them the modules that lie in no room."""
LATE_IMPORTS = {
    ("fem.functions", "fem.interpolation"),
    ("kernel.kernel", "interop.petsc_build"),
    ("kernel.kernel", "kernel.ufcx"),
    ("kernel.parser.known", "kernel.parser.dense_calls"),
    ("kernel.parser.known", "kernel.parser.parse"),
    ("kernel.parser.preprocess", "kernel.parser.by_compiler"),
    ("kernel.parser.preprocess", "kernel.parser.macros"),
    ("loop.parloop", "pipeline.explain"),
    ("loop.run", "loop.python_loop"),
    ("reports.dispatch", "ahead.recording"),
    ("runtime.frames", "runtime.templates"),
}
"""Imports in functions, of parts that few programs need: who imports, and what."""
CODE_LINES = 49_628
"""Lines of code of the whole package, without docstrings, comments and blank lines."""
CPP_LINES = {
    "the compiler": (("kernel", "ir", "kir", "lower", "cg"), 29_751),
    "all rooms": (None, 64_270),
}
"""Lines of code of some C++ rooms together, or of all, without comments and blank lines.

These are sums, so that code can move between rooms, and new code needs an equal amount removed.
docs/adr/0077-one-sum-of-lines.md gives the reasons, and 0081 says what the last rise was for.
"""
MODULE_LINES = 800
PIPELINE_NEVER_SEES = "data"
SYMBOLIC = ("kernel", "ir", "kir", "chain", "graph", "lower", "cg")
CONCRETE = ("move", "mesh", "plan", "runtime", "api")
PASSES = ("kernel", "ir", "kir", "lower")
TREE = Path(__file__).parents[2]
BACKENDS = tuple(
    path.stem for path in sorted(TREE.glob("pyop2cxx/backends/*.py")) if path.stem[0] != "_"
)
VENDOR_HEADER = re.compile(r"(cuda|nvrtc|cublas|cusparse|hip/|CL/)")
VENDOR_FREE = "gpu"
"""Folder of what vendors share, in each room that has it: they fill its tables, it sees none."""
VENDORS = {
    *(path.parent.name for path in TREE.glob("cpp/runtime/*/adaptor.hpp")),
    *(path.parent.name for path in TREE.glob("cpp/jit/*/compiler.hpp")),
}
TEMPLATE_LINES = 80
EXTRAS = (
    *("basix", "cupyx", "ffcx", "gmsh", "h5netcdf", "h5py", "kahip", "loopy", "matplotlib"),
    *("meshio", "ml_dtypes", "mpi4py", "petsc4py", "pyamg", "pymetis", "pyvista", "scipy", "tqdm"),
    *("ufl", "xarray"),
)
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
PRONOUNS = {
    *("it", "its", "itself", "what", "whatever", "who", "whom", "whose", "whoever", "that"),
    *("which", "those", "these", "this", "one", "ones", "such"),
}
PRONOUN_LIMIT = 3.0
"""Largest share of pronouns in the words of a room's docstrings, in per cent."""
PLAIN_ROOMS = (
    *("api", "base", "chain", "dispatch", "exec", "graph", "jit", "libs", "mesh", "move"),
    *("plan", "runtime"),
)
"""Rooms of ``cpp/`` whose headers have at most that share of pronouns in their comments."""
PAGE_LIMITS = {"mean": 15.0, "long": 8.0, "pronouns": 3.0}
"""Largest mean of the words in a sentence of a page of the manual, and per cent of long ones."""
LONG_SENTENCE = 30
TABLES_OF_THE_PROGRAM = ("docs/tuning.md",)
"""Pages with a table that a test compares with the program, which words it."""

_C_STATEMENT = re.compile(r";\s*(\n|\}|$)|\)\s*\{\s*(\n|$)|#\s*define |\)\s*\{ ")
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TAG = re.compile(
    r"@(?:param(?:\[[\w,]+\])?|tparam|p|throws) \S+|@\w+|^[^\w@]+|SPDX.*", re.MULTILINE
)
_BRANCH = re.compile(r"\{%-?\s*(?:if|elif)\b(.*?)%\}|\{\{[^}]*?\bif\b(.*?)\}\}", re.DOTALL)
_FORBIDDEN_TEST = re.compile(
    r"access|backend|\b(?:read|write|rw|inc|min|max)\b|" + "|".join(BACKENDS), re.IGNORECASE
)
_NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$", re.MULTILINE)
_UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
_DEFINED = re.compile(
    r"^(?!return|using|namespace|typedef|static_assert|TEST|[#/} ])(?:template <[^\n]*>\n)?"
    r"(?:(?:class|struct|enum class|enum) (\w+)"
    r"|[\w:<>,&*\[\] ]*?[ *&>](\w+)(?:\[\w*\])*(?:\(| =|\{|;))",
    re.MULTILINE,
)
_ALIAS = re.compile(r"^using (\w+) = ([^;]*);", re.MULTILINE)
_EXAMPLE = re.compile(r"^[ \t]*>>>.*\n(?:[ \t]*\S.*(?:\n|$))*", re.MULTILINE)
_LITERAL = re.compile(r"::\n\s*\n(?P<by>[ \t]+)\S.*\n(?:(?:(?P=by).*)?(?:\n|$))*")
_CODE = re.compile(r"``.+?``|(?::[\w:]+:)?`[^`]+`", re.DOTALL)
_SECTION = re.compile(r"^[ \t]*(?:Args|Attributes|Raises|Returns|Yields|Note|Example)s?:[ \t]*$")
_ENTRY = re.compile(r"^[ \t]+\*{0,2}[\w.]+(?: \([^)]*\))?(?:, \*{0,2}[\w.]+)*:(?=\s)")
_WORD = re.compile(r"[A-Za-z]+(?:[-'][A-Za-z]+)*")
_NOT_PROSE = re.compile(
    r"\A---\n.*?\n---\n|^```.*?^```$|<!--.*?-->|^#.*?$|^\|[-:| ]+\|$", re.MULTILINE | re.DOTALL
)
_BLOCK = re.compile(r"^\s*(?:[-*]|\d+\.) +|(?<!\\)\||^\s*\n", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE_END = re.compile(r"(?<=[.?!:])[)*\"]*\s+(?=[A-Z`\"(*0-9])")
_WORD_OR_CODE = re.compile(r"[A-Za-z0-9`]+(?:[-'.][A-Za-z0-9]+)*")
_STATUS = re.compile(
    r"# \d{4}:? .+\n\n"
    r"Status: (?:accepted(?:, [\d-]{10})?|superseded by \[\d{4}\]\([\w.-]+\))[.;\n]"
)
_SUPERSEDED = re.compile(r"superseded (?:in part )?by \[\d{4}\]\(([\w.-]+)\)")
_STATEFUL = {
    *("count", "cycle", "defaultdict", "deque", "Counter", "OrderedDict", "local", "ContextVar"),
    *("Lock", "RLock", "Condition", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet"),
}
_MUTATORS = {
    *("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove"),
    *("discard", "clear", "sort", "reverse", "appendleft", "popleft"),
}


def cpp_sources(root: Path) -> list[Path]:
    """All C++ sources and headers below ``cpp/``."""
    return sorted(p for p in (root / "cpp").rglob("*") if p.suffix in (".cpp", ".hpp", ".h"))


def python_modules(root: Path) -> list[Path]:
    """All modules of the package."""
    return sorted((root / "pyop2cxx").rglob("*.py"))


@lru_cache(maxsize=1000)
def parsed(text: str) -> ast.Module:
    """Return the tree of a module, which many rules read and none changes."""
    return ast.parse(text)


def include_breaches(root: Path) -> list[str]:
    """Includes go downward only, and the symbolic rooms never see the concrete ones."""
    breaches = []
    for path in cpp_sources(root):
        name = path.relative_to(root / "cpp")
        room = name.parts[0]
        if room not in RANKS:
            breaches.append(f"cpp/{name}: '{room}' is not a room")
            continue
        for quote, target in _INCLUDE.findall(path.read_text()):
            reason = _include_breach(room, name, quote, target)
            if reason:
                breaches.append(f"cpp/{name} includes {target}: {reason}")
    return breaches


def _include_breach(room: str, name: Path, quote: str, target: str) -> str:
    if re.match(r"Python\.h$|pybind11/", target) and room != "bind":
        return "Python is seen in bind/ only"
    if VENDOR_HEADER.match(target) and not (
        (room in ("runtime", "jit") and len(name.parts) > 2) or "libs" in name.parts
    ):
        return "vendor headers stay in runtime/<vendor>, jit/<vendor> and libs/"
    if quote == "<":
        return ""
    other = Path(target).parts[0]
    if VENDOR_FREE in name.parts[:-1] and set(Path(target).parts[:-1]) & VENDORS:
        return f"{room}/{VENDOR_FREE} serves all vendors and sees none"
    if other not in RANKS:
        return "a quoted include starts with its room"
    if room in SYMBOLIC and other in CONCRETE:
        return "the symbolic column never sees mesh, plan or runtime"
    if other != room and RANKS[other] >= RANKS[room]:
        return "not downward"
    return ""


def import_breaches(root: Path) -> list[str]:
    """Python imports go downward only, wherever they stand, and none stands in a function.

    An import counts if it is for types only or inside a function, too. Nothing but the face sees
    `pyop2`, and the pipeline never sees data.
    """
    breaches = []
    for source, target, line in python_imports(root):
        reason = _import_breach(source, target)
        if reason:
            breaches.append(f"{source}:{line} imports {target}: {reason}")
    return breaches


def _import_breach(source: str, target: str) -> str:
    here, there = source.partition(".")[0], target.partition(".")[0]
    for room in (here, there):
        if room not in PYTHON_RANKS:
            return f"'{room}' is not a room"
    if there == "pyop2" and here not in ("pyop2", "op2"):
        return "only op2.py sees PyOP2's tree"
    if here == "pipeline" and there == PIPELINE_NEVER_SEES:
        return "the pipeline never sees data"
    if here != there and PYTHON_RANKS[there] >= PYTHON_RANKS[here]:
        return "not downward"
    return ""


def size_breaches(root: Path) -> list[str]:
    """Return the modules that are too long, and the package if its sum of code is too large."""
    breaches = []
    total = 0
    for path in python_modules(root):
        text = path.read_text()
        n_lines = len(text.splitlines())
        if n_lines > MODULE_LINES:
            name = path.relative_to(root)
            breaches.append(f"{name} has {n_lines} lines; at most {MODULE_LINES}")
        total += code_lines(text)
    if total > CODE_LINES:
        breaches.append(f"pyop2cxx has {total} lines of code; at most {CODE_LINES}")
    return breaches


def cpp_size_breaches(root: Path) -> list[str]:
    """Return the sums of C++ code that are too large."""
    sizes: dict[str, int] = {}
    for path in cpp_sources(root):
        room = path.relative_to(root / "cpp").parts[0]
        sizes[room] = sizes.get(room, 0) + cpp_code_lines(path.read_text())
    breaches = []
    for name, (rooms, most) in CPP_LINES.items():
        total = sum(size for room, size in sizes.items() if rooms is None or room in rooms)
        if total > most:
            breaches.append(f"cpp/: {name} have {total} lines of code; at most {most}")
    return breaches


def cpp_code_lines(text: str) -> int:
    """Return how many lines are neither blank nor a comment that starts with two slashes."""
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def code_lines(text: str) -> int:
    """Return how many lines are neither blank, nor a comment, nor of a docstring."""
    told: set[int] = set()
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and number not in told
    )


def dtype_breaches(root: Path) -> list[str]:
    """What C calls a dtype is asked of the core, `base.arrays.c_name`: no table says it again.

    Apart from C's own names, words of the parser's grammar, and the types of C++ in ``ahead``.
    """
    return [
        f"{path.relative_to(root)}:{node.lineno} has a table of C's names for dtypes"
        for path in python_modules(root)
        if not {"parser", "ahead", "c_names.py"} & set(path.parts)
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
        and key.value == "float64"
        and any(getattr(n, "value", None) == "double" for n in ast.walk(value))
    ]


def text_breaches(root: Path) -> list[str]:
    """C is written by `cg` or stands in templates: no string that is put together has statements.

    `ahead` writes calls of the C++ interface, which are no kernels.
    """
    return [
        f"{path.relative_to(root)}:{node.lineno} writes C"
        for path in python_modules(root)
        if path.parent.name != "ahead" and path.name != "pictures.py"  # of the DOT language
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.JoinedStr) and _C_STATEMENT.search(_constant_parts(node))
    ]


def _constant_parts(text: ast.JoinedStr) -> str:
    """Return a formatted string with a name for each of its expressions."""
    return "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "x"
        for part in text.values
    )


def late_breaches(root: Path) -> list[str]:
    """An import stands in a function only where `LATE_IMPORTS` permits one, and each is needed.

    Optional packages are loaded by name, in ``extras.py``.
    """
    breaches, found = [], set()
    for path in python_modules(root):
        for function in ast.walk(parsed(path.read_text())):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    continue
                within = f"{getattr(node, 'module', '')}.".removeprefix("pyop2cxx.")
                pairs = {(_module(root, path), within + alias.name) for alias in node.names}
                found |= pairs
                if pairs - LATE_IMPORTS:
                    place = f"{path.relative_to(root)}:{node.lineno}"
                    breaches.append(f"{place} imports in a function")
    here = {_module(root, path) for path in python_modules(root)}
    unused = sorted(pair for pair in LATE_IMPORTS - found if pair[0] in here)
    return breaches + [f"{source} does not import {target} late" for source, target in unused]


def seam_breaches(root: Path) -> list[str]:
    """Each seam leads up from all its users, and returns a Protocol of `seams.py`."""
    tree = ast.parse((root / "pyop2cxx" / "runtime" / "seams.py").read_text())
    views = {kind.name for kind in tree.body if isinstance(kind, ast.ClassDef)}
    known = {_module(root, path) for path in python_modules(root)}
    users = _users_of_seams(root)
    breaches = []
    for seam in tree.body:
        if not isinstance(seam, ast.FunctionDef):
            continue
        text = ast.unparse(seam.returns) if seam.returns else ""
        if not set(re.findall(r"\w+", text)) & views:
            breaches.append(f"seam {seam.name} returns {text or 'nothing'}, no Protocol")
        constants = [node.value for node in ast.walk(seam) if isinstance(node, ast.Constant)]
        names = [n.removeprefix("pyop2cxx.") for n in constants if _is_module_name(n)]
        breaches += [f"seam {seam.name}: there is no {name}" for name in set(names) - known]
        if not names or seam.name not in users:
            breaches.append(f"seam {seam.name} has no {'users' if names else 'module'}")
        breaches += [
            f"{user} calls seam {seam.name}, which does not lead up"
            for user in sorted(users.get(seam.name, ()))
            if any(_rank(user) >= _rank(name) for name in names)
        ]
    return breaches


def _is_module_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"pyop2cxx(\.\w+)+", value) is not None


def _rank(module: str) -> int:
    return PYTHON_RANKS[module.partition(".")[0]]


def _users_of_seams(root: Path) -> dict[str, set[str]]:
    """Return the modules that use each name of ``seams.py``."""
    users: dict[str, set[str]] = {}
    for path in python_modules(root):
        tree = parsed(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "pyop2cxx.runtime.seams":
                for alias in node.names:
                    users.setdefault(alias.name, set()).add(_module(root, path))
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "seams"
            ):
                users.setdefault(node.attr, set()).add(_module(root, path))
    return users


def import_circles(root: Path) -> list[list[str]]:
    """Modules that import each other, in whatever way, directly or by others.

    Late imports of `LATE_IMPORTS` do not count: modules can be imported in any order.
    """
    graph: dict[str, set[str]] = {}
    for source, target, _ in python_imports(root):
        if (source, target) not in LATE_IMPORTS:
            graph.setdefault(source, set()).add(target)
    reached = {module: _reached(graph, module) for module in graph}
    tied = {m: {n for n in found if m in reached.get(n, ())} for m, found in reached.items()}
    return [list(one) for one in sorted({tuple(sorted(found)) for found in tied.values() if found})]


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """All modules that a module leads to, itself only by a circle."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def python_imports(root: Path) -> list[tuple[str, str, int]]:
    """Return all imports between modules, wherever they stand: who, whom, in which line."""
    known = {_module(root, path) for path in python_modules(root)}
    found = []
    for path in python_modules(root):
        source, tree = _module(root, path), parsed(path.read_text())
        for node in ast.walk(tree):
            for target in _imported(node, known):
                if target not in (source, "__init__"):
                    found.append((source, target, node.lineno))  # type: ignore[attr-defined]
    return found


def _module(root: Path, path: Path) -> str:
    """Return a module's name below the package."""
    parts = path.relative_to(root / "pyop2cxx").with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def _imported(node: ast.AST, known: set[str]) -> set[str]:
    """Return the modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        names = [a.name for a in node.names if a.name.startswith("pyop2cxx.")]
        return {name.removeprefix("pyop2cxx.") for name in names} & known
    if not isinstance(node, ast.ImportFrom) or not re.match(r"pyop2cxx(\.|$)", node.module or ""):
        return set()
    place = (node.module or "").removeprefix("pyop2cxx").lstrip(".")
    whole = (".".join(filter(None, (place, alias.name))) for alias in node.names)
    return {name if name in known else place for name in whole} & known


def backend_name_breaches(root: Path) -> list[str]:
    """Passes branch on facts, so no backend's name appears in their code or texts."""
    breaches = []
    for path in cpp_sources(root):
        name = path.relative_to(root)
        if name.parts[1] not in PASSES:
            continue
        code = _COMMENT.sub(lambda match: match.group(1) or "", path.read_text()).lower()
        breaches += [f"{name} names the backend '{b}'" for b in BACKENDS if b in code]
    return breaches


def unnamed_breaches(root: Path) -> list[str]:
    """Units of a room share no name in unnamed namespaces: they may be compiled as one.

    An overload would compile, but could change which function an old call means.
    """
    breaches = []
    for folder in ("cpp", "tests/cpp"):
        seen: dict[tuple[str, str], tuple[Path, str]] = {}
        for path in sorted((root / folder).rglob("*.cpp")):
            for space, name, meaning in _unnamed_names(path.read_text()):
                other, same = seen.setdefault((space, name), (path, meaning))
                if other != path and not (meaning and meaning == same):
                    places = f"{path.relative_to(root)} and {other.relative_to(root)}"
                    breaches.append(
                        f"{places} both define {space}::{name}; rename one, or share it"
                    )
    return breaches


def _unnamed_names(text: str) -> set[tuple[str, str, str]]:
    """Namespace and name of what a unit keeps to itself; of an alias also what it stands for."""
    names = set()
    for block in _UNNAMED.finditer(text):
        around = _NAMESPACE.findall(text[: block.start()])
        space = around[-1] if around else ""
        names |= {(space, m[1] or m[2], "") for m in _DEFINED.finditer(block[1])}
        names |= {(space, m[1], m[2]) for m in _ALIAS.finditer(block[1])}
    return names


def template_breaches(root: Path) -> list[str]:
    """Templates are short frames that never branch on the access mode or the backend."""
    breaches = []
    for path in sorted(p for p in (root / "templates").rglob("*") if p.is_file()):
        name, text = path.relative_to(root), path.read_text()
        n_lines = len(text.splitlines())
        if n_lines > TEMPLATE_LINES:
            breaches.append(f"{name} has {n_lines} lines; at most {TEMPLATE_LINES}")
        for tests in _BRANCH.findall(text):
            found = _FORBIDDEN_TEST.search(" ".join(tests))
            if found:
                breaches.append(f"{name} branches on '{found.group()}'")
    return breaches


def twin_breaches(root: Path, exceptions: dict[str, str]) -> list[str]:
    """Every unit has the test of its name; every exception is needed and names a real unit.

    A module of a room may share the test of its room: ``mesh/files/npz.py`` may have
    ``test_files.py``.

    Args:
        root: Top of the tree.
        exceptions: Unit to the test that stands in for its own, or to the reason why none can.
    """
    twins = tests_of_units(root)
    breaches = [
        f"exception for {unit}, which is no unit" for unit in exceptions if unit not in twins
    ]
    for unit, allowed in twins.items():
        stands_in = exceptions.get(unit, "")
        found = [str(twin) for twin in allowed if (root / twin).exists()]
        if unit not in exceptions and not found:
            breaches.append(f"{unit} has no {allowed[0]}")
        elif unit in exceptions and found:
            breaches.append(f"exception for {unit}, which has its {found[0]}")
        elif stands_in.startswith("tests/") and not (root / stands_in).exists():
            breaches.append(f"{unit}: {stands_in} does not exist")
    return breaches


def tests_of_units(root: Path) -> dict[str, list[Path]]:
    """Return for each unit the tests it may have, the one of its own name first."""
    twins = {}
    for path in cpp_sources(root):
        unit = path.relative_to(root / "cpp").with_suffix("")
        if unit.parts[0] != "bind":  # no logic there; seen by the tests in Python
            twins[f"cpp/{unit}"] = [Path("tests/cpp") / unit.with_name(f"test_{unit.name}.cpp")]
    for path in python_modules(root):
        unit = path.relative_to(root).with_suffix("")
        if unit.name != "__init__":
            twins[str(unit)] = [
                Path("tests/python") / f"test_{name.lstrip('_')}.py"
                for name in (unit.name, *(unit.parts[1:-1][-1:]))
            ]
    return twins


def spdx_breaches(root: Path) -> list[str]:
    """The licence line stands in the first two lines of every source."""
    patterns = ("*.cpp", "*.hpp", "*.h", "*.py", "*.pyi", "*.sh", "*.j2")
    folders = ("cpp", "pyop2cxx", "templates", "tests", "tools", "demos", "benchmarks")
    sources = [p for folder in folders for pat in patterns for p in (root / folder).rglob(pat)]
    sources += [root / name for name in ("CMakeLists.txt", "Makefile", ".ci/run")]
    return [
        f"{path.relative_to(root)} has no line '{SPDX}'"
        for path in sorted(sources)
        if path.exists() and not any(SPDX in line for line in path.read_text().splitlines()[:2])
    ]


def print_breaches(root: Path) -> list[str]:
    """Nothing prints but the command line."""
    return [
        f"{path.relative_to(root)}:{node.lineno} prints"
        for path in python_modules(root)
        if path.name != "cli.py"
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]


def extras_breaches(root: Path) -> list[str]:
    """Optional packages are imported in one module, ``extras.py``."""
    breaches = []
    for path in python_modules(root):
        if path.name == "extras.py":
            continue
        for node in ast.walk(_without_type_checking(parsed(path.read_text()))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            breaches += [
                f"{path.relative_to(root)}:{node.lineno} imports {name}"
                for name in names
                if name.split(".")[0] in EXTRAS
            ]
    return breaches


def _without_type_checking(tree: ast.Module) -> ast.Module:
    """The module without its top-level ``if TYPE_CHECKING:`` blocks."""
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
    ]
    return ast.Module(body, tree.type_ignores)


def state_breaches(root: Path) -> list[str]:
    """No module or class holds state: all of it is in ``runtime/state.py``."""
    breaches = []
    for path in python_modules(root):
        if path.parts[-2:] != ("runtime", "state.py"):
            name = path.relative_to(root)
            breaches += [f"{name}:{n} {what}" for n, what in _state(parsed(path.read_text()))]
    return breaches


def _state(tree: ast.Module) -> list[tuple[int, str]]:
    found = []
    names = set()
    bodies = [tree.body, *(n.body for n in ast.walk(tree) if isinstance(n, ast.ClassDef))]
    for body in bodies:
        for node in body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= (
                {ast.unparse(t).split(".")[-1] for t in targets} if body is tree.body else set()
            )
            if _is_stateful(node.value):
                found.append((node.lineno, f"holds state: {ast.unparse(node)}"))
    for node in ast.walk(tree):
        changed = _changed_name(node)
        if isinstance(node, ast.Global):
            found.append((node.lineno, f"assigns to the module: global {', '.join(node.names)}"))
        elif changed in names and not _is_top_level(tree, node):
            found.append((node.lineno, f"changes the module's '{changed}'"))
    return found


def _is_stateful(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys  # an empty table is one that somebody means to fill
    if isinstance(value, (ast.List, ast.Set)):
        return not value.elts
    if isinstance(value, ast.Call):
        called = ast.unparse(value.func).split(".")[-1]
        return called in _STATEFUL or (called in ("dict", "list", "set") and not value.args)
    return False


def _changed_name(node: ast.AST) -> str:
    """The plain name that this node changes in place, or nothing."""
    holder: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        holder = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        holder = node.func.value if node.func.attr in _MUTATORS else None
    return holder.id if isinstance(holder, ast.Name) else ""


def _is_top_level(tree: ast.Module, node: ast.AST) -> bool:
    """Whether the node runs at import, where building a table step by step is no state."""
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
    return not any(node is inner for function in functions for inner in ast.walk(function))


def docstring_openings(root: Path) -> list[str]:
    """Docstrings of modules and classes name the thing: none opens with a question word."""
    return [
        f"{path.relative_to(root)}:{line} opens with '{text.split()[0]}'"
        for path in python_modules(root)
        for line, text, of_whole in docstrings(path)
        if of_whole and re.match(r"\s*(What|Who|How|Whether|Which)\b", text)
    ]


def docstring_prose(root: Path) -> list[str]:
    """Return the rooms whose docstrings have too many pronouns, which are nouns left out."""
    return [
        f"{room}: {share:.1f} % of the words are pronouns; at most {PRONOUN_LIMIT} %"
        for room, share in prose_shares(root).items()
        if share > PRONOUN_LIMIT
    ]


def prose_shares(root: Path) -> dict[str, float]:
    """Return for each room the share of pronouns in the words of its docstrings, in per cent."""
    sums: dict[str, list[int]] = {}
    for path in python_modules(root):
        total = sums.setdefault(_module(root, path).partition(".")[0], [0, 0])
        for _, text, _ in docstrings(path):
            words, pronouns = prose_words(text)
            total[0] += words
            total[1] += pronouns
    return {room: 100 * pronouns / max(words, 1) for room, (words, pronouns) in sums.items()}


def header_prose(root: Path) -> list[str]:
    """Return the plain rooms of ``cpp/`` whose headers have too many pronouns in comments."""
    return [
        f"cpp/{room}: {share:.1f} % of the words are pronouns; at most {PRONOUN_LIMIT} %"
        for room, share in header_shares(root).items()
        if room in PLAIN_ROOMS and share > PRONOUN_LIMIT
    ]


def header_shares(root: Path) -> dict[str, float]:
    """Return for each room of ``cpp/`` the per cent of pronouns in comments of headers."""
    sums: dict[str, list[int]] = {}
    for path in cpp_sources(root):
        if path.suffix == ".cpp":
            continue
        comments = [m[0] for m in _COMMENT.finditer(path.read_text()) if m[1] is None]
        words, pronouns = prose_words(_TAG.sub("", "\n".join(comments)))
        total = sums.setdefault(path.relative_to(root / "cpp").parts[0], [0, 0])
        total[0] += words
        total[1] += pronouns
    return {room: 100 * pronouns / max(words, 1) for room, (words, pronouns) in sums.items()}


def prose_words(text: str) -> tuple[int, int]:
    """Return how many words a docstring has, and how many of them are pronouns.

    Code in backquotes, examples, headings of sections and names of arguments are no words.
    """
    text = _CODE.sub("`", _LITERAL.sub("\n", _EXAMPLE.sub("\n", text)))
    words, in_section = [], False
    for line in text.splitlines():
        if _SECTION.match(line):
            in_section = True
            continue
        words += _WORD.findall(_ENTRY.sub("", line) if in_section else line)
    return len(words), sum(word.lower() in PRONOUNS for word in words)


def docstrings(path: Path) -> list[tuple[int, str, bool]]:
    """Return line, text and whether it is of a module or a class, for each docstring of a file.

    Strings below an assignment document the name above, and count.
    """
    return [
        (
            child.lineno,
            child.value.value,
            place == 0 and isinstance(node, (ast.Module, ast.ClassDef)),
        )
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        for place, child in enumerate(node.body)
        if isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
        and isinstance(child.value.value, str)
    ]


def page_breaches(root: Path) -> list[str]:
    """Return pages of the manual with long sentences, or with pronouns in the place of nouns."""
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    texts = {str(page.relative_to(root)): page.read_text() for page in pages if page.exists()}
    demos = sorted((root / "docs" / "demos").glob("*.md"))
    texts["docs/demos"] = "\n\n".join(page.read_text() for page in demos)
    return [
        f"{name}: {of} {value:.1f}, at most {PAGE_LIMITS[of]:.0f}"
        for name, text in texts.items()
        for of, value in page_prose(text, with_tables=name not in TABLES_OF_THE_PROGRAM).items()
        if value > PAGE_LIMITS[of]
    ]


def page_prose(text: str, *, with_tables: bool = True) -> dict[str, float]:
    """Return the mean of words a sentence, and per cent of long sentences and of pronouns.

    Code, headings, and cells of tables up to eight words are no sentences.
    """
    lengths, n_words, n_pronouns = [], 0, 0
    for sentence in page_sentences(text, with_tables=with_tables):
        lengths.append(len(_WORD_OR_CODE.findall(_CODE.sub("`x`", sentence))))
        words, pronouns = prose_words(sentence)
        n_words += words
        n_pronouns += pronouns
    n = max(len(lengths), 1)
    return {
        "mean": sum(lengths) / n,
        "long": 100 * sum(length > LONG_SENTENCE for length in lengths) / n,
        "pronouns": 100 * n_pronouns / max(n_words, 1),
    }


def page_sentences(text: str, *, with_tables: bool = True) -> list[str]:
    """Return the sentences of a page: of paragraphs, of items of lists, of cells of tables."""
    found = []
    for part in re.split(r"((?:^\|.*\n)+)", _NOT_PROSE.sub("\n", text), flags=re.MULTILINE):
        is_table = part.startswith("|")
        if is_table and not with_tables:
            continue
        for block in _BLOCK.split(part):
            plain = _LINK.sub(r"\1", " ".join(block.split()))
            if re.search(r"[A-Za-z]", plain) and (not is_table or len(plain.split()) > 8):
                found += _SENTENCE_END.split(plain)
    return [sentence for sentence in found if re.search(r"[A-Za-z]", sentence)]


def decision_breaches(root: Path) -> list[str]:
    """Return pages on decisions without a status, superseded by a page without their number,
    or with pronouns in the place of nouns.
    """
    folder, breaches = root / "docs" / "adr", []
    for page in sorted(folder.glob("*.md")):
        text, name = page.read_text(), page.name
        if not _STATUS.match(text):
            breaches.append(
                f"{name}: no line 'Status: accepted' or 'superseded by' below the title"
            )
        for newer in _SUPERSEDED.findall(text):
            if not (folder / newer).exists() or name[:4] not in (folder / newer).read_text():
                breaches.append(f"{name}: {newer} does not name {name[:4]}")
        share = page_prose(text)["pronouns"]
        if share > PRONOUN_LIMIT:
            breaches.append(f"{name}: pronouns {share:.1f}, at most {PRONOUN_LIMIT:.0f}")
    return breaches


def main(rooms: list[str]) -> None:
    """Print the share of pronouns of rooms, or with names of rooms, of files and docstrings."""
    root = Path(__file__).parents[2]
    for room, share in header_shares(root).items():
        print(f"{share:5.1f} %  cpp/{room}, headers")
    for room, share in prose_shares(root).items():
        print(f"{share:5.1f} %  {room}")
    for path in python_modules(root):
        if _module(root, path).partition(".")[0] not in rooms:
            continue
        told = [(*prose_words(text), line) for line, text, _ in docstrings(path)]
        words, pronouns = sum(n for n, _, _ in told), sum(n for _, n, _ in told)
        print(f"{100 * pronouns / max(words, 1):5.1f} %  {path.relative_to(root)}")
        for n_words, n_pronouns, line in sorted(told, key=lambda t: -t[1])[:5]:
            if 100 * n_pronouns > PRONOUN_LIMIT * n_words:
                print(f"         {n_pronouns} of {n_words} words, line {line}")


if __name__ == "__main__":
    main(sys.argv[1:])


def member_names(kind: ast.ClassDef) -> set[str]:
    """Return the names that a class defines: methods, class attributes, and those of ``self``."""
    names = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(kind):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    for node in kind.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names
