"""Where the numbers of a match stand: rows of a block, of which each lane is one match.

`me`, `enemy` and `shot` are offsets: row `me + HEALTH` of a block is the health of one player.
"""

from understudy.games.arena.sim import rules as r

# Entries of a body, the first 14 as in state.VIEW. Aim and dash direction are unit vectors; SEEN is
# where the enemy was last seen; FIRE_COOLDOWN to DASH count down by themselves.
X, Y, VX, VY, AIM_X, AIM_Y, HEALTH, MAGAZINE, RESERVE, HOLD, RELOAD = range(11)
FIRE_COOLDOWN, DASH_COOLDOWN, SHIELD_COOLDOWN, SHIELD, DASH = range(11, 16)
DASH_X, DASH_Y, SEEN_X, SEEN_Y, SEEN_VX, SEEN_VY, AGE, IN_REACH, BODY = range(16, 25)
# Entries of a shot. LIFE counts down; 0 means there is none.
SHOT_X, SHOT_Y, SHOT_VX, SHOT_VY, LIFE, SHOT = range(6)
# A match: two bodies, the shots of each, steps until each station is ready (-1: just used), cover
# (centre x of each box, centre y, half width, half height).
SHOTS = 2 * BODY
STATIONS = SHOTS + 2 * r.MAX_SHOTS * SHOT
COVER = STATIONS + len(r.STATIONS)
# What both players carry, a number from 1 on in the variant with loadouts and 0 otherwise; and what
# each knows of the other's, 0 until it has been in sight.
LOADOUT = COVER + 4 * r.NUM_COVER
KNOWN = LOADOUT + 2
ROW = KNOWN + 2
# Entries of a match's clock. EVENTS are two, one per player, as bits of rules.EVENTS.
SEED, STEP, LAYOUT, STATUS, EVENTS, CLOCK = 0, 1, 2, 3, 4, 6
# What a step passes from rule to rule; two each, one per player. HITS are those a player landed,
# WAS where it stood when the step began, RELOADS whether `interact` may reload.
RELOADS, HAPPENED, HITS, WAS_X, WAS_Y, NOTES = range(0, 12, 2)
