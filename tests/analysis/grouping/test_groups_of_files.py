"""Groups that a file brings."""

from helpers.drawn.drawn_groups import HOST, ROOT, grouping_of

from tbprof.analysis.grouping.grouping import group_of_device_events


def test_groups_of_a_file_keep_their_ids_and_names():
    planes = {
        HOST: """
            main |tttt.ffff..
                 |.a...b.....
        """,
        "/device:GPU:0": """
            Steps     |..xxx.yy
            Stream #1 |..k.l.m.
        """,
    }
    names = {"t": "train", "f": "FunctionRun"}
    stats = {
        "t": {"group_id": 7, "step_name": "train 40"}, "a": {"group_id": 7},
        "f": {"group_id": 2**40}, "x": {"group_id": 7}, "y": {"group_id": -1, "step_name": "late"},
        "k": {"group_id": 7}, "l": {}, "m": {"group_id": -1},
    }  # fmt: skip
    space, grouping = grouping_of(planes, names=names, stats=stats)
    roots = grouping.roots
    assert grouping.is_from_file
    assert grouping.ids.tolist() == [-1, 7, 2**40]
    assert roots.label == ["late", "train 40", str(2**40)]
    assert roots.number.tolist() == [-1, 40, 2**40]
    assert roots.name == ["", "train", "FunctionRun"]
    assert roots.is_marker.tolist() == [False, True, False]
    assert roots.row.tolist() == [-1, 0, 2]
    assert roots.start_ps.tolist() == [-1, 0, 5_000_000]
    assert roots.duration_ps.tolist() == [0, 4_000_000, 4_000_000]
    assert grouping.hosts[0].group.tolist() == [1, 1, 2, -1]
    plane = space.planes[1]
    assert group_of_device_events(grouping, plane, plane.events([1])).tolist() == [1, -1, 0]


def test_the_root_of_a_group_in_a_file_has_a_step_name_else_a_level_else_runs_a_function():
    drawing = """
        main |ffff.rrrr.nnnn
             |.......o...f..
    """
    names = {"f": "FunctionRun"}
    stats = {
        "f": {"group_id": 0}, "r": ROOT | {"group_id": 1}, "o": ROOT | {"group_id": 1},
        "n": {"group_id": 0, "step_name": "n 5"},
    }  # fmt: skip
    _, grouping = grouping_of(drawing, names=names, stats=stats)
    assert grouping.roots.name == ["n", "r"]
    assert grouping.roots.label == ["n 5", "1"]
