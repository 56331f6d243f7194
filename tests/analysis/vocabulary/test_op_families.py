"""Ops that differ in numbers alone, by their names."""

from tbprof.analysis.vocabulary.op_families import family_name, stems


def test_numbers_at_the_end_of_parts_do_not_matter():
    names = [
        "replica_0/bert_1/layer_1/dense/MatMul",
        "replica_1/bert_1/layer_12/dense/MatMul",
        "dense_1_2/mul",
        "fusion.3",
        "jit(f)/jvp(layer_0)/dot",
        "conv2d/Relu",
    ]
    assert stems(names) == [
        "replica/bert/layer/dense/MatMul",
        "replica/bert/layer/dense/MatMul",
        "dense_1/mul",
        "fusion",
        "jit(f)/jvp(layer)/dot",
        "conv2d/Relu",
    ]
    assert stems(["a_1\nb_2/c", "d_3"]) == ["a\nb/c", "d"]
    assert stems([]) == []


def test_a_family_has_stars_where_its_names_differ():
    assert family_name(["replica_0/bert_1/layer_1/mul", "replica_1/bert_1/layer_12/mul"]) == (
        "replica_*/bert_1/layer_*/mul"
    )
    assert family_name(["matmul", "matmul_6"]) == "matmul_*"
    assert family_name(["fusion.3", "fusion.12"]) == "fusion.*"
    assert family_name(["jvp(layer_0)/dot", "jvp(layer_1)/dot"]) == "jvp(layer_*)/dot"
    assert family_name(["pooler/MatMul_1"]) == "pooler/MatMul_1"
