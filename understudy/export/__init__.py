"""What was trained, as files that other programs use without this one.

submission   an agent of the supply chain as the league takes it: scml and numpy are enough
policy       a policy of any game of two, as ONNX or TorchScript, and what its host must know
value_model  Dota's value model as JSON, with its features and a scorer in numpy
"""
