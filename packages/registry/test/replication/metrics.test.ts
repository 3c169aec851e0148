// What operators see of replications: attempts, bytes, what is not done, and for how long it has waited.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startReplicas } from "../../../server/test/support/replication.ts";

test("attempts are counted by how they ended, bytes that were sent, and tags that are not done", async (t) => {
  const { here, there, front, rule, items, settled } = await startReplicas(t);
  const read = async (): Promise<Map<string, number>> => {
    const { text } = await here.ask("GET", "/metrics");
    const lines = text.split("\n").filter((line) => line.startsWith("moorage_replication_"));
    return new Map(lines.map((line) => [line.slice(20, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
  };
  const begin = await read();
  for (const outcome of ["done", "outdated", "blocked", "failed", "released"])
    assert.equal(begin.get(`attempts_total{outcome="${outcome}"}`), 0, outcome);
  assert.equal(begin.get("late_seconds"), 0);
  await there.pushImage("acme/copy/app", "1", "theirs");
  await here.pushImage("acme/app", "1", "ours");
  await here.pushImage("acme/app", "2", "two");
  await here.pushImage("acme/bad", "1", "bad");
  front.intercept = (req, res) => {
    if (!(req.url ?? "").startsWith("/v2/acme/copy/bad/")) return false;
    res.writeHead(500).end();
    return true;
  };
  const { uid } = await rule();
  await eventually(async () => {
    const found = await items(uid);
    const isOver = ({ state, message }: { state: string; message: string }): boolean =>
      state === "REPLICATION_ITEM_STATE_DONE" || message !== "";
    return found.length === 3 && found.every(isOver);
  });
  // What is read from the database keeps its values where that takes too long.
  const now = await eventually(async () => {
    const found = await read();
    // The one that fails waits, or is attempted again.
    const open = (found.get('items{state="pending"}') ?? 0) + (found.get('items{state="running"}') ?? 0);
    return found.get('items{state="blocked"}') === 1 && open === 1 && (found.get("late_seconds") ?? 0) > 0 && found;
  });
  assert.equal(now.get('items{state="failed"}'), 0);
  // An attempt is counted after its end is written.
  for (const outcome of ["done", "blocked", "failed"])
    await eventually(async () => ((await read()).get(`attempts_total{outcome="${outcome}"}`) ?? 0) > 0);
  assert.ok((now.get("sent_bytes_total") ?? 0) >= "layer two".length);
  front.intercept = () => false;
  await here.api("PATCH", `/registry/v2/replications/${uid}`, { onConflict: "REPLICATION_CONFLICT_OVERWRITE" });
  await here.api("POST", `/registry/v2/replications/${uid}:run`, {});
  await settled(uid);
  await eventually(async () => {
    const found = await read();
    const open = ["pending", "running", "failed", "blocked", "stopped"].map((state) =>
      found.get(`items{state="${state}"}`),
    );
    return open.every((count) => count === 0) && found.get("late_seconds") === 0;
  });
});
