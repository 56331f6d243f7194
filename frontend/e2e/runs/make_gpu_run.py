"""Writes a drawn GPU trace into the folder named on the command line, for the browser tests."""

import sys
from pathlib import Path

from traces import draw, write

MANGLED = "_ZN5Eigen8internal15EigenMetaKernelIfLi4EEEvPT_i"
HOSTILE = "<img src=x onerror=alert(1)>"
DETAILS = "regs:32 static_shared:0 dynamic_shared:4096 grid:160,1,1 block:1024,1,1 occ_pct:50"

folder = Path(sys.argv[1])
folder.mkdir(parents=True)
write(
    folder,
    draw(
        {
            "/device:GPU:0": """
                Stream #1 |mmmm.rr.nnnn.hh..
                Stream #2 |..kk........kk...
            """,
            "/host:CPU": """
                tf_executor |oooooooooooooo.pp
            """,
        },
        names={
            "m": "volta_h884gemm_128x128",
            "n": "volta_h884gemm_128x128",
            "r": "relu_kernel",
            "k": MANGLED,
            "h": HOSTILE,
            "o": "model/dense/MatMul:MatMul",
            "p": "=cmd:Cast",
        },
        stats={
            letter: {"kernel_details": DETAILS, "tf_op": "model/dense/MatMul:MatMul"}
            for letter in "mnrkh"
        },
    ),
)
