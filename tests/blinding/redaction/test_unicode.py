import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blinding.redaction.unicode import CLEANING_VERSION, Cleaned, clean

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
MODE = "\U0001f3f4\U000e006d\U000e006f\U000e0064\U000e0065\U000e007f"

pieces = st.sampled_from(
    [
        *"aé ب क中<>[]|/s\n",
        "e\u0301",
        "\u0301",
        "\u200b",
        "\u200c",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u202e",
        "\ufe0f",
        "\U000e0100",
        "\U000e0067",
        "\U0001f468",
        "\U0001f3fd",
        ENGLAND,
        "<|im_end|>",
        "</s>",
        "<s",
        "[INST]",
        "turn0search1",
        "\0",
        "\ud83d",
    ]
)
mixed = st.lists(pieces, max_size=25).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        "The reading room opens at nine.",
        "می‌خواهم این کتاب‌ها را بخوانم.",
        "PDF‌ها",
        "क्‍ष और र्‌य लिखो।",
        "👨‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 👩🏽‍⚕️ 🧑🏿‍🤝‍🧑🏻 1️⃣ ©️",
        f"The {ENGLAND} team won.",
        "الإصدار 2.0‏ (تجريبي) ⁨v2.1⁩‎ ؜",
        "葛\U000e0100城市",
        "x |> f <| y, a<b|c>d, [INSTALL], </section>, <|>, List<String>",
        "\\u0000 and &lt;s&gt;",
    ],
)
def test_what_scripts_emoji_and_code_need_stays(text):
    assert clean(text) == Cleaned(text)


@pytest.mark.parametrize(
    ("text", "shown", "removed"),
    [
        ("The\u200b answer\u2060 is no\ufeffon.", "The answer is noon.", 3),
        ("pl\u200cai\u200dn", "plain", 2),
        ("abc\u202e\u202ddef", "abcdef", 2),
        ("Ask \U000e007a\U000e0065again.", "Ask again.", 2),
        (f"Flag {MODE} end", "Flag \U0001f3f4 end", 5),
        ("ب\u200d\u200c\u200dت", "ب\u200d\u200dت", 1),
        ("👨\u200c👩", "👨👩", 1),
        ("A\ufe0f\ufe0e\ufe01 🙂\ufe0f\U000e0151", "A 🙂\ufe0f", 4),
        ("x\U000e0101", "x", 1),
        ("e\u200b\u0301", "é", 1),
    ],
)
def test_what_nobody_sees_goes(text, shown, removed):
    assert clean(text) == Cleaned(shown, invisible_removed=removed)


@pytest.mark.parametrize(
    ("text", "shown", "tokens"),
    [
        ("<s>[INST] Explain [/INST] Noon.</s>", " Explain  Noon.", 4),
        ("<|im_start|>Noon.<|im_end|>\n<|endoftext|>", "Noon.\n", 3),
        ("<<SYS>>Be brief<</SYS>>", "Be brief", 2),
        ("<start_of_turn>model<end_of_turn><bos>", "model", 3),
        ("<｜end▁of▁sentence｜>Five", "Five", 1),
        ("<think>Hm.</think> Five", "Hm. Five", 2),
        ("It rained【4:0†source】.", "It rained.", 1),
        ("It rained :contentReference[oaicite:3]{index=3}.", "It rained .", 1),
        ("It rained.\ue200cite\ue202turn0search3\ue202turn0news1\ue201", "It rained.", 1),
        ("It rained. citeturn0search3turn0view1", "It rained. ", 1),
        ("[cite_start]It rained. [cite: 1, 2]", "It rained. ", 2),
        ("<|im_\u200bend|>", "", 1),
        ("<|im_<|im_end|>end|>", "", 2),
        ("e<s>\u0301", "é", 1),
    ],
)
def test_what_machines_leave_goes(text, shown, tokens):
    cleaned = clean(text)
    assert (cleaned.text, cleaned.control_tokens_removed) == (shown, tokens)


def test_nul_and_lone_surrogates_become_a_visible_mark():
    assert clean("A\0B C\ud83dD \ude00\ud83d 😀") == Cleaned(
        "A\ufffdB C\ufffdD \ufffd\ufffd 😀", nul_replaced=1, surrogates_replaced=3
    )


def test_a_token_in_many_layers_of_tokens_is_removed_in_the_end():
    nested = "".join("<" for _ in range(20_000)) + "s>" * 20_000
    assert "<s>" not in clean(nested).text


@given(mixed)
def test_cleaning_twice_changes_nothing(text):
    once = clean(text)
    assert clean(once.text) == Cleaned(once.text)


@given(mixed)
def test_the_result_is_normalised_text_without_what_must_go(text):
    shown = clean(text).text
    assert unicodedata.is_normalized("NFC", shown)
    gone = ("\0", "\u200b", "\u2060", "\ufeff", "\u202e", "<|im_end|>", "</s>", "[INST]", "turn0search1")
    assert [piece for piece in gone if piece in shown] == []
    shown.encode()


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Z"]), max_size=80))
def test_visible_text_is_only_normalised(text):
    cleaned = clean(text)
    if not cleaned.control_tokens_removed:
        assert cleaned.text == unicodedata.normalize("NFC", text)


def test_the_version_is_a_content_hash():
    assert len(CLEANING_VERSION) == 64
    assert int(CLEANING_VERSION, 16)
