"""Keeps a table of a creator's tips. Each event changes it once, whatever stops this program and when."""

import os
import sqlite3

from tipping import Client

SCHEMA = """
create table if not exists cursor (sequence integer not null);
create table if not exists tips (
  id text primary key, reference text, sender text not null, usd real not null, refunded real not null,
  status text not null
);
insert into cursor select 0 where not exists (select * from cursor);
"""


def store_tip(database: sqlite3.Connection, tip: dict) -> None:
    database.execute(
        "insert or replace into tips values (?, ?, ?, ?, ?, ?)",
        (
            tip["signature"],
            tip.get("reference"),
            tip["sender"],
            tip["valueUsd"],
            tip.get("refundedAmount", 0),
            tip["status"],
        ),
    )


def main() -> None:
    client = Client(os.environ.get("TIPPING_URL", "http://localhost:3000"), os.environ["API_KEY"])
    database = sqlite3.connect(os.environ.get("DATABASE", "tips.db"))
    database.executescript(SCHEMA)
    (after,) = database.execute("select sequence from cursor").fetchone()
    print(f"reading the events after {after}", flush=True)
    for event in client.events(after=after):
        # The change and the cursor are one commit.
        with database:
            if event["type"].startswith("tip."):
                store_tip(database, event["data"])
            database.execute("update cursor set sequence = ?", (event["sequence"],))
        print(event["sequence"], event["type"], flush=True)


if __name__ == "__main__":
    main()
