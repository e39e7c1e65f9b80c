"""What was refused stands beside the field it names, and texts are fit to be stored."""

import pytest
from django import forms
from django.http import QueryDict

from annotation_app.errors import Invalid, Refused, TooOften
from annotation_app.pages.form_faults import show_fault
from annotation_app.pages.json_field import JsonObjectField
from annotation_app.pages.posted import text_in, whole_in


class Sample(forms.Form):
    name = forms.CharField(required=False)
    protocol = JsonObjectField()


def checked(text: str = "") -> Sample:
    form = Sample({"name": "x", "protocol": text})
    form.is_valid()
    return form


def test_a_fault_stands_at_its_field_with_the_rest_of_its_place() -> None:
    form = checked()
    fault = Invalid(
        [
            {"field": "name", "rule": "taken", "message": "Taken"},
            {"field": "protocol/fields/a", "rule": "x", "message": "Unknown."},
            {"field": "elsewhere", "rule": "x", "message": "Lost."},
        ]
    )
    assert show_fault(form, fault) == 422
    assert form.errors == {"name": ["Taken."], "protocol": ["fields/a: Unknown."], "__all__": ["Lost."]}


def test_a_place_may_have_another_name_in_the_form() -> None:
    form = checked()
    show_fault(form, Invalid.at("passphrase", "short", "Too short."), names={"passphrase": "name"})
    assert form.errors == {"name": ["Too short."]}


@pytest.mark.parametrize(("fault", "status"), [(Refused("Not now."), 409), (TooOften("Wait."), 429)])
def test_a_refusal_stands_above_the_form(fault: Refused, status: int) -> None:
    form = checked()
    assert show_fault(form, fault) == status
    assert form.non_field_errors() == [fault.reason]


def test_an_empty_text_is_no_object() -> None:
    assert checked(" ").cleaned_data["protocol"] is None


def test_an_object_is_read_as_it_is() -> None:
    assert checked('{"a": [1, {"b": 2}]}').cleaned_data["protocol"] == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize("text", ["[]", "3", '"a"', "{", '{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 2}}'])
def test_what_is_no_object_or_loses_a_key_is_refused(text: str) -> None:
    assert list(checked(text).errors) == ["protocol"]


def test_a_text_from_a_request_has_an_end() -> None:
    data = QueryDict("name=ab")
    assert text_in(data, "name") == "ab"
    assert text_in(data, "name", 1) == "a"
    assert text_in(data, "nothing") == ""


@pytest.mark.parametrize(
    ("sent", "read"), [("12", 12), ("9" * 5000, 2**31 - 1), ("-1", 0), ("²", 0), ("1.5", 0), ("", 0)]
)
def test_a_number_from_a_request_is_whole_and_has_an_end(sent: str, read: int) -> None:
    data = QueryDict(mutable=True)
    data["n"] = sent
    assert whole_in(data, "n") == read
    assert whole_in(data, "m") == 0
