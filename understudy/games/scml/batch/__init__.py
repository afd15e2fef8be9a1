"""Many worlds side by side without Python in them: scripted players compiled, learners asked.

A world is two records (`state.py`): what is fixed before it starts and what changes. Everything
mirrors the hosting engine to the last bit; `understudy verify scml --against batch` compares them.
"""
