# cython: wraparound=False
"""The pass over an HLO proto that finds its computations and instructions."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    COMPUTATION_ID,
    COMPUTATION_INSTRUCTIONS,
    COMPUTATION_IS_FUSION,
    COMPUTATION_NAME,
    COMPUTATION_ROOT_ID,
    COMPUTATION_SHAPE,
    COMPUTATION_THREAD,
    HLO_MODULE,
    INSTRUCTION_CALLED_IDS,
    INSTRUCTION_ID,
    INSTRUCTION_METADATA,
    INSTRUCTION_NAME,
    INSTRUCTION_OPCODE,
    INSTRUCTION_OPERAND_IDS,
    INSTRUCTION_PARAMETER,
    INSTRUCTION_SHAPE,
    LARGEST_INT32,
    LENGTH,
    MODULE_COMPUTATIONS,
    MODULE_ENTRY_ID,
    MODULE_NAME,
    VARINT,
)
from cython.cimports.tbprof.kernels.programs.program_columns import (
    ComputationColumns,
    InstructionColumns,
    ProgramScan,
)
from cython.cimports.tbprof.kernels.types import Bytes, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.equal_texts import KnownTexts, number_text
from cython.cimports.tbprof.kernels.xplane.wire import (
    read_length,
    read_tag,
    read_varint,
    skip_value,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(after=i64, at=i64, body=i64, end=i64, tag=i64, value_at=i64)
def scan_program(
    buf: Bytes,
    scan: ProgramScan,
    computations: ComputationColumns,
    instructions: InstructionColumns,
    opcodes: KnownTexts,
    shapes: KnownTexts,
) -> cython.void:
    """Finds the contents of an HloProto. A file that is cut off is read up to its end."""
    opcodes.source = buf
    shapes.source = buf
    with cython.nogil:
        end = buf.shape[0]
        at = 0
        while at < end and scan.is_full == 0:
            tag, value_at = read_tag(buf, at, end)
            if value_at < 0:
                scan.damaged += 1
                break
            if tag == (HLO_MODULE << 3 | LENGTH):
                body, after = _read_body(buf, value_at, end, scan)
                if body < 0:
                    break
                _scan_module(buf, body, after, scan, computations, instructions, opcodes, shapes)
                at = after
            else:
                at = skip_value(buf, value_at, end, tag & 7)
                if at < 0:
                    scan.damaged += 1
                    break
        if scan.fills != 0 and scan.is_full == 0:
            computations.first[scan.computations] = cython.cast(cython.int, scan.instructions)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    after=i64, begun=i64, body=i64, header_at=i64, number=i64, tag=i64, value_at=i64
)  # fmt: skip
def _scan_module(
    buf: Bytes,
    at: i64,
    end: i64,
    scan: ProgramScan,
    computations: ComputationColumns,
    instructions: InstructionColumns,
    opcodes: KnownTexts,
    shapes: KnownTexts,
) -> cython.void:
    header_at = at
    begun = at
    while at < end and scan.is_full == 0:
        begun = at
        tag, value_at = read_tag(buf, at, end)
        if value_at < 0:
            scan.damaged += 1
            break
        if tag == (MODULE_COMPUTATIONS << 3 | LENGTH):
            _end_header(header_at, at, scan, computations)
            body, after = _read_body(buf, value_at, end, scan)
            if body < 0:
                header_at = end
                break
            _scan_computation(buf, body, after, scan, computations, instructions, opcodes, shapes)
            header_at = after
        elif tag & 7 == LENGTH:
            body, after = read_length(buf, value_at, end)
            if body >= 0 and tag >> 3 == MODULE_NAME:
                scan.name_at = body
                scan.name_end = after
        elif tag == MODULE_ENTRY_ID << 3 | VARINT:
            number, after = read_varint(buf, value_at, end)
            if after >= 0:
                scan.entry_id = number
        else:
            after = skip_value(buf, value_at, end, tag & 7)
        if after < 0:
            scan.damaged += 1
            break
        at = after
        begun = after
    _end_header(header_at, begun, scan, computations)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _end_header(
    header_at: i64, end: i64, scan: ProgramScan, computations: ComputationColumns
) -> cython.void:
    if end > header_at:
        if scan.fills != 0:
            computations.header_at[scan.headers] = cython.cast(cython.int, header_at)
            computations.header_end[scan.headers] = cython.cast(cython.int, end)
        scan.headers += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    after=i64, body=i64, id_=i64, is_fusion=i64, name_at=i64, name_end=i64, number=i64,
    root_id=i64, row=i64, shape_at=i64, shape_end=i64, tag=i64, thread_at=i64,
    thread_end=i64, value_at=i64,
)  # fmt: skip
def _scan_computation(
    buf: Bytes,
    at: i64,
    end: i64,
    scan: ProgramScan,
    computations: ComputationColumns,
    instructions: InstructionColumns,
    opcodes: KnownTexts,
    shapes: KnownTexts,
) -> cython.void:
    row = scan.computations
    scan.computations += 1
    if scan.fills != 0:
        computations.first[row] = cython.cast(cython.int, scan.instructions)
    id_ = 0
    root_id = 0
    is_fusion = 0
    name_at = 0
    name_end = 0
    shape_at = 0
    shape_end = 0
    thread_at = 0
    thread_end = 0
    while at < end:
        tag, value_at = read_tag(buf, at, end)
        if value_at < 0:
            scan.damaged += 1
            break
        after = -1
        if tag & 7 == LENGTH:
            body, after = read_length(buf, value_at, end)
            if body < 0:
                scan.damaged += 1
                break
            if tag >> 3 == COMPUTATION_INSTRUCTIONS:
                _scan_instruction(buf, body, after, scan, instructions, opcodes, shapes)
                if scan.is_full != 0:
                    return
            elif tag >> 3 == COMPUTATION_NAME:
                name_at = body
                name_end = after
            elif tag >> 3 == COMPUTATION_SHAPE:
                shape_at = body
                shape_end = after
            elif tag >> 3 == COMPUTATION_THREAD:
                thread_at = body
                thread_end = after
        elif tag & 7 == VARINT:
            number, after = read_varint(buf, value_at, end)
            if after >= 0:
                if tag >> 3 == COMPUTATION_ID:
                    id_ = number
                elif tag >> 3 == COMPUTATION_ROOT_ID:
                    root_id = number
                elif tag >> 3 == COMPUTATION_IS_FUSION:
                    is_fusion = 1 if number != 0 else 0
        else:
            after = skip_value(buf, value_at, end, tag & 7)
        if after < 0:
            scan.damaged += 1
            break
        at = after
    if scan.fills != 0:
        computations.id[row] = id_
        computations.root_id[row] = root_id
        computations.is_fusion[row] = is_fusion
        computations.name_at[row] = cython.cast(cython.int, name_at)
        computations.name_end[row] = cython.cast(cython.int, name_end)
        computations.shape_at[row] = cython.cast(cython.int, shape_at)
        computations.shape_end[row] = cython.cast(cython.int, shape_end)
        computations.thread_at[row] = cython.cast(cython.int, thread_at)
        computations.thread_end[row] = cython.cast(cython.int, thread_end)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    after=i64, begin=i64, body=i64, called=i64, field=i64, id_=i64, metadata_at=i64,
    metadata_end=i64, name_at=i64, name_end=i64, number=i64, opcode=i64, opcode_at=i64,
    opcode_end=i64, operands=i64, parameter=i64, row=i64, shape=i64, shape_at=i64, shape_end=i64,
    shape_parts=i64, tag=i64, value_at=i64,
)  # fmt: skip
def _scan_instruction(
    buf: Bytes,
    at: i64,
    end: i64,
    scan: ProgramScan,
    instructions: InstructionColumns,
    opcodes: KnownTexts,
    shapes: KnownTexts,
) -> cython.void:
    """Adds an instruction; one that is damaged is left out."""
    begin = at
    id_ = 0
    name_at = 0
    name_end = 0
    metadata_at = 0
    metadata_end = 0
    opcode_at = 0
    opcode_end = 0
    shape_at = 0
    shape_end = 0
    shape_parts = 0
    parameter = 0
    operands = scan.operands
    called = scan.called
    while at < end:
        tag, value_at = read_tag(buf, at, end)
        after = -1
        field = tag >> 3
        if value_at < 0:
            after = -1
        elif tag & 7 == LENGTH:
            body, after = read_length(buf, value_at, end)
            if body < 0:
                after = -1
            elif field == INSTRUCTION_NAME:
                name_at = body
                name_end = after
            elif field == INSTRUCTION_OPCODE:
                opcode_at = body
                opcode_end = after
            elif field == INSTRUCTION_SHAPE:
                shape_at = body
                shape_end = after
                shape_parts += 1
            elif field == INSTRUCTION_METADATA:
                metadata_at = body
                metadata_end = after
            elif field == INSTRUCTION_OPERAND_IDS:
                operands = _read_ids(buf, body, after, instructions.operand_id, operands)
                after = after if operands >= 0 else -1
            elif field == INSTRUCTION_CALLED_IDS:
                called = _read_ids(buf, body, after, instructions.called_id, called)
                after = after if called >= 0 else -1
        elif tag & 7 == VARINT:
            number, after = read_varint(buf, value_at, end)
            if after < 0:
                after = -1
            elif field == INSTRUCTION_ID:
                id_ = number
            elif field == INSTRUCTION_PARAMETER:
                parameter = number
            elif field == INSTRUCTION_OPERAND_IDS:
                if operands < instructions.operand_id.shape[0]:
                    instructions.operand_id[operands] = number
                operands += 1
            elif field == INSTRUCTION_CALLED_IDS:
                if called < instructions.called_id.shape[0]:
                    instructions.called_id[called] = number
                called += 1
        else:
            after = skip_value(buf, value_at, end, tag & 7)
        if after < 0:
            scan.damaged += 1
            return
        at = after
    row = scan.instructions
    if scan.fills != 0:
        opcode = number_text(opcode_at, opcode_end, opcodes)
        shape = -1
        if shape_parts <= 1:
            shape = number_text(shape_at, shape_end, shapes)
        if opcode < 0 or (shape < 0 and shape_parts <= 1):
            scan.is_full = 1
            return
        if parameter < 0 or parameter > LARGEST_INT32:
            parameter = -1
        instructions.id[row] = id_
        instructions.at[row] = cython.cast(cython.int, begin)
        instructions.end[row] = cython.cast(cython.int, end)
        instructions.name_at[row] = cython.cast(cython.int, name_at)
        instructions.name_end[row] = cython.cast(cython.int, name_end)
        instructions.metadata_at[row] = cython.cast(cython.int, metadata_at)
        instructions.metadata_end[row] = cython.cast(cython.int, metadata_end)
        instructions.opcode[row] = cython.cast(cython.int, opcode)
        instructions.shape[row] = cython.cast(cython.int, shape)
        instructions.parameter[row] = cython.cast(cython.int, parameter)
        instructions.operands_end[row] = cython.cast(cython.int, operands)
        instructions.called_end[row] = cython.cast(cython.int, called)
    scan.instructions += 1
    scan.operands = operands
    scan.called = called


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(number=i64)
def _read_ids(buf: Bytes, at: i64, end: i64, ids: OutInts, row: i64) -> i64:
    """Adds packed ids from `row` on; returns the row after them, -1 if they are damaged."""
    while at < end:
        number, at = read_varint(buf, at, end)
        if at < 0:
            return -1
        # Ids of an instruction that turns out to be damaged are dropped.
        if row < ids.shape[0]:
            ids[row] = number
        row += 1
    return row


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(body=i64, length=i64)
def _read_body(buf: Bytes, at: i64, end: i64, scan: ProgramScan) -> tuple[i64, i64]:
    """(first, last) of a body; if the enclosing message is cut off, the body ends with it."""
    length, body = read_varint(buf, at, end)
    if body < 0 or length < 0:
        scan.damaged += 1
        return -1, -1
    if length > end - body:
        scan.damaged += 1
        return body, end
    return body, body + length
