"""What somebody with a SQL prompt may try, each attempt with the rule that must refuse it.

An attempt is a list of statements: all but the last prepare the ground and must go through.
The studies are those of the fixture `ground`: riverside in coding, lakeside locked, hillside in setup.
"""

import json
from typing import Any

NEW = "00000000-0000-4000-8000-00000000000"
LATER = "'2031-05-05T05:05:05Z'"
RIVERSIDE = "(SELECT id FROM annotation_app_study WHERE slug = 'riverside')"
LAKESIDE = "(SELECT id FROM annotation_app_study WHERE slug = 'lakeside')"

Attempt = tuple[str, list[str]]


def change(table: str, assignment: str, where: str = "true") -> str:
    return f"UPDATE {table} SET {assignment} WHERE {where}"


def remove(table: str, where: str = "true") -> str:
    return f"DELETE FROM {table} WHERE {where}"


def copy_of(table: str, where: str = "true", **changes: Any) -> str:
    """Insert one of the rows that are there once more, with some columns changed."""
    changed = json.dumps(changes).replace("'", "''").replace("%", "%%")
    return f"INSERT INTO {table} SELECT (jsonb_populate_record(r, '{changed}'::jsonb)).* FROM {table} r WHERE {where} LIMIT 1"


# Tables that only grow, under the noun that their triggers use.
APPEND_ONLY = {
    "adjudication_comparison": "comparisons",
    "adjudication_decision": "decisions",
    "annotation_app_codebook": "codebooks",
    "annotation_app_erratum": "errata",
    "annotation_app_guess": "guesses",
    "annotation_app_record": "records",
    "annotation_app_referencecode": "references",
    "annotation_app_traininggate": "gates",
    "blinding_amendment": "amendments",
    "blinding_event": "events",
    "blinding_eventblock": "event_blocks",
    "blinding_exposure": "exposures",
    "blinding_opendigests": "open_digests",
    "blinding_publisheddistributions": "published_distributions",
    "blinding_revealedfigures": "revealed_figures",
    "blinding_revealedlabel": "revealed_labels",
    "blinding_revealedseed": "revealed_seeds",
    "blinding_revealedtask": "revealed_tasks",
}
KEYS = {
    "annotation_app_traininggate": "member_id",
    "blinding_opendigests": "output",
    "blinding_publisheddistributions": "study",
    "blinding_revealedlabel": "output",
    "blinding_revealedtask": "task",
    "blinding_revealedseed": "batch",
}


def _append_only() -> list[Attempt]:
    attempts: list[Attempt] = []
    for table, noun in APPEND_ONLY.items():
        key = KEYS.get(table, "id")
        attempts += [
            (f"{noun}_are_never_changed", [change(table, f"{key} = {key}")]),
            (f"{noun}_are_never_changed", [remove(table)]),
            (f"{noun}_are_never_truncated", [f"TRUNCATE {table} CASCADE"]),
        ]
    return attempts


KEPT: list[Attempt] = [
    ("studies_are_never_removed", [remove("annotation_app_study", "slug = 'hillside'")]),
    ("memberships_are_never_removed", [remove("annotation_app_membership")]),
    ("outputs_are_never_removed", [remove("annotation_app_output")]),
    ("outputs_are_never_truncated", ["TRUNCATE annotation_app_output CASCADE"]),
    ("assignments_are_never_removed", [remove("annotation_app_assignment")]),
    ("assignments_are_never_truncated", ["TRUNCATE annotation_app_assignment CASCADE"]),
    ("cases_are_never_removed", [remove("adjudication_case")]),
    ("seals_are_never_changed", [change("blinding_sealedoutput", "labels = 'x'")]),
    ("seals_are_never_changed", [change("blinding_sealedtask", "box = 'x'")]),
    ("seals_of_a_released_batch_are_never_removed", [remove("blinding_sealedoutput")]),
    ("seals_of_a_released_batch_are_never_removed", [remove("blinding_sealedtask")]),
    ("seals_are_never_truncated", ["TRUNCATE blinding_sealedoutput"]),
    ("task_seals_are_never_truncated", ["TRUNCATE blinding_sealedtask"]),
    ("commitments_are_never_changed", [change("blinding_commitment", "merkle_root = 'x'")]),
    ("commitments_are_never_changed", [change("blinding_commitment", "sealed_seed = 'x', receipt = 'x'")]),
    (
        "commitments_are_never_changed",
        [change("blinding_commitment", "receipt = 'x'"), change("blinding_commitment", "receipt = 'y'")],
    ),
    ("commitments_are_never_changed", [remove("blinding_commitment")]),
    ("commitments_are_never_truncated", ["TRUNCATE blinding_commitment"]),
]

