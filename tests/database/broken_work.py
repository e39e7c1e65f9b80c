"""Attempts on assignments, records, cases, decisions, jobs and requests; see `broken_rules`."""

from tests.database.broken_rules import LAKESIDE, LATER, NEW, RIVERSIDE, Attempt, change, copy_of

_ITEMS = "annotation_app_assignment"
_FINAL = "final_at IS NOT NULL"
_UNSERVED = f"served_at IS NULL AND study_id = {RIVERSIDE}"
_OPENED = f"voided_at IS NULL AND final_at IS NULL AND served_at IS NOT NULL AND version = 0 AND study_id = {RIVERSIDE}"
_FREE = f"slot IN ('A', 'B') AND {_OPENED}"


def _member(username: str) -> str:
    return (
        "(SELECT m.id FROM annotation_app_membership m JOIN auth_user u ON u.id = m.user_id"
        f" WHERE u.username = '{username}')"
    )


def _with(table: str, source: str, **changes: str) -> str:
    """Insert a copy of a row whose changed columns are SQL expressions."""
    changed = ", ".join(f"'{column}', {value}" for column, value in changes.items())
    return f"INSERT INTO {table} SELECT (jsonb_populate_record(r, jsonb_build_object({changed}))).* FROM {source} LIMIT 1"


ASSIGNMENTS: list[Attempt] = [
    *(
        ("an_allocation_is_never_changed", [change(_ITEMS, f"{column} = {value}", _UNSERVED)])
        for column, value in (
            ("record_id", "gen_random_uuid()"),
            ("study_id", "gen_random_uuid()"),
            ("output_id", "gen_random_uuid()"),
            ("member_id", "gen_random_uuid()"),
            ("slot", "'audit'"),
            ("calibration", "true"),
            ("position", "999"),
            ("given_later", "true"),
            ("guess_drawn", "NOT guess_drawn"),
        )
    ),
    ("an_item_is_served_once", [change(_ITEMS, f"served_at = {LATER}", _FINAL)]),
    ("an_item_is_served_once", [change(_ITEMS, "codebook_id = NULL", _FINAL)]),
    *(
        ("what_is_final_stays_final", [change(_ITEMS, change_to, _FINAL)])
        for change_to in (
            "final_at = NULL",
            f"final_at = {LATER}",
            "version = version + 1",
            f"submitted_at = {LATER}",
        )
    ),
    (
        "what_is_voided_stays_voided",
        [
            change(_ITEMS, f"voided_at = {LATER}, void_reason = 'exposed'", _UNSERVED),
            change(_ITEMS, "voided_at = NULL"),
        ],
    ),
    ("versions_of_a_record_follow_each_other", [change(_ITEMS, "version = version + 2", _UNSERVED)]),
    ("only_what_was_submitted_is_final", [change(_ITEMS, f"final_at = {LATER}", _UNSERVED)]),
    ("what_was_submitted_was_served", [change(_ITEMS, f"submitted_at = {LATER}", _UNSERVED)]),
    # Somebody's item handed to a person of another role, of another study, or to an adjudicator as a primary.
    *(
        (
            "a_member_codes_only_in_the_slot_of_their_role",
            [
                _with(
                    _ITEMS,
                    f"{_ITEMS} r WHERE slot = 'A' AND study_id = {RIVERSIDE}",
                    id="gen_random_uuid()",
                    record_id="gen_random_uuid()",
                    member_id=who,
                )
            ],
        )
        for who in (
            _member("riverside-adjudicator"),
            _member("riverside-monitor"),
            _member("lakeside-primary_A"),
        )
    ),
    (
        "an_assignment_is_in_a_known_slot",
        [f"ALTER TABLE {_ITEMS} DISABLE TRIGGER assignments_are_guarded", change(_ITEMS, "slot = 'C'")],
    ),
    (
        "one_live_coder_per_output_and_primary_slot",
        [
            _with(
                _ITEMS,
                f"{_ITEMS} r WHERE r.member_id = {_member('riverside-primary_A')}",
                id="gen_random_uuid()",
                record_id="gen_random_uuid()",
                member_id=_member("riverside-primary_A2"),
            )
        ],
    ),
    (
        "nobody_meets_an_output_twice",
        [
            change(_ITEMS, f"voided_at = {LATER}, void_reason = 'exposed'", _UNSERVED),
            copy_of(
                _ITEMS,
                f"voided_at IS NOT NULL AND study_id = {RIVERSIDE}",
                id=NEW + "1",
                record_id=NEW + "2",
                voided_at=None,
            ),
        ],
    ),
]

