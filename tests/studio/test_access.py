"""Who is let in, and what a page may do."""

import socket

import pytest

from tests.studio.serving import served
from tests.studio.small_run import small_run


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    small_run(folder / "a")
    with served(folder) as found:
        yield found


ADDRESSES = ("/", "/run/a/", "/runs/list", "/events/a", "/assets/x.js", "/run/a/report.html")


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("cookie", [None, "", "understudy=x", "=;=", "understudy-{}=wrong"])
def test_nobody_comes_in_without_the_cookie(here, path, cookie):
    told = cookie and cookie.format(here.port)
    answer = here.ask(path, headers={"Cookie": told, "Origin": None})
    assert answer.status == 403
    assert "Open the link" in answer.text
    assert here.access.token not in answer.text


def test_the_token_gives_a_cookie_and_is_taken_out_of_the_address(here):
    path = f"/run/a/?x=1&token={here.access.token}"
    answer = here.ask(path, headers={"Cookie": None, "Origin": None})
    assert (answer.status, answer.headers["location"]) == (303, "/run/a/?x=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert here.access.token not in cookie
    kept = cookie.partition(";")[0]
    assert here.ask("/run/a/", headers={"Cookie": kept, "Origin": None}).status == 200


@pytest.mark.parametrize(
    "query", ["token=", "token=x", "token={0}&token={0}", "tokens={0}", "token={0}x", "token=%FF"]
)
def test_a_wrong_token_gives_none(here, query):
    path = f"/?{query.format(here.access.token)}"
    answer = here.ask(path, headers={"Cookie": None, "Origin": None})
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_token_leads_nowhere_else(here):
    path = f"//evil.example/?token={here.access.token}"
    answer = here.ask(path, headers={"Cookie": None, "Origin": None})
    assert answer.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost"])
def test_a_name_that_is_not_ours_is_not_answered(here, host):
    """DNS that leads to 127.0.0.1 makes a browser send our cookie to its own name: refused."""
    assert here.ask("/", headers={"Host": host, "Origin": None}).status == 421
    assert here.ask("/", headers={"Host": f"localhost:{here.port}", "Origin": None}).status == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1"])
def test_only_our_own_pages_change_something(here, origin):
    told = {"tags": "x", "note": "y"}
    answer = here.ask("/run/a/notes", "POST", told, {"Origin": origin})
    assert answer.status == 403
    assert not here.studio.catalogue["a"].run.notes.exists()
    if origin is not None:
        assert here.ask("/", headers={"Origin": origin}).status == 403


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW"])
def test_other_methods_do_nothing(here, method):
    assert here.ask("/run/a/", method).status in (400, 404, 405)
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = here.ask("/run/a/notes", "OPTIONS", headers=preflight)
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("path", ["/", "/run/a/", "/nowhere", "/run/none/", "/runs/list"])
def test_every_page_allows_only_our_own_scripts(here, path):
    answer = here.ask(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("/run/../", "/run/..%2f..%2fetc%2fpasswd/", "/run/%2e%2e/", "/run/a/../../etc/passwd"),
        *("/run/a/..%2f..%2fsecret.html", "/run/a/%2fetc%2fpasswd", "/run/a%00/", "/run/%FF/"),
        *("/run/a/part?key=../../etc", "/run/a/part?key=models/../../x", "/run/a/part?key="),
        *("/assets/..%2f..%2fapp.py", "/assets/", "/run/" + "a" * 5000 + "/"),
    ],
)
def test_no_path_leaves_the_runs(here, path):
    secret = here.studio.catalogue.home / "secret.html"
    secret.write_text("root:x")
    (here.studio.catalogue.home.parent / "secret.html").write_text("root:x")
    answer = here.ask(path)
    assert answer.status in (400, 404, 405)
    assert "root:x" not in answer.text


def test_a_page_in_a_run_may_nothing_but_be_seen(here):
    """Somebody else may have written it."""
    page = here.studio.catalogue["a"].run.report
    page.write_text("<script>fetch('/jobs')</script>")
    answer = here.ask("/run/a/report.html")
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy


def test_a_body_that_is_too_long_is_refused(here):
    assert here.ask("/run/a/notes", "POST", "x=" + "y" * 300_000).status == 422
    headers = {"Content-Length": str(10**9)}
    assert here.ask("/run/a/notes", "POST", headers=headers).status == 413
    assert here.ask("/").status == 200


@pytest.mark.parametrize(
    "sent",
    [
        *(b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /" + b"a" * 70_000, b"\r\n" * 50),
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\n",
    ],
)
def test_what_is_no_request_ends_that_connection_only(here, sent):
    with socket.create_connection(("127.0.0.1", here.port), timeout=15) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        assert b" 200 " not in raw.recv(1000)[:20]
    assert here.ask("/").status == 200