STUDIES: list[Attempt] = [
    (
        "a_study_is_in_a_known_phase",
        [copy_of("annotation_app_study", id=NEW + "1", slug="other", phase="paused")],
    ),
    *(
        (
            "phases_only_move_forward",
            [change("annotation_app_study", f"phase = '{phase}'", "slug = 'riverside'")],
        )
        for phase in ("setup", "training", "locked", "unblinded")
    ),
    ("phases_only_move_forward", [change("annotation_app_study", "phase = 'coding'", "slug = 'lakeside'")]),
    (
        "a_lock_is_undone_by_two_people",
        [change("annotation_app_study", "phase = 'review'", "slug = 'lakeside'")],
    ),
    (
        "protocol_and_codebook_are_frozen_before_coding",
        [change("annotation_app_study", "phase = 'coding'", "slug = 'hillside'")],
    ),
    *(
        (
            "what_was_preregistered_is_never_changed",
            [change("annotation_app_study", f"{column} = {value}", "phase = 'coding'")],
        )
        for column, value in (
            ("protocol", "'{}'"),
            ("record_schema", "'{}'"),
            ("preregistration_hash", "'x'"),
            ("frozen_at", LATER),
        )
    ),
    ("a_key_has_one_or_two_layers", [change("blinding_studykey", "layers = 0")]),
    ("a_key_has_one_or_two_layers", [change("blinding_studykey", "layers = 3")]),
]

_A = "role = 'primary_A'"
PEOPLE: list[Attempt] = [
    ("a_member_keeps_role_and_pseudonym", [change("annotation_app_membership", "role = 'adjudicator'", _A)]),
    ("a_member_keeps_role_and_pseudonym", [change("annotation_app_membership", "alias = 'ZZ-999'", _A)]),
    (
        "a_member_keeps_role_and_pseudonym",
        [change("annotation_app_membership", f"study_id = {LAKESIDE}", f"study_id = {RIVERSIDE}")],
    ),
    (
        "a_membership_is_never_handed_on",
        [
            change(
                "annotation_app_membership",
                "user_id = (SELECT id FROM auth_user WHERE username = 'lakeside-audit')",
                _A,
            )
        ],
    ),
    ("a_declaration_is_signed_once", [change("annotation_app_membership", "declared_at = NULL", _A)]),
    ("a_declaration_is_signed_once", [change("annotation_app_membership", f"declared_at = {LATER}", _A)]),
    (
        "one_role_per_person_and_study",
        [copy_of("annotation_app_membership", _A, id=NEW + "1", alias="ZZ-999", role="audit")],
    ),
    (
        "a_pseudonym_is_used_once_in_a_study",
        [copy_of("annotation_app_membership", _A, id=NEW + "1", user_id=None)],
    ),
    (
        "a_member_has_a_known_role",
        [copy_of("annotation_app_membership", id=NEW + "1", alias="ZZ-999", user_id=None, role="visitor")],
    ),
]

