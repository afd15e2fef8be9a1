"""Jobs that other processes can import."""


def fail(job):
    raise OSError("ouch")
