# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Packs the installed command line as a wheel, whose program pip puts beside the interpreter.

    python packaging/wheel.py STAGE VERSION OUT

STAGE is where the component `cli` was installed. The wheel is of no Python version; auditwheel makes its platform tag and
puts the libraries beside the program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METADATA = """Metadata-Version: 2.1
Name: nanscope
Version: {version}
Summary: Diagnostics for training runs that go NaN inside a Newton-Schulz step
License: Apache-2.0
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Keywords: NaN,Muon,Newton-Schulz,optimizer,PyTorch
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: nanscope
Root-Is-Purelib: false
Tag: py3-none-linux_x86_64
"""
README = """# Nanscope

A scope for NaN: what happened first in a training run that went NaN inside a Newton-Schulz step (Muon, NorMuon, Dion), on
which rank, in which element, and whose fault it can be.

    nanscope diagnose RUN
    nanscope explain CAPTURE.pt
    nanscope report RUN -o report.md

In the training, `python -m nanscope.capture train.py` writes captures that decide, and `nanscope.guard` keeps the NaN of one
rank from ending the run of all.

This package holds the command line. It replays on the CPU, in fp64, fp32, tf32, bf16 and fp16; it needs neither torch nor a GPU.
"""


def main() -> None:
    stage, version, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    shutil.rmtree(out, ignore_errors=True)
    content = out / f"nanscope-{version}"
    data = content / f"nanscope-{version}.data"
    info = content / f"nanscope-{version}.dist-info"
    (data / "scripts").mkdir(parents=True)
    (info / "licenses").mkdir(parents=True)
    shutil.copy2(stage / "bin/nanscope", data / "scripts/nanscope")
    shutil.copytree(stage / "share/man", data / "data/share/man")
    shutil.copytree(stage / "share/bash-completion", data / "data/share/bash-completion")
    package = content / "nanscope"
    package.mkdir()
    (package / "__init__.py").write_text('"""The Python side of Nanscope, for the training: nanscope.capture and nanscope.guard."""\n')
    shutil.copy2(ROOT / "resources/python/nanscope_capture.py", package / "capture.py")
    shutil.copy2(ROOT / "resources/python/nanscope_guard.py", package / "guard.py")
    # Beside the folder into which auditwheel moves the program.
    shutil.copytree(stage / "share/nanscope/source", content / "nanscope.source")
    (info / "METADATA").write_text(METADATA.format(version=version, readme=README))
    (info / "WHEEL").write_text(WHEEL)
    shutil.copy2(ROOT / "LICENSES/Apache-2.0.txt", info / "licenses/LICENSE")
    notices = [sys.executable, str(ROOT / "packaging/notices.py"), str(stage / "bin/nanscope")]
    with (info / "licenses/THIRD-PARTY-NOTICES").open("w") as file:
        subprocess.run(notices, stdout=file, check=True)
    subprocess.run([sys.executable, "-m", "wheel", "pack", str(content), "--dest-dir", str(out)], check=True)
    shutil.rmtree(content)


if __name__ == "__main__":
    main()
