"""The interface's own description is complete: nothing in it had to be guessed, and no two operations share a name."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.factories import a_study


def test_nothing_in_it_is_guessed(tmp_path: Path) -> None:
    """Every warning would be a line on the server's error stream each time that somebody asks for the document."""
    call_command(
        "spectacular", "--validate", "--fail-on-warn", file=str(tmp_path / "openapi.yaml"), stderr=StringIO()
    )


@pytest.mark.django_db
def test_who_runs_a_study_gets_it_and_the_server_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    study = a_study()
    response = study.api("project_author").get("/api/v1/schema/")
    document = json.loads(response.content)
    assert capfd.readouterr().err == ""
    assert set(document["components"]["securitySchemes"]) == {"token", "session"}
    operations = [
        operation
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method != "parameters"
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) > 50
    assert "get_studies_by_slug_batches_by_uid" in names
    without_a_way_in = [o["operationId"] for o in operations if o.get("security") in (None, [], [{}])]
    assert without_a_way_in == ["post_auth_token", "get_public_by_slug_distributions"]
    assert study.api("primary_A").get("/api/v1/schema/").status_code == 404
