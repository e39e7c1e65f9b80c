import pytest

from annotation_app.batch_file import without_columns


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        (b"{}", b"{}"),
        (b'{"text": "a"}', b"{}"),
        (b'{"a":1,"text":"b"}', b'{"a":1}'),
        (b'{"text": "b", "a":1}', b'{"a":1}'),
        (
            b' { "a" : 1.10 ,\t"text" : "}, {" , "b" : [ {"text": 2} ] } ',
            b'{"a" : 1.10, "b" : [ {"text": 2} ]}',
        ),
        (b'{"te\\u0078t": 1, "\\"text\\"": 2, "text ": 3}', b'{"\\"text\\"": 2, "text ": 3}'),
        (b'{"": null, "\xc3\xa9": "text", "text": {"x": "\\\\"}}', b'{"": null, "\xc3\xa9": "text"}'),
    ],
)
def test_keys_go_with_their_values_and_all_else_keeps_its_spelling(raw, left):
    assert without_columns(raw, {"text"}) == left
