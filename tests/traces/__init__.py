"""Traces that tests write: drawn as text, listed event by event, or found on this machine.

`draw` and its like come from `drawing`, `listed` from `space_writer`; the other modules hold what
several tests draw. Results of the analysis that no trace is needed for are in `builders`.
"""

from .drawing import COLUMN_PS as COLUMN_PS
from .drawing import ByLetter as ByLetter
from .drawing import draw as draw
from .drawing import drawn_space as drawn_space
from .drawing import message_of as message_of
from .drawing import space_of as space_of
from .drawing import write as write
from .drawing import write_run as write_run
from .space_writer import Ref as Ref
from .space_writer import Stats as Stats
from .space_writer import Unsigned as Unsigned
from .space_writer import listed as listed
