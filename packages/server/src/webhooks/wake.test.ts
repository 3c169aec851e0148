import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transactor } from "../core/transactor.ts";
import { wakingTransactor } from "./wake.ts";
import { systemCall } from "../core/system-call.ts";

test("what was written wakes, once it is; what failed does not, nor what the queue itself writes", async () => {
  const data = systemCall(0);
  const awakened: string[] = [];
  let isFailing = false;
  let name = "";
  const writer: Transactor = {
    read: () => Promise.reject(new Error("nobody reads")),
    // Whatever the command: what it answers is not looked at.
    write: () => (isFailing ? Promise.reject(new Error("no")) : (Promise.resolve() as never)),
  };
  const transactor = wakingTransactor(writer, () => void awakened.push(name));
  for (name of [
    "method",
    "distribution.putManifest",
    "events.notePulls",
    "events.claim",
    "events.record",
    "events.sequence",
    "events.expire",
    "leases.take",
  ]) {
    // Nothing runs: the name alone counts.
    await transactor.write(name as "events.releaseAll", data, {});
  }
  isFailing = true;
  name = "method that failed";
  await assert.rejects(transactor.write("events.releaseAll", data, {}));
  assert.deepEqual(awakened, ["method", "distribution.putManifest", "events.notePulls"]);
});