_RECORDS = "annotation_app_record"
_OVERLAY = "annotation_app_recordoverlay"
_NEXT = "annotation_app_record r"


def _record_for(where: str, version: str = "1") -> str:
    """Insert a record for an assignment."""
    return _with(
        _RECORDS,
        _NEXT,
        id="gen_random_uuid()",
        submission_id="'fresh'",
        version=version,
        assignment_id=f"(SELECT id FROM {_ITEMS} WHERE {where} LIMIT 1)",
    )


RECORDS: list[Attempt] = [
    (
        "no_record_for_a_voided_assignment",
        [change(_ITEMS, f"voided_at = {LATER}", _FREE), _record_for("voided_at IS NOT NULL")],
    ),
    ("no_record_after_finality", [_record_for(f"{_FINAL} AND study_id = {RIVERSIDE}", "2")]),
    ("no_record_before_the_item_was_served", [_record_for(_UNSERVED)]),
    (
        "a_record_is_written_only_in_the_phases_of_its_slot",
        [
            change("annotation_app_study", "phase = 'review'", "slug = 'riverside'"),
            _record_for(_FREE),
        ],
    ),
    (
        "a_record_is_written_only_in_the_phases_of_its_slot",
        [
            f"ALTER TABLE {_ITEMS} DISABLE TRIGGER assignments_are_guarded",
            change(_ITEMS, "calibration = true", _FREE),
            _record_for("calibration"),
        ],
    ),
    ("an_adjudicator_decides_and_stores_no_record", [_record_for(f"slot = 'adjudicator' AND {_OPENED}")]),
    ("versions_of_a_record_follow_each_other", [_record_for(_FREE, "2")]),
    (
        "versions_of_a_record_are_numbered",
        [
            f"ALTER TABLE {_RECORDS} DISABLE TRIGGER records_need_a_live_assignment",
            copy_of(_RECORDS, id=NEW + "1", submission_id="fresh"),
        ],
    ),
    (
        "a_submission_counts_once",
        [
            _with(
                _RECORDS,
                f"{_NEXT} JOIN {_ITEMS} a ON a.id = r.assignment_id WHERE a.version = 1 AND a.final_at IS NULL",
                id="gen_random_uuid()",
                version="2",
            )
        ],
    ),
    (
        "nothing_is_decided_behind_a_lock",
        [
            change(
                _OVERLAY,
                "adjudicated_value = 'x'",
                f"assignment_id IN (SELECT id FROM {_ITEMS} WHERE study_id = {LAKESIDE})",
            )
        ],
    ),
]

_CASES = "adjudication_case"
_OPEN = f"state = 'open' AND study_id = {RIVERSIDE}"
_DECIDED = f"state = 'decided' AND study_id = {RIVERSIDE}"

