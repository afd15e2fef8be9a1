"""Lessons that other processes can import."""


def fail(lesson):
    raise OSError("ouch")
