"""What is sealed opens with the right key and passphrase only, and tells nothing by its length."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import sodium_pad

from blinding import sealing
from blinding.sealing import (
    Damaged,
    HandOver,
    Opener,
    Sealer,
    Strength,
    WrongPassphrase,
    WrongRecoveryCode,
)

CHEAP = Strength(passes=1, memory=8192)
NONCE = bytes(range(16))


@pytest.fixture(name="key")
def _key() -> sealing.StudyKeyMaterial:
    return sealing.create_study_key("admin's words", CHEAP)


def test_a_guess_costs_what_libsodium_calls_moderate():
    assert Strength(passes=3, memory=256 * 1024 * 1024) == sealing.MODERATE
    material = sealing.create_study_key("admin's words")
    header = material.inner[6:18]
    assert header == (3).to_bytes(4, "big") + (268_435_456).to_bytes(8, "big")


def test_the_two_halves_open_one_after_the_other(key):
    outer = sealing.add_outer(key.inner, "author's words", CHEAP).outer
    assert sealing.open_outer(outer, "author's words") == key.inner
    private = sealing.open_inner(key.inner, "admin's words")
    assert sealing.public_key_of(private) == key.public_key
    assert private not in key.inner
    assert key.inner not in outer


def test_one_half_alone_does_not_open_the_other(key):
    outer = sealing.add_outer(key.inner, "author's words", CHEAP).outer
    with pytest.raises(WrongPassphrase):
        sealing.open_outer(outer, "admin's words")
    with pytest.raises(Damaged, match="other layer"):
        sealing.open_inner(outer, "admin's words")
    with pytest.raises(Damaged, match="other layer"):
        sealing.add_outer(outer, "again", CHEAP)


def test_a_wrong_passphrase_has_its_own_error(key):
    with pytest.raises(WrongPassphrase):
        sealing.open_inner(key.inner, "admin's word")
    with pytest.raises(ValueError, match="empty"):
        sealing.create_study_key("", CHEAP)


def test_a_passphrase_is_the_same_in_either_normal_form():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    material = sealing.create_study_key(composed, CHEAP)
    assert sealing.public_key_of(sealing.open_inner(material.inner, decomposed)) == material.public_key


def test_two_keys_share_nothing():
    one, two = (sealing.create_study_key("same words", CHEAP) for _ in range(2))
    assert one.public_key != two.public_key
    assert one.inner[18:34] != two.inner[18:34]
    assert one.recovery_sheet != two.recovery_sheet


def test_a_changed_passphrase_replaces_the_old_one(key):
    changed = sealing.change_passphrase(key.inner, "admin's words", "new words", CHEAP)
    private = sealing.open_inner(key.inner, "admin's words")
    assert sealing.open_inner(changed, "new words") == private
    with pytest.raises(WrongPassphrase):
        sealing.open_inner(changed, "admin's words")
    with pytest.raises(WrongPassphrase):
        sealing.change_passphrase(key.inner, "guess", "new words", CHEAP)
    outer = sealing.add_outer(key.inner, "author's words", CHEAP).outer
    assert (
        sealing.open_outer(sealing.change_passphrase(outer, "author's words", "x", CHEAP), "x") == key.inner
    )


def test_the_inner_half_can_be_replaced_under_the_outer_one(key):
    half = sealing.add_outer(key.inner, "author's words", CHEAP)
    changed = sealing.change_passphrase(key.inner, "admin's words", "new words", CHEAP)
    outer = sealing.replace_inner(half.outer, "author's words", changed)
    assert sealing.open_outer(outer, "author's words") == changed
    recovered = sealing.rewrap_from_recovery(outer, half.recovery_sheet, "found again", CHEAP)
    assert sealing.open_outer(recovered, "found again") == changed


def test_a_recovery_code_sets_a_new_passphrase(key):
    private = sealing.open_inner(key.inner, "admin's words")
    again = sealing.rewrap_from_recovery(key.inner, key.recovery_sheet, "new words", CHEAP)
    assert sealing.open_inner(again, "new words") == private
    with pytest.raises(WrongPassphrase):
        sealing.open_inner(again, "admin's words")
    third = sealing.rewrap_from_recovery(again, key.recovery_sheet, "third words", CHEAP)
    assert sealing.open_inner(third, "third words") == private


def test_a_recovery_code_is_read_as_people_type_it(key):
    groups = key.recovery_sheet.split("-")
    assert [len(group) for group in groups] == [5] * 8
    assert not set(key.recovery_sheet) & set("OILU")
    typed = " ".join(groups).lower().replace("0", "o").replace("1", "l")
    again = sealing.rewrap_from_recovery(key.inner, typed, "new words", CHEAP)
    assert sealing.public_key_of(sealing.open_inner(again, "new words")) == key.public_key


def test_a_mistyped_recovery_code_is_told_from_a_foreign_one(key):
    sheet = key.recovery_sheet
    mistyped = ("2" if sheet[0] != "2" else "3") + sheet[1:]
    for wrong in (mistyped, sheet[:-1], "", "ÄÖÜ", sheet + sheet):
        with pytest.raises(WrongRecoveryCode, match=r"mistyped|eight groups"):
            sealing.rewrap_from_recovery(key.inner, wrong, "new words", CHEAP)
    half = sealing.add_outer(key.inner, "author's words", CHEAP)
    for layer, foreign in ((key.inner, half.recovery_sheet), (half.outer, sheet)):
        with pytest.raises(WrongRecoveryCode, match="another key"):
            sealing.rewrap_from_recovery(layer, foreign, "new words", CHEAP)


def test_no_byte_of_a_layer_can_be_altered(key):
    for position in range(0, len(key.inner), 3):
        altered = bytearray(key.inner)
        altered[position] ^= 1
        if 6 <= position < 18:
            continue  # another cost of a guess: tried below without paying it
        in_code_slot = 34 + 72 <= position < 34 + 144
        try:
            sealing.open_inner(bytes(altered), "admin's words")
        except (WrongPassphrase, Damaged):
            continue
        assert in_code_slot
        with pytest.raises(WrongRecoveryCode):
            sealing.rewrap_from_recovery(bytes(altered), key.recovery_sheet, "new words", CHEAP)


def test_a_layer_cannot_ask_for_an_absurd_cost(key):
    greedy = key.inner[:10] + (2**40).to_bytes(8, "big") + key.inner[18:]
    for blob in (greedy, key.inner[:100], b"", b"XXXX" + key.inner[4:]):
        with pytest.raises(Damaged):
            sealing.open_inner(blob, "admin's words")


def test_sealed_boxes_open_with_their_study_only(key):
    private = sealing.open_inner(key.inner, "admin's words")
    sealer, opener = Sealer(key.public_key), Opener(private)
    box = sealer.seal(b"condition: hint")
    assert opener.open(box) == b"condition: hint"
    assert len(box) == len(b"condition: hint") + 48
    assert sealer.seal(b"condition: hint") != box
    other = Opener(sealing.open_inner(sealing.create_study_key("x", CHEAP).inner, "x"))
    for wrong in (box[:-1], box[:10], b"", box[:-1] + bytes([box[-1] ^ 1])):
        with pytest.raises(Damaged):
            opener.open(wrong)
    with pytest.raises(Damaged):
        other.open(box)
    with pytest.raises(ValueError, match="32 bytes"):
        Sealer(b"short")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("number", [0, 1, 5, 100])
def test_many_boxes_keep_their_order(key, threads, number):
    opener = Opener(sealing.open_inner(key.inner, "admin's words"))
    plain = [str(index).encode() for index in range(number)]
    sealed = Sealer(key.public_key).seal_many(plain, threads=threads)
    assert opener.open_many(sealed, threads=threads) == plain


def test_padding_is_iso_7816_4():
    assert sealing.pad_to(b"ab", 5) == b"ab\x80\0\0"
    assert sealing.pad_to_multiple(b"abc", 4) == b"abc\x80"
    assert sealing.pad_to_multiple(b"abcd", 4) == b"abcd\x80\0\0\0"
    assert sealing.unpad(b"a\x80\x80\0\0") == b"a\x80"
    for unpadded in (b"", b"ab", b"\0\0", b"ab\x80\1"):
        with pytest.raises(Damaged):
            sealing.unpad(unpadded)
    for size in (2, 1):
        with pytest.raises(ValueError, match="no room"):
            sealing.pad_to(b"ab", size)


@given(st.binary(max_size=700), st.integers(1, 300))
def test_padding_returns_what_it_was_given(data, more):
    padded = sealing.pad_to(data, len(data) + more)
    assert len(padded) == len(data) + more
    assert sealing.unpad(padded) == data
    assert sealing.unpad(sealing.pad_to_multiple(data)) == data
    assert sealing.pad_to_multiple(data) == sodium_pad(data, 256)
    assert len(sealing.pad_to_multiple(data)) % 256 == 0


def test_label_boxes_of_a_batch_have_one_length():
    boxes = [sealing.label_box({"condition": "x" * length}, b"", NONCE) for length in (1, 40, 500)]
    size = sealing.padded_size(max(map(len, boxes)))
    assert size % 256 == 0
    assert {len(sealing.pad_to(box, size)) for box in boxes} == {size}
    assert sealing.padded_size(256) == 512
    assert sealing.padded_size(255) == 256


def test_label_boxes_return_raw_values_unchanged():
    fields = {"output_id": " A\u0308 ", "seed": 10**40 + 1, "temperature": 0.1, "theory": None, "ok": True}
    raw_line = b'{"seed": 1.50, "note":\t"\xf0\x9f\x8f\xb3"}\r\n'
    box = sealing.label_box(fields, raw_line, NONCE)
    found = sealing.open_label_box(sealing.pad_to(box, 1024))
    assert found.fields == fields
    assert {key: type(value) for key, value in found.fields.items()} == {
        key: type(value) for key, value in fields.items()
    }
    assert (found.raw_line, found.nonce) == (raw_line, NONCE)
    assert NONCE not in found.labels


def test_label_boxes_have_one_spelling():
    one = sealing.label_box({"a": "1", "b": "2"}, b"", NONCE)
    assert one == sealing.label_box({"b": "2", "a": "1"}, b"", NONCE)
    for fields in ('{"a":"1","a":"2"}', '{"a": "1"}', '{"b":"1","a":"2"}', "[]"):
        forged = b"TBL1\x10" + NONCE + len(fields).to_bytes(4, "big") + fields.encode()
        with pytest.raises(Damaged):
            sealing.open_label_box(sealing.pad_to_multiple(forged))
    with pytest.raises(ValueError, match="not JSON compliant"):
        sealing.label_box({"a": float("nan")}, b"", NONCE)
    with pytest.raises(ValueError, match="128 bits"):
        sealing.label_box({}, b"", NONCE[:15])
    for cut in (b"", one[:10], one[:30], b"XXXX" + one[4:]):
        with pytest.raises(Damaged):
            sealing.open_label_box(sealing.pad_to_multiple(cut))


@given(st.text(max_size=400))
def test_text_boxes_return_the_text(text):
    box = sealing.text_box(text)
    assert len(box) % 256 == 0
    assert sealing.open_text_box(box) == text


def test_the_key_is_handed_to_one_job_and_request(key):
    private = sealing.open_inner(key.inner, "admin's words")
    job, other = HandOver(), HandOver()
    sealed = sealing.seal_for(job.public_key, private, "request 1")
    assert job.open(sealed, "request 1") == private
    assert private not in sealed
    with pytest.raises(Damaged, match="another request"):
        job.open(sealed, "request 2")
    with pytest.raises(Damaged):
        other.open(sealed, "request 1")


def test_duplicate_keys_are_hmacs():
    """RFC 4231, test case 2."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert sealing.duplicate_key(b"Jefe", "what do ya want for nothing?").hex() == expected


def test_duplicate_keys_cannot_be_guessed_without_the_secret():
    stored = sealing.duplicate_key(b"s" * 32, "gpt-17")
    guesses = [hashlib.sha256(f"gpt-{n}".encode()).digest() for n in range(100)]
    guesses += [sealing.duplicate_key(b"", f"gpt-{n}") for n in range(100)]
    assert stored not in guesses