CASES: list[Attempt] = [
    (
        "only_final_pairs_of_one_output_are_compared",
        [
            _with(
                "adjudication_comparison",
                "adjudication_comparison r",
                id="gen_random_uuid()",
                record_a_id="r.record_b_id",
                record_b_id="r.record_a_id",
            )
        ],
    ),
    ("a_pair_is_compared_once", [copy_of("adjudication_comparison", id=NEW + "1")]),
    *(
        ("a_case_keeps_its_identity", [change(_CASES, f"{column} = {value}")])
        for column, value in (
            ("study_id", "gen_random_uuid()"),
            ("output_id", "gen_random_uuid()"),
            ("comparison_id", "gen_random_uuid()"),
            ("origin", "'sham'"),
            ("a_is_left", "NOT a_is_left"),
            ("place", "place + 1"),
        )
    ),
    ("a_closed_case_stays_closed", [change(_CASES, "state = 'open'", _DECIDED)]),
    (
        "a_closed_case_stays_closed",
        [
            change(_CASES, "state = 'withdrawn'", _OPEN),
            change(_CASES, "state = 'open'", "state = 'withdrawn'"),
        ],
    ),
    (
        "claims_are_numbered_upwards",
        [change(_CASES, "claim_no = 0", f"claim_no > 0 AND study_id = {RIVERSIDE}")],
    ),
    *(
        ("only_an_adjudicator_of_the_study_claims_a_case", [change(_CASES, f"claimed_by_id = {who}", _OPEN)])
        for who in (
            _member("riverside-primary_A"),
            _member("riverside-project_author"),
            _member("lakeside-adjudicator"),
        )
    ),
    (
        "an_adjudicator_claims_one_case_at_a_time",
        [
            change(
                _CASES,
                f"claimed_by_id = {_member('riverside-adjudicator')}",
                f"claimed_by_id IS NULL AND {_OPEN}",
            )
        ],
    ),
    ("one_open_case_per_output", [copy_of(_CASES, _OPEN, id=NEW + "1", assignment_id=None)]),
    ("a_case_draft_belongs_to_its_author", [copy_of("adjudication_casedraft", id=99999)]),
]


def _decision(case: str, **changes: str) -> str:
    return _with(
        "adjudication_decision",
        "adjudication_decision r",
        id="gen_random_uuid()",
        case_id=f"({case})",
        **changes,
    )


_HELD = f"SELECT id FROM {_CASES} WHERE {_OPEN} AND claimed_by_id IS NOT NULL"
DECISIONS: list[Attempt] = [
    (
        "nothing_is_decided_behind_a_lock",
        [
            change("annotation_app_study", "phase = 'review'", "slug = 'riverside'"),
            change("annotation_app_study", "phase = 'locked'", "slug = 'riverside'"),
            _decision(_HELD),
        ],
    ),
    (
        "only_who_claimed_an_open_case_decides_it",
        [_decision(f"SELECT id FROM {_CASES} WHERE {_DECIDED} LIMIT 1")],
    ),
    (
        "only_who_claimed_an_open_case_decides_it",
        [_decision(f"SELECT id FROM {_CASES} WHERE {_OPEN} AND claimed_by_id IS NULL LIMIT 1")],
    ),
    (
        "only_who_claimed_an_open_case_decides_it",
        [_decision(_HELD, decided_by_id=_member("riverside-project_author"))],
    ),
    (
        "nobody_decides_on_their_own_codes",
        [
            f"ALTER TABLE {_ITEMS} DISABLE TRIGGER assignments_are_guarded",
            change(
                _ITEMS,
                "slot = 'audit'",
                f"slot = 'adjudicator' AND output_id IN (SELECT output_id FROM {_CASES} WHERE id IN ({_HELD}))",
            ),
            _decision(_HELD),
        ],
    ),
    ("a_decision_has_a_rationale", [_decision(_HELD, rationale="''")]),
]

_REQUESTS = "blinding_unblindingrequest"
JOBS: list[Attempt] = [
    (
        "one_live_job_of_a_kind_per_subject",
        [copy_of("blinding_job", "state = 'queued'", id=NEW + "1", state="running")],
    ),
    ("a_block_number_is_used_once", [copy_of("blinding_eventblock", id=NEW + "1")]),
    ("one_open_unblinding_request_per_study", [copy_of(_REQUESTS, id=NEW + "1")]),
    ("who_requests_an_unblinding_does_not_approve_it", [change(_REQUESTS, "approved_by = requested_by")]),
    ("an_unblinding_has_a_reason", [change(_REQUESTS, "reason = ''")]),
]

WORK: list[Attempt] = [*ASSIGNMENTS, *RECORDS, *CASES, *DECISIONS, *JOBS]
