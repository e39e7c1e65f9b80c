import pytest

from launch import cli
from launch.speech import Trouble


def test_help_tells_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for command in ("./run test", "./run services", "./run manage", "./run install", "--port", "--no-demo"):
        assert command in told


def test_an_empty_start_tells_how_to_make_the_first_administrator() -> None:
    assert "DJANGO_SUPERUSER_USERNAME" in cli.how_to_begin(administrator=False)
    assert cli.how_to_begin(administrator=True) == "Sign in as the site administrator to create a study."


def test_a_trouble_is_a_plain_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise Trouble("The disk is full.")

    monkeypatch.setattr(cli, "run_tests", fail)
    assert cli.main(["test"]) == 1
    assert capsys.readouterr().err == "The disk is full.\n"
