"""Whatever may be stored comes back from its neutral form unchanged."""

from hypothesis import given
from hypothesis import strategies as st

from annotation_app.record_schema import (
    Payload,
    RecordContext,
    check_record,
    read_fields,
    shipped_schema,
    to_neutral,
)
from tests.annotation_app.record_schema.builders import form_for, record

FORM = form_for()
RELAXED = form_for(
    fields={path: {"required": False} for path in ("relevance", "factuality", "r_meta_class", "confidence")}
)
PROPERTIES = shipped_schema().document["properties"]
CODES = ("C1", "C2", "C3", "C4")
NOTES = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60) | st.text("a\n\t", max_size=9)


@st.composite
def contexts(draw):
    clusters = CODES[: draw(st.integers(0, 4))]
    control = draw(st.booleans())
    return RecordContext(
        clusters=clusters,
        proposed_cluster=draw(st.sampled_from([*clusters, None])),
        positive_control=control,
        classes=("one", "two", "three") if control else (),
        own_new_clusters=tuple(f"N{n}" for n in range(1, draw(st.integers(1, 4)))),
    )


@st.composite
def decisions(draw, context):
    new = [*context.own_new_clusters, f"N{len(context.own_new_clusters) + 1}"]
    verdicts = ["confirm", "split", "reject_as_nonsemantic_noise", "uncertain"]
    if len(context.clusters) > 1:
        verdicts.append("merge_with_other")
    verdict = draw(st.sampled_from(verdicts))
    homes = [*context.clusters, *(new if verdict == "split" or not context.clusters else ())]
    home = draw(st.sampled_from(homes))
    others = [code for code in context.clusters if code != home]
    target = draw(st.sampled_from(others)) if verdict == "merge_with_other" else None
    made = {"cluster_id": home, "decision": verdict, "merge_target": target}
    return made | draw(st.just({}) | st.fixed_dictionaries({"notes": NOTES}))


@st.composite
def payloads(draw, optional=False):
    context = draw(contexts())
    values = {
        "semantic_cluster_decision": draw(decisions(context)),
        "gold_class_match": draw(st.lists(st.sampled_from(context.classes), unique=True))
        if context.classes
        else [],
        "confidence": draw(st.floats(0, 1).map(lambda number: number or 0.0) | st.integers(0, 1)),
        "adjudication_required": draw(st.booleans()),
    }
    for name in ("relevance", "factuality", "r_meta_class", "elicitation_signal"):
        values[name] = draw(st.sampled_from(PROPERTIES[name]["enum"]))
    if optional:
        for name in draw(st.sets(st.sampled_from(["relevance", "factuality", "r_meta_class", "confidence"]))):
            del values[name]
    reason = draw(NOTES) if values["adjudication_required"] else ""
    return Payload(values, reason), context


@given(payloads())
def test_payload_survives_its_neutral_form(made):
    payload, context = made
    assert read_fields(FORM, to_neutral(FORM, payload, context), context) == payload


@given(payloads(optional=True))
def test_payload_without_optional_answers_survives_too(made):
    payload, context = made
    assert read_fields(RELAXED, to_neutral(RELAXED, payload, context), context) == payload


@given(payloads())
def test_payload_survives_its_schema_names(made):
    payload, context = made
    posted = payload.values | {"flag_reason": payload.flag_reason}
    assert read_fields(FORM, posted, context) == payload


@given(payloads())
def test_what_may_be_stored_makes_a_record_that_validates(made):
    payload, context = made
    assert check_record(shipped_schema(), record(**payload.values), context) == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*FORM.keys, *(control.path for control in FORM.controls), "flag_reason", "x"])


@given(
    st.dictionaries(NAMES, ANYTHING | st.sampled_from(["1", "C1", "new", "confirm", "N1"]), max_size=8),
    contexts(),
)
def test_whatever_is_posted_is_read_or_refused_by_neutral_keys(posted, context):
    read = read_fields(FORM, posted, context)
    if isinstance(read, Payload):
        assert check_record(shipped_schema(), record(**read.values), context) == []
    else:
        assert all(error.field in FORM.keys or error.field == "" for error in read)
        assert all(error.message for error in read)
