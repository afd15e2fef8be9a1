"""HRL-XF learns by play in compiled worlds: rollouts, returns, PPO and V-trace, in stages."""
