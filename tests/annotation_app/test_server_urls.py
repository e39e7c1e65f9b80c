import pytest

from annotation_app.server_urls import broker_url, database_config


def test_a_socket_folder_and_the_pool_stand_side_by_side() -> None:
    config = database_config("postgres://twinblind@/twinblind?host=/data/s", pool_size=5)
    assert config["OPTIONS"] == {
        "host": "/data/s",
        "pool": {"min_size": 1, "max_size": 5, "timeout": 5},
    }
    assert (config["NAME"], config["USER"]) == ("twinblind", "twinblind")
    # Django refuses a pool beside connections that it would keep itself.
    assert (config["CONN_MAX_AGE"], config["CONN_HEALTH_CHECKS"]) == (0, True)


def test_a_database_over_the_network_has_no_pool_when_its_size_is_none() -> None:
    config = database_config(
        "postgres://ada:p%40ss@db:5433/coding?sslmode=require", pool_size=0, test_name="t1"
    )
    assert (config["HOST"], config["PORT"], config["PASSWORD"]) == ("db", 5433, "p@ss")
    assert config["OPTIONS"] == {"sslmode": "require"}
    assert config["TEST"] == {"NAME": "t1"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("redis://:secret@valkey:6379/3", "redis://:secret@valkey:6379/3"),
        ("unix:///data/s/valkey.sock", "redis+socket:///data/s/valkey.sock?virtual_host=0"),
        ("unix:///data/s/valkey.sock?db=7", "redis+socket:///data/s/valkey.sock?virtual_host=7"),
    ],
)
def test_celery_gets_its_own_spelling_of_a_socket(given: str, expected: str) -> None:
    assert broker_url(given) == expected
