"""Runs at an address are what they are here, byte by byte, wherever a command runs."""

import pytest
from pyarrow.fs import FileSelector, FileType, S3FileSystem

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
    use(address, monkeypatch, tmp_path)
    return found


def use(address, monkeypatch, tmp_path):
    """Have commands find their bucket at a server of ours."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-word")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv(COPIES, str(tmp_path / "copies"))


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


@pytest.fixture(params=["ours", "moto"])
def objects(request, monkeypatch, tmp_path):
    """All objects of an empty bucket, whenever asked; moto is a larger server, if it is there."""
    if request.param == "ours":
        with s3_server() as (_, address):
            use(address, monkeypatch, tmp_path)
            yield lambda: everything(address)
        return
    from_pypi = pytest.importorskip("moto.server", reason="pip install 'moto[server]'")
    server = from_pypi.ThreadedMotoServer(port=0)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    use(address, monkeypatch, tmp_path)
    bucket_at(address).create_dir("bucket")
    yield lambda: everything(address)
    server.stop()


def bucket_at(address):
    scheme, _, host = address.partition("://")
    return S3FileSystem(scheme=scheme, endpoint_override=host, allow_bucket_creation=True)


def everything(address):
    bucket = bucket_at(address)
    found = bucket.get_file_info(FileSelector("bucket", recursive=True))
    return {
        one.path.removeprefix("bucket/"): bucket.open_input_stream(one.path).read()
        for one in found
        if one.type == FileType.File
    }


@pytest.mark.slow
def test_a_run_in_a_bucket_equals_one_here_though_every_command_runs_elsewhere(
    objects, tmp_path, monkeypatch
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
    sent = objects()
    assert {f"run/{name}" for name in contents(copy.folder)} <= sent.keys()
    assert not any(b"hidden-word" in content for content in sent.values())
    done = understudy("check s3://bucket/run")
    assert done.code == 0, done.out
