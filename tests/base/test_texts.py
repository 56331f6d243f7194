"""Texts of payloads."""

from tbprof.base.texts import NumberedTexts, cut


def test_a_long_text_is_cut():
    assert [cut("abc", most) for most in (2, 3, 4)] == ["ab…", "abc", "abc"]
    assert cut("", 0) == ""


def test_equal_texts_have_one_number():
    texts = NumberedTexts("")
    assert texts.numbers(["b", "", "a", "b"]) == [1, 0, 2, 1]
    assert texts.number("a") == 2
    assert texts.all() == ["", "b", "a"]
    assert NumberedTexts().numbers("aba") == [0, 1, 0]