BATCHES: list[Attempt] = [
    ("the_same_bytes_are_accepted_once", [copy_of("annotation_app_batch", id=NEW + "1", number=9)]),
    ("released_batches_are_numbered", [copy_of("annotation_app_batch", id=NEW + "1", sha256="other")]),
    ("a_released_batch_has_a_number_and_a_time", [change("annotation_app_batch", "number = NULL")]),
    ("a_released_batch_has_a_number_and_a_time", [change("annotation_app_batch", "released_at = NULL")]),
    (
        "a_term_is_reviewed_once_per_batch_and_kind",
        [copy_of("annotation_app_finding", id=NEW + "1", number=9)],
    ),
    ("findings_of_a_batch_are_numbered", [copy_of("annotation_app_finding", id=NEW + "1", term="other")]),
    ("an_output_id_is_used_once_in_a_study", [copy_of("blinding_usedoutputid", id=NEW + "1")]),
    (
        "a_codebook_version_is_used_once_in_a_study",
        [copy_of("annotation_app_codebook", id=NEW + "1", number=9)],
    ),
    (
        "codebooks_of_a_study_are_numbered",
        [copy_of("annotation_app_codebook", id=NEW + "1", version="other")],
    ),
]

TASKS: list[Attempt] = [
    *(
        ("a_task_version_keeps_its_identity", [change("annotation_app_task", f"{column} = 'other'")])
        for column in ("task_id", "task_version", "code")
    ),
    (
        "a_task_version_keeps_its_identity",
        [
            change("annotation_app_task", f"voided_at = {LATER}, void_reason = 'unclear'"),
            change("annotation_app_task", "voided_at = NULL"),
        ],
    ),
    ("a_released_task_is_never_reworded", [change("annotation_app_task", "statement = 'other'")]),
    (
        "a_released_task_is_never_reworded",
        [change("annotation_app_task", "classes = '[]'", "positive_control")],
    ),
    ("a_voided_task_has_a_reason", [change("annotation_app_task", f"voided_at = {LATER}")]),
    ("a_task_version_is_known_once_in_a_study", [copy_of("annotation_app_task", id=NEW + "1", code="other")]),
    ("a_batch_seals_a_task_once", [copy_of("blinding_sealedtask", id=NEW + "1")]),
    ("a_task_code_is_used_once_in_a_study", [copy_of("annotation_app_task", id=NEW + "1", task_id="other")]),
    ("a_cluster_code_is_used_once_in_a_task", [copy_of("annotation_app_cluster", id=NEW + "1")]),
    ("a_coder_names_a_new_cluster_once", [copy_of("annotation_app_owncluster", id=NEW + "1")]),
    ("a_coder_has_one_practice_to_do", [copy_of("annotation_app_practice", id=NEW + "1")]),
    ("a_training_text_is_noted_once", [copy_of("annotation_app_trainingtext", id=NEW + "1")]),
    *(
        (
            "a_reference_has_an_author_or_is_a_consensus",
            [copy_of("annotation_app_referencecode", id=NEW + "1", **changes)],
        )
        for changes in ({"source": "adjudicator"}, {"source": "coder"})
    ),
]

OUTPUTS: list[Attempt] = [
    *(
        ("an_output_keeps_its_identity", [change("annotation_app_output", f"{column} = {value}")])
        for column, value in (
            ("study_id", "gen_random_uuid()"),
            ("batch_id", "gen_random_uuid()"),
            ("task_id", "gen_random_uuid()"),
            ("cluster_id", "NULL"),
            ("blinded_output_id", "'other'"),
        )
    ),
    *(
        ("a_text_changes_only_in_a_recall", [change("annotation_app_output", f"{column} = 'other'")])
        for column in ("text", "html", "blind_version")
    ),
    (
        "an_exclusion_is_never_undone",
        [
            change("annotation_app_output", f"excluded_at = {LATER}, exclusion_reason = 'empty'"),
            change("annotation_app_output", "excluded_at = NULL"),
        ],
    ),
    ("an_excluded_output_has_a_reason", [change("annotation_app_output", f"excluded_at = {LATER}")]),
    ("a_blinded_output_id_is_used_once_in_a_study", [copy_of("annotation_app_output", id=NEW + "1")]),
    ("amendments_of_an_output_are_numbered", [copy_of("blinding_amendment", id=NEW + "1")]),
    ("an_exposure_says_how", [copy_of("blinding_exposure", id=NEW + "1", how="rumour")]),
]

DOMAIN: list[Attempt] = [*_append_only(), *KEPT, *STUDIES, *PEOPLE, *BATCHES, *TASKS, *OUTPUTS]
