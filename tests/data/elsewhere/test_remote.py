"""Runs at an address are what they are here, byte by byte, wherever a command runs."""

import pytest

from tests.s3_server import s3_server
from tests.small_runs import assert_refused, contents, tiny_recipe, understudy
from understudy.data.elsewhere.remote import COPIES, Copy, copied
from understudy.errors import InputError


@pytest.fixture(scope="module")
def server():
    with s3_server() as found:
        yield found


@pytest.fixture
def store(server, monkeypatch, tmp_path):
    found, address = server
    found.objects.clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-word")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv(COPIES, str(tmp_path / "copies"))
    return found


def test_what_changes_here_is_sent_and_what_changes_there_is_fetched(store, tmp_path, monkeypatch):
    with copied(["report", "s3://bucket/a/run"]) as (verb, folder):
        assert verb == "report" and folder.startswith(str(tmp_path / "copies"))
        copy = Copy("s3://bucket/a/run")
        (copy.folder / "sub").mkdir(parents=True)
        (copy.folder / "sub" / "one").write_text("1")
        (copy.folder / "two").write_text("2")
        (copy.folder / "half.12.part").write_text("no")
    assert store.objects == {"a/run/sub/one": b"1", "a/run/two": b"2"}
    monkeypatch.setenv(COPIES, str(tmp_path / "elsewhere"))
    other = Copy("s3://bucket/a/run")
    other.fetch()
    assert (other.folder / "sub" / "one").read_text() == "1"
    (other.folder / "two").write_text("22")
    (other.folder / "sub" / "one").unlink()
    assert (other.send(), other.send()) == (1, 0)
    assert {key: store.objects[key] for key in store.objects if key[-1] != "/"} == {
        "a/run/two": b"22"
    }
    copy = Copy("s3://bucket/a/run")
    monkeypatch.setenv(COPIES, str(tmp_path / "copies"))
    copy = Copy("s3://bucket/a/run")
    (copy.folder / "two").write_text("mine")
    with pytest.raises(InputError, match="two has changed both at s3://bucket/a/run and"):
        copy.fetch()
    (copy.folder / "two").write_text("2")
    copy.fetch()
    assert (copy.folder / "two").read_text() == "22"
    assert not (copy.folder / "sub" / "one").exists()


def test_a_store_that_lets_nobody_in_is_one_line(store):
    store.refused = 100
    done = understudy("report s3://bucket/run")
    store.refused = 0
    assert_refused(done, "s3://bucket/run cannot be read", "AWS_ACCESS_KEY_ID")


STAGES = (
    "record arena --opponents rusher,kiter --matches 40 --seed 9 --quiet --workers {}",
    "encode arena --quiet --workers {}",
    "train arena imitate-quick --seed 9 --quiet",
    "compete arena imitate-quick expert --matches 6 --quiet --workers {}",
)


@pytest.mark.slow
def test_a_run_in_a_bucket_equals_one_here_though_every_command_runs_elsewhere(
    store, tmp_path, monkeypatch
):
    """On a cluster that shares nothing with us, from a new machine each time."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        tiny_recipe(),
    ):
        for number, command in enumerate(STAGES):
            assert understudy(command.format(0), "--out", tmp_path / "here").code == 0
            monkeypatch.setenv(COPIES, str(tmp_path / f"machine{number}"))
            done = understudy(command.format(cluster.scheduler_address), "--out", "s3://bucket/run")
            assert done.code == 0, done.err
            assert "files sent to s3://bucket/run" in done.err
    copy = Copy("s3://bucket/run")
    assert contents(copy.folder) == contents(tmp_path / "here")
    sent = {name: content for name, content in store.objects.items() if name[-1] != "/"}
    assert {f"run/{name}" for name in contents(copy.folder)} <= sent.keys()
    assert not any(b"hidden-word" in content for content in sent.values())
    done = understudy("check s3://bucket/run")
    assert done.code == 0, done.out
