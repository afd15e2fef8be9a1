import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.samples import admitting, decisions, pack_legal, unpack_legal


@settings(max_examples=100, deadline=None)
@given(rows=st.integers(0, 20), options=st.integers(1, 70), seed=st.integers(0, 1_000))
def test_what_is_packed_comes_back(rows, options, seed):
    legal = np.random.default_rng(seed).random((rows, options)) < 0.5
    packed = pack_legal(legal)
    assert packed.type == pa.binary(-(-options // 8))
    assert np.array_equal(unpack_legal(packed, options), legal)


@settings(max_examples=50, deadline=None)
@given(start=st.integers(0, 9), length=st.integers(0, 9), seed=st.integers(0, 1_000))
def test_slices_and_chunks_come_back_too(start, length, seed):
    legal = np.random.default_rng(seed).random((18, 11)) < 0.5
    chunks = pa.chunked_array([pack_legal(legal[:7]), pack_legal(legal[7:])])
    found = unpack_legal(chunks.slice(start, length), 11)
    assert np.array_equal(found, legal[start : start + length])
    part = pack_legal(legal).slice(start, length)
    assert np.array_equal(unpack_legal(part, 11), legal[start : start + length])


def test_a_bit_is_where_it_is_said_to_be():
    legal = np.zeros((1, 10), bool)
    legal[0, [0, 9]] = True
    assert pack_legal(legal)[0].as_py() == b"\x01\x02"


def test_decisions_declare_features_heads_and_the_width_of_legal():
    found = decisions("arena", "moves", 3, {"near": "is near"}, {"move": 9, "fire": 2})
    types = {column.name: column.type for column in found.table.columns}
    assert (types["near"], types["move"]) == (pa.float32(), pa.int16())
    assert types["legal"] == pa.binary(2)
    assert found.options == 11
    assert found.features == ("near",)
    meanings = {column.name: column.meaning for column in found.table.columns}
    assert meanings["fire"] == "option chosen of 2"
    assert [column.name for column in found.table.columns if column.optional] == ["extras"]


def test_packed_rows_fit_the_declared_column():
    found = decisions("arena", "moves", 3, {}, {"move": 9})
    packed = pack_legal(np.ones((2, 9), bool))
    assert packed.type == {c.name: c.type for c in found.table.columns}["legal"]
    with pytest.raises(ValueError, match="do not match"):
        found.table.build({"legal": packed})


def test_what_was_done_is_admitted_and_counted():
    table = decisions("arena", "moves", 1, {"near": "is near"}, {"move": 3, "fire": 2})
    legal = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 0], [0, 1, 0, 0, 1]], bool)
    admitted, forbidden = admitting(table, legal, np.array([[2, 0], [1, 1], [1, 0]]))
    assert forbidden.tolist() == [0, 2, 1]
    expected = [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]]
    assert admitted.astype(int).tolist() == expected
    assert not legal[1, 1]  # what was given stays as it was
