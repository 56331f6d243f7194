"""Traces that tests write: drawn as text, built event by event, or found on this machine.

`draw` and its like come from `drawing`; the other modules hold what several tests draw. Results of
the analysis that no trace is needed for are in `builders`.
"""

from .drawing import COLUMN_PS as COLUMN_PS
from .drawing import ByLetter as ByLetter
from .drawing import Ref as Ref
from .drawing import Stats as Stats
from .drawing import Unsigned as Unsigned
from .drawing import draw as draw
from .drawing import set_stat as set_stat
from .drawing import space_of as space_of
from .drawing import write as write
