#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the templates that are filled without Jinja2, with gaps: see `pyop2cxx.runtime.frames`.

To be run again when one of them changes; a test compares.
"""

from pyop2cxx.base.folders import template_folder
from pyop2cxx.runtime.templates import PREPARED, with_gaps

for template in PREPARED:
    (template_folder() / template).with_suffix(".frame").write_text(with_gaps(template))
