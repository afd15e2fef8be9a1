"""Tracker files of worlds that our engine played: what that tracker would have written of them."""

import hashlib
import json

LETTERS = {"Penguin": "Pe", "AS0": "AS", "SyncRandom": "SRS", "Greedy": "GST"}
PATHS = {
    "Penguin": "scml_agents.scml2024.standard.team_penguin.penguinagent.PenguinAgent",
    "AS0": "scml_agents.scml2025.standard.team_atsunaga.as0.AS0",
    "SyncRandom": "scml.std.agents.rand.SyncRandomStdAgent",
}
TERMS = ("quantity", "day", "price")


def write(recordings, folder, late=False):
    """A file for each factory of a player in PATHS; those are the tracked ones."""
    rows = {name: table.to_pylist() for name, table in recordings.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for number, world in enumerate(rows["worlds"]):
        own = {
            name: [r for r in some if r["match"] == world["match"]] for name, some in rows.items()
        }
        for factory, player in enumerate(world["players"]):
            if player in PATHS:
                _File(world, own, factory, f"{number:04d}conf{world['seed']}_P.0/x", late).write(
                    folder
                )


class _File:
    def __init__(self, world, rows, factory, name, late):
        self.world, self.rows, self.factory, self.world_id, self.late = (
            world,
            rows,
            factory,
            name,
            late,
        )
        self.ids = [
            f"{k:02d}{LETTERS[player]}@{level}"
            for k, (player, level) in enumerate(zip(world["players"], world["levels"], strict=True))
        ]
        self.entries, self.day = [], 0
        self.contracts = [
            row for row in rows["contracts"] if factory in (row["seller"], row["buyer"])
        ]
        self.signed = 0

    def log(self, category, event, moment=0, **data):
        stamp = f"2025-12-29T{self.day:04d}.{moment:06d}"
        head = {"timestamp": stamp, "day": self.day, "category": category, "event": event}
        self.entries.append(head | {"data": data})

    def write(self, folder):
        player = self.world["players"][self.factory]
        level = self.world["levels"][self.factory]
        self.log("custom", "agent_initialized", n_steps=self.world["steps"], n_lines=10,
                 level=level, agent_type_base_full=PATHS[player])  # fmt: skip
        for day in (row for row in self.rows["days"] if row["factory"] == self.factory):
            self.day = day["day"]
            if not self.late:
                self._status(day)
            self._negotiate()
            if self.late:
                self._status(day)
        code = hashlib.sha1(self.world_id.encode()).hexdigest()
        agent = f"{self.ids[self.factory]}#W{code[:8]}"
        log = {"agent_id": agent, "agent_type": PATHS[player].split(".")[-1],
               "world_id": self.world_id, "stats": {}, "entries": self.entries}  # fmt: skip
        shown = agent.replace("@", "_at_")
        text = json.dumps(log, indent=2)
        (folder / f"agent_{shown}_world_w_{code[:12]}.json").write_text(text)

    def _status(self, day):
        prices, level = self._prices(), self.world["levels"][self.factory]
        due = [row for row in self.contracts if row["concluded"] < self.day + self.late]
        count = min(41, self.world["steps"] - self.day + 1)

        def units(side):
            return [
                float(sum(row["quantity"] for row in due
                          if row[side] == self.factory and row["day"] == self.day + k))
                for k in range(count)
            ]  # fmt: skip

        initial = self.world["balances"][self.factory]
        self.log("custom", "daily_status", balance=day["balance"], initial_balance=float(initial),
                 exo_input_qty=day["supply_quantity"], exo_input_price=day["supply_price"],
                 exo_output_qty=day["sale_quantity"], exo_output_price=day["sale_price"],
                 disposal_cost=day["disposal_cost"], storage_cost=day["storage_cost"],
                 shortfall_penalty=day["shortfall_penalty"], n_lines=10,
                 n_steps=self.world["steps"], trading_prices=prices, inventory_input=day["stock"],
                 my_input_product=level, commitments={"Q_in": units("buyer"),
                                                      "Q_out": units("seller")})  # fmt: skip

    def _prices(self):
        """Of every product today, as far as any factory knows it."""
        found = {}
        for row in self.rows["days"]:
            if row["day"] == self.day:
                level = self.world["levels"][row["factory"]]
                found |= {level: row["price_in"], level + 1: row["price_out"]}
        return [found[product] for product in sorted(found)]

    def _negotiate(self):
        today = [row for row in self.rows["decisions"]
                 if row["factory"] == self.factory and row["day"] == self.day]  # fmt: skip
        for moment in sorted({row["moment"] for row in today}):
            call = [row for row in today if row["moment"] == moment]
            self._sign_until(call[0]["contracts"])
            if call[0]["call"] == "first_proposals":
                for row in call:
                    self._tell(row, "offer_made", moment, _terms(row, "offered"))
                    self._act(row, moment, "first_proposal")
                continue
            call = [row for row in call if row["heard_quantity"] is not None and row["answer"]]
            for row in call:
                self._tell(row, "offer_received", moment, _terms(row, "heard"))
            for row in call:
                reason = "omit_in_counter_all" if row["omitted"] else "counter_all"
                self._act(row, moment, reason)
        self._sign_until(sum(row["concluded"] <= self.day for row in self.contracts))

    def _sign_until(self, count):
        for row in self.contracts[self.signed : count]:
            buys = row["buyer"] == self.factory
            other = self.ids[row["seller" if buys else "buyer"]]
            key = f"{self.world_id} {row['number']}"
            self.log("contract", "signed", row["number"], contract_id=key, partner=other,
                     quantity=row["quantity"], price=row["unit_price"],
                     delivery_day=row["day"], role="buyer" if buys else "seller")  # fmt: skip
        self.signed = max(self.signed, count)

    def _tell(self, row, event, moment, offer):
        name = self.ids[row["partner"]]
        told = None if offer is None else offer | {"round": row["round"]}
        self.log("negotiation", event, moment, partner=name, offer=told, mechanism_id="m")

    def _act(self, row, moment, reason):
        operation, response = {
            None: ("REJECT", "REJECT_OFFER"),
            "accept": ("ACCEPT", "ACCEPT_OFFER"),
            "reject": ("REJECT", "REJECT_OFFER"),
            "end": ("END", "END_NEGOTIATION"),
        }[row["answer"]]
        offer = _terms(row, "heard" if operation == "ACCEPT" else "offered")
        if row["answer"] == "reject" and offer is None:
            operation = "END"
        self.log("custom", "aop_action", moment, partner=self.ids[row["partner"]],
                 mechanism_id="m", round=row["round"], action_op=operation,
                 response_type=response, offer=offer, reason=reason)  # fmt: skip


def _terms(row, prefix):
    if row[f"{prefix}_quantity"] is None:
        return None
    quantity, day, price = (row[f"{prefix}_{part}"] for part in TERMS)
    return {"quantity": quantity, "delivery_day": day, "unit_price": float(price)}
