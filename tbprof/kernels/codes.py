"""The constants that kernels and their callers share: fields of messages, kinds of values, limits.

The build writes them to `codes.pxd` as C constants (`scripts/extensions.py`).
"""

# Wire types. Source: protobuf.dev, "Encoding".
VARINT = 0
FIXED64 = 1
LENGTH = 2
GROUP = 3
END_GROUP = 4
FIXED32 = 5
# The most bytes of a field's tag and the varint or fixed value that follows.
HEADER = 20
# The highest number of a field.
MOST_FIELDS = 2**29 - 1
# The position "after the window".
BEYOND = -2

# Fields of XLine. Source: xplane.proto.
LINE_ID = 1
LINE_NAME = 2
LINE_TIMESTAMP_NS = 3
LINE_EVENTS = 4
LINE_DISPLAY_ID = 10
LINE_DISPLAY_NAME = 11
# Of XEventMetadata; XStatMetadata has none of this number.
METADATA_STATS = 5

# Fields of HloProto and of the messages in it. Source: hlo.proto.
HLO_MODULE = 1
MODULE_NAME = 1
MODULE_COMPUTATIONS = 3
MODULE_ENTRY_ID = 6
COMPUTATION_NAME = 1
COMPUTATION_INSTRUCTIONS = 2
COMPUTATION_SHAPE = 4
COMPUTATION_ID = 5
COMPUTATION_ROOT_ID = 6
COMPUTATION_IS_FUSION = 7
COMPUTATION_THREAD = 8
INSTRUCTION_NAME = 1
INSTRUCTION_OPCODE = 2
INSTRUCTION_SHAPE = 3
INSTRUCTION_METADATA = 7
INSTRUCTION_PARAMETER = 9
INSTRUCTION_ID = 35
INSTRUCTION_OPERAND_IDS = 36
INSTRUCTION_CALLED_IDS = 38

# What follows the events of a line.
FOLLOWS_ID = 1
FOLLOWS_TIMESTAMP = 2
FOLLOWS_DISPLAY_ID = 4
FOLLOWS_NAME = 8
FOLLOWS_DISPLAY_NAME = 16

# Times beyond 2^57 ps (40 hours) are damage: clamped, so that sums of them stay in int64.
LIMIT_PS = 2**57

# Kinds of stats are the field numbers of XStat's oneof `value`. Source: xplane.proto.
ABSENT = 0
DOUBLE = 2
UINT64 = 3
INT64 = 4
TEXT = 5
BYTES = 6
REFERENCE = 7
# In place of a kind.
STAT_DAMAGED = -1
# The tag of the id of its name in a stat.
KEY_TAG = 1 << 3 | VARINT

# How a stat is read while events are decoded: the number, a rare stat, or a flag from here on; 0:
# not at all.
AS_NUMBER = 1
AS_RARE = 2
AS_FLAG = 3
MOST_FLAGS = 3
# Bits of an event's marks: from the first on the flags that are not 0, from `FLAG_SEEN` on those
# that it has; it has a rare stat, or one that is not written as most are.
FLAG_SEEN = 3
HAS_RARE = 64
IS_ODD = 128
# The largest number that is read while events are decoded.
LARGEST_MARK = 2**31 - 1

# A hash of texts counts modulo this Mersenne prime.
PRIME = 2**31 - 1

# Rows of a timeline: depths of a track, and how many are searched at once.
MOST_DEPTHS = 1024
DEPTH_BLOCK = 32
# Before all times: a depth without events.
NEVER = -(2**63)

# Levels of a timeline: a level is only stored if it is smaller by this factor.
MOST_SHIFT = 62
LEVEL_SHRINKS = 0.2
# The event never merges with the one before.
FIRST_OF_ROW = 255

# Tiles are 2^9 buckets of a row, each of 2^4 units.
TILE_SHIFT = 9
UNIT_SHIFT = 4
# In a tile: the value is in the block of wide numbers.
ESCAPE = 65535
# Columns of a tile.
TILE_START = 0
TILE_DURATION = 1
TILE_TYPE = 2
TILE_COUNT = 3
TILE_ID = 4
TILE_COLUMNS = 5

# Values of counters: each level of a pyramid holds the extremes of 2^4 of the level below.
FAN = 16
FAN_BITS = 4

