"""As much of S3 as a client needs that lists, reads, writes and deletes objects of one bucket."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_TIME = "2026-01-01T00:00:{:02d}.000Z"


class Store:
    """Objects by key, and when each was written."""

    def __init__(self):
        self.objects, self.times, self.parts = {}, {}, {}
        self.refused = 0
        """So many requests are answered with 503 from now on."""

    def put(self, key, content):
        self.objects[key] = content
        self.times[key] = self.times.get(key, -1) + 1

    def listing(self, query):
        prefix = query.get("prefix", [""])[0]
        delimiter = query.get("delimiter", [""])[0]
        told, folders = [], set()
        for key in sorted(k for k in self.objects if k.startswith(prefix)):
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.split(delimiter)[0] + delimiter)
                continue
            size, when = len(self.objects[key]), _TIME.format(self.times[key] % 60)
            told.append(
                f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size>"
                f"<LastModified>{when}</LastModified><ETag>&quot;{size}&quot;</ETag></Contents>"
            )
        told += [f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>" for f in folders]
        many = len(told)
        return (
            f"<ListBucketResult><Name>bucket</Name><Prefix>{escape(prefix)}</Prefix>"
            f"<KeyCount>{many}</KeyCount><MaxKeys>100000</MaxKeys>"
            f"<IsTruncated>false</IsTruncated>{''.join(told)}</ListBucketResult>"
        )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        length = headers.pop("length", len(body))
        for name, value in {"ETag": '"x"', **headers, "Content-Length": length}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def asked(self):
        url = urlsplit(self.path)
        _bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        if self.server.store.refused:
            self.server.store.refused -= 1
            self.body()
            self.answer(403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
            return None
        return key, parse_qs(url.query, keep_blank_values=True)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "aws-chunked" in self.headers.get("Content-Encoding", "") or self.headers.get(
            "x-amz-content-sha256", ""
        ).startswith("STREAMING"):
            content = unchunked(content)
        return content

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        if (told := self.asked()) is None:
            return
        key, query = told
        if not key:
            self.answer(
                200, self.server.store.listing(query).encode(), Content_Type="application/xml"
            )
        elif key in self.server.store.objects:
            content, first = self.server.store.objects[key], 0
            if spec := self.headers.get("Range", "").removeprefix("bytes="):
                first, last = spec.split("-")
                first = int(first)
                part = content[first : int(last) + 1]
                place = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
                self.answer(206, part, Content_Range=place)
            else:
                when = "Thu, 01 Jan 2026 00:00:00 GMT"
                self.answer(200, content, Last_Modified=when)
        else:
            error = b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>"
            self.answer(404, error, Content_Type="application/xml")

    def do_PUT(self):
        if (told := self.asked()) is None:
            return
        key, query = told
        content = self.body()
        if "partNumber" in query:
            parts = self.server.store.parts.setdefault(query["uploadId"][0], {})
            parts[int(query["partNumber"][0])] = content
        elif key:
            self.server.store.put(key, content)
        self.answer(200)

    def do_POST(self):
        if (told := self.asked()) is None:
            return
        key, query = told
        self.body()
        if "uploads" in query:
            name = f"u{len(self.server.store.parts)}"
            self.server.store.parts[name] = {}
            root = "InitiateMultipartUploadResult"
            text = f"<{root}><Key>{escape(key)}</Key><UploadId>{name}</UploadId></{root}>"
        else:
            parts = self.server.store.parts.pop(query["uploadId"][0])
            self.server.store.put(key, b"".join(parts[number] for number in sorted(parts)))
            root = "CompleteMultipartUploadResult"
            text = f"<{root}><Key>{escape(key)}</Key><ETag>x</ETag></{root}>"
        self.answer(200, text.encode(), Content_Type="application/xml")

    def do_DELETE(self):
        if (told := self.asked()) is None:
            return
        self.server.store.objects.pop(told[0], None)
        self.answer(204)

    def log_message(self, *told):
        pass


def unchunked(content):
    found = b""
    while content:
        head, _, content = content.partition(b"\r\n")
        size = int(head.split(b";")[0], 16)
        if not size:
            return found
        found, content = found + content[:size], content[size + 2 :]
    return found


@contextlib.contextmanager
def s3_server():
    """A store and its address."""
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.store = store
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield store, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
