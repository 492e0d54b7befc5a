# SPDX-License-Identifier: BSD-3-Clause
"""C's arithmetic types as kernels have them, and its rules for what an operator makes of two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CType:
    """An arithmetic type.

    Attributes:
        name: NumPy's name.
        kind: 'i' signed, 'u' unsigned, 'f' real, 'c' complex.
        bits: Of an integer; of one real number otherwise.
        spellings: How kernels write it.
    """

    name: str
    kind: str
    bits: int
    spellings: tuple[str, ...]

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - (self.kind == "i"))) - 1

    @property
    def digits(self) -> int:
        """Binary digits that a real number of this type holds."""
        return 24 if self.bits == 32 else 53

    @property
    def epsilon(self) -> float:
        return 2.0 ** (1 - self.digits)

    @property
    def real(self) -> CType:
        return (FLOAT if self.bits == 32 else DOUBLE) if self.kind == "c" else self


INT8 = CType("int8", "i", 8, ("int8_t", "signed char"))
INT16 = CType("int16", "i", 16, ("int16_t", "short"))
INT = CType("int32", "i", 32, ("int", "int32_t"))
LONG = CType("int64", "i", 64, ("int64_t", "long"))
UINT8 = CType("uint8", "u", 8, ("uint8_t", "unsigned char"))
UINT16 = CType("uint16", "u", 16, ("uint16_t", "unsigned short"))
UINT = CType("uint32", "u", 32, ("uint32_t", "unsigned int", "unsigned"))
ULONG = CType("uint64", "u", 64, ("uint64_t", "unsigned long"))
FLOAT = CType("float32", "f", 32, ("float",))
DOUBLE = CType("float64", "f", 64, ("double",))
COMPLEX64 = CType("complex64", "c", 32, ("float complex", "float _Complex"))
COMPLEX = CType("complex128", "c", 64, ("double complex", "double _Complex"))

INTEGERS = (INT8, INT16, INT, LONG, UINT8, UINT16, UINT, ULONG)
REALS = (FLOAT, DOUBLE)
COMPLEXES = (COMPLEX64, COMPLEX)
TYPES = (*INTEGERS, *REALS, *COMPLEXES)
BY_NAME = {t.name: t for t in TYPES}


def promoted(t: CType) -> CType:
    """Return what an operand of a shift, or of a sign, is converted to."""
    return INT if t.is_integer and t.bits < 32 else t


def common(a: CType, b: CType) -> CType:
    """Return the type of `a + b`: the usual arithmetic conversions."""
    if "c" in (a.kind, b.kind):
        real = common(a.real, b.real)
        return COMPLEX64 if real is FLOAT else COMPLEX
    if "f" in (a.kind, b.kind):
        return DOUBLE if DOUBLE in (a, b) else FLOAT
    a, b = promoted(a), promoted(b)
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    unsigned, signed = (a, b) if a.kind == "u" else (b, a)
    return signed if signed.bits > unsigned.bits else unsigned
