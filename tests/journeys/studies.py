"""Studies for journeys, made over REST: what a journey is not about takes no browser.

study = make_study(product, members={"primary_A": 3}, outputs=rows()); study.next("primary_A")
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import psycopg

from tests.factories import jsonl
from tests.journeys.conftest import BOSS, PASSWORD, Product, unique

PLAIN: dict[str, Any] = {"audit_share": 0, "adjudication": {"sham_share": 0}}
ONE_EACH = {"project_author": 1, "primary_A": 1, "primary_B": 1, "adjudicator": 1}
WHY = "A reason for the log."
WAIT_FOR_JOB = 240  # polls of half a second


@dataclass
class Caller:
    """Somebody's program: a token, and JSON both ways."""

    address: str
    token: str = ""

    def __call__(self, method: str, path: str, body: Any = None, *, expect: int | None = None) -> Any:
        """Send a request and return the JSON of the answer, None where there is none; fails on another status than expected."""
        data = None if body is None else json.dumps(body).encode()
        return self._send(method, path, data, "application/json", expect)

    def upload(self, path: str, file: bytes, **fields: str) -> Any:
        """Send a file beside plain fields."""
        mark = uuid4().hex
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="upload.jsonl"\r\n\r\n'.encode()
        body = b"".join([*parts, head, file, f"\r\n--{mark}--\r\n".encode()])
        return self._send("POST", path, body, f"multipart/form-data; boundary={mark}", 202)

    def _send(self, method: str, path: str, data: bytes | None, kind: str, wanted: int | None) -> Any:
        headers = {"Content-Type": kind} | ({"Authorization": f"Token {self.token}"} if self.token else {})
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        good = status == wanted if wanted is not None else status < 400
        assert good, f"{method} {path}: {status} {content[:500]!r}"
        return json.loads(content) if content else None


@dataclass
class Study:
    """A running study and its people. Members go by role; a second coder in a slot is `primary_A2`."""

    product: Product
    slug: str
    names: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    callers: dict[str, Caller] = field(default_factory=dict)
    free: list[str] = field(default_factory=list)

    def call(self, who: str, method: str, path: str, body: Any = None, *, expect: int | None = None) -> Any:
        return self.callers[who](method, f"studies/{self.slug}/{path}", body, expect=expect)

    def page(self, rest: str = "") -> str:
        return f"/studies/{self.slug}/{rest}"

    def coder(self) -> str:
        """Return a coder of slot A to whom no other journey has come."""
        return self.free.pop()

    def join(self, role: str, number: int = 1) -> str:
        """Add a member who has signed the declaration; return the name under which the study knows them."""
        who = role if number == 1 else f"{role}{number}"
        self.names[who] = unique(who.lower().replace("_", "-"))
        person = {"username": self.names[who], "role": role, "password": PASSWORD}
        self.aliases[who] = self.call("admin", "POST", "members/", person)["alias"]
        self.callers[who] = signed_in(self.product, self.names[who])
        self.call(who, "POST", "declaration/", {"accepted": True})
        return who

    def to(self, phase: str) -> None:
        who = "admin" if phase == "training" else "project_author"
        self.call(who, "POST", "phase/", {"to": phase, "reason": WHY, "leave_open": WHY})

    def release(self, outputs: Sequence[Mapping[str, Any]], purpose: str = "main") -> None:
        """Upload, wait for the check, release, wait for the release."""
        content = jsonl(outputs)
        path = f"studies/{self.slug}/batches/"
        uid = self.callers["admin"].upload(path, content, name="First batch", purpose=purpose)["uid"]
        self._wait(uid, "in_review")
        self.call("admin", "POST", f"batches/{uid}/release/", {"reason": WHY})
        self._wait(uid, "released")

    def _wait(self, uid: str, status: str) -> None:
        batch: dict[str, Any] = {}
        for _ in range(WAIT_FOR_JOB):
            batch = self.call("admin", "GET", f"batches/{uid}/")
            if batch["status"] == status:
                return
            assert batch["status"] not in ("rejected", "failed", "discarded"), batch
            time.sleep(0.5)  # a job in another process: all one can do is to ask
        raise AssertionError(f"waited in vain for {status}: {batch}")

    def next(self, who: str) -> dict[str, Any] | None:
        item: dict[str, Any] | None = self.call(who, "GET", "assignments/next/")
        return item

    def submit(self, who: str, item: Mapping[str, Any]) -> None:
        """Answer every question with its first option."""
        fields = answers_to(item["form"])
        self.call(who, "POST", f"assignments/{item['assignment_uid']}/record/", {"fields": fields})

    def code_all(self, who: str) -> None:
        while (item := self.next(who)) is not None:
            self.submit(who, item)

    def records_of(self, assignment: str) -> list[dict[str, Any]]:
        """Return the stored versions of an assignment's record, straight from the database."""
        columns = "version, submission_id, payload, active_seconds, idle_seconds, flagged, flag_reason"
        statement = f"SELECT {columns} FROM annotation_app_record WHERE assignment_id = %s ORDER BY version"
        return self.query(statement, assignment)

    def wait_until_final(self, assignment: str) -> None:
        """Wait for the periodic task that makes records final."""
        statement = "SELECT final_at FROM annotation_app_assignment WHERE id = %s"
        for _ in range(WAIT_FOR_JOB):
            if self.query(statement, assignment)[0]["final_at"] is not None:
                return
            time.sleep(0.5)
        raise AssertionError("the record did not become final")

    def query(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        with psycopg.connect(self.product.environment["DATABASE_URL"]) as connection:
            cursor = connection.execute(statement.encode(), values)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def signed_in(product: Product, username: str) -> Caller:
    answer = Caller(product.address)("POST", "auth/token/", {"username": username, "password": PASSWORD})
    return Caller(product.address, answer["token"])


def make_study(
    product: Product,
    *,
    protocol: Mapping[str, Any] | None = None,
    members: Mapping[str, int] | None = None,
    outputs: Sequence[Mapping[str, Any]] = (),
    phase: str = "coding",
) -> Study:
    """Make a study with one member of each role that coding needs (more with `members`) and lead it to `phase`."""
    study = Study(product, unique("street"))
    study.callers["admin"] = signed_in(product, BOSS)
    study.names["admin"] = BOSS
    found = {"slug": study.slug, "title": "Street survey", "passphrase": "seven herons at dusk"}
    study.callers["admin"]("POST", "studies/", found | {"protocol": PLAIN | dict(protocol or {})}, expect=201)
    study.call("admin", "POST", "declaration/", {"accepted": True})
    for role, count in (ONE_EACH | dict(members or {})).items():
        for number in range(1, count + 1):
            who = study.join(role, number)
            if role == "primary_A":
                study.free.append(who)
    study.call("project_author", "POST", "key/", {"passphrase": "nine pebbles in a jar"})
    if phase == "setup":
        return study
    study.to(phase)
    if outputs:
        study.release(outputs)
    return study


def answers_to(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first answer to every question of a form; the proposed cluster is confirmed, or the first one picked."""
    given: dict[str, Any] = {}
    for control in form["fields"]:
        key, kind = control["key"], control["kind"]
        if kind == "radio":
            given[key] = control["options"][0]["value"]
        elif kind == "scale":
            given[key] = 0.5
        elif kind == "cluster":
            given |= {
                key: "1",
                f"{key}-cluster": control["picker"]["preset"] or control["picker"]["options"][0]["value"],
            }
    return given