# The purpose of a stat in Chrome's JSON, in order of rank if several are flows. Stats from `LAUNCH`
# on are arguments as well.
HIDDEN, FLOW, CONSUMER_TYPE, CONSUMER, PRODUCER_TYPE, PRODUCER, IS_ASYNC = range(7)
LAUNCH, LAUNCHED, NAMES_EVENT, SHOWN = range(7, 11)
# The most bytes that one byte of a text becomes: a control character as \u0000.
WIDEST = 6
# The most bytes of a number, in quotes where a double could not hold it.
NUMBER_BYTES = 32
# The most bytes of an event besides its name, stats and track; asynchronous events take two.
EVENT_BYTES = 1024
# Quotes, colon and comma.
AROUND_BYTES = 8
# Readers take numbers for doubles, which hold integers up to 2^53. Source: RFC 8259, section 6.
EXACT = 2**53
PS_PER_US = 1_000_000
# Of a stat `flow`: direction, id, category. Source: xla/tsl/profiler/utils/xplane_utils.h, XFlow.
FLOW_IN, FLOW_OUT = 1, 2
FLOW_ID_BITS = 56
FLOW_ID_MASK = 2**56 - 1
FLOW_CATEGORIES = 64
# Source: xla/tsl/profiler/utils/context_types.cc.
GPU_LAUNCH = 9
# Fixed texts of an event, numbers of `event_text.WORDS`.
(
    SAY_OPEN, SAY_OPEN_BARE, SAY_NAME, SAY_NAME_AFTER_ARGS, SAY_COMPLETE, SAY_INSTANT, SAY_COUNTER,
    SAY_BEGIN, SAY_END, SAY_DURATION, SAY_BIND, SAY_ID, SAY_NO_DIRECTION, SAY_IN, SAY_OUT,
    SAY_IN_AND_OUT, SAY_BYTES, SAY_CLOSE_BYTES, SAY_CATEGORY,
) = range(19)  # fmt: skip
# Length of `SAY_OPEN` without the beginning of the arguments.
BARE = 3

# In a column of groups: none so far; none, and only reachable through links, as the event nests in
# nothing.
APART = -2
# In a column of flags: the event is a row of the links, it is a row of the hand-overs.
CAUSES = 1
HANDS_OVER = 2
# Kinds of events in causality: a pool thread begins and ends a region.
POOL_START = 13
POOL_STOP = 14
# Events that begin at the same time as a region's mark are sorted before it if they are longer; at
# most this many are considered.
SAME_MOMENT = 16

# Sums of the times of iterators stay below this.
MOST_TIME = 2**61

# Phases of steps that kernels know, numbers of `analysis.phases.Phase`.
PHASE_INPUT = 10
PHASE_OUTPUT = 11
PHASE_COMPILATION = 12
PHASE_LAUNCH = 13
PHASE_COMPUTE = 14
# Instead of a phase: none; work for later steps.
NO_PHASE = -1
PHASE_AHEAD = -2
# Instead of a phase: meanings of events that are no phases, numbers of `Role`.
ROLE_WRAPPER = -2
ROLE_WAIT = -3
ROLE_LAUNCHER = -5
ROLE_BACKGROUND = -6
ROLE_UPKEEP = -7
# What an event contains: known events, launches.
HOLDS_KNOWN = 1
HOLDS_LAUNCHES = 2
# After all times.
FOREVER = 2**63 - 1

# What threads do, numbers of `analysis.host_activity.Activity`.
DOES_NOTHING = -1
DOES_TRANSPARENT = -2
DOES_PYTHON = 0
DOES_ANNOTATION = 1
DOES_COMPILATION = 2
DOES_TF_FUNCTION = 3
DOES_TF_DATA = 4
DOES_OPS = 6
DOES_EAGER = 7
DOES_RUNTIME = 8
DOES_GARBAGE = 9
DOES_WAIT = 11
DOES_SLEEP = 13

# Characters that writers write.
QUOTE = 34
BACKSLASH = 92
COMMA = 44
BRACE = 125
MINUS = 45
POINT = 46
ZERO = 48
RETURN = 13
NEWLINE = 10
# The least integer.
LEAST = -(2**63)
LARGEST_INT32 = 2**31 - 1
# The lowest bits of an integer.
LOW_32 = 2**32 - 1
LOW_40 = 2**40 - 1

# Kinds of events of a simulated heap. Source: OpenXLA's hlo.proto, HeapSimulatorTrace.Event.Kind.
HEAP_ALLOC = 0
HEAP_FREE = 1
HEAP_SHARE_WITH = 2
