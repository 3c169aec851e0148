import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transactor } from "../core/transactor.ts";
import { wakingTransactor } from "./wake.ts";
import { systemCall } from "../core/system-call.ts";
import {
  claimDeliveries,
  expireEvents,
  notePulls,
  recordOutcomes,
  releaseLeases,
  sequenceEvents,
} from "../events/index.ts";
import { takeLease } from "../jobs/leases.ts";
import { putManifest } from "../oci/manifests/commands.ts";
import { callMethod } from "../runtime/commands.ts";
import type { Command } from "../core/command.ts";

test("a command wakes the dispatcher after its commit; failed commands and those of the queue itself do not", async () => {
  const data = systemCall(0);
  const awakened: string[] = [];
  let isFailing = false;
  let name = "";
  const writer: Transactor = {
    read: () => Promise.reject(new Error("not used here")),
    // The result of the command is not looked at.
    write: () => (isFailing ? Promise.reject(new Error("no")) : (Promise.resolve() as never)),
  };
  const transactor = wakingTransactor(writer, () => void awakened.push(name));
  for (const command of [
    callMethod,
    putManifest,
    notePulls,
    claimDeliveries,
    recordOutcomes,
    sequenceEvents,
    expireEvents,
    takeLease,
  ]) {
    ({ name } = command);
    // The command does not run, so any input will do.
    await transactor.write(command as Command<unknown, unknown>, data, {});
  }
  isFailing = true;
  name = "one that failed";
  await assert.rejects(transactor.write(releaseLeases, data, {}));
  assert.deepEqual(
    awakened,
    [callMethod, putManifest, notePulls].map((command) => command.name),
  );
});
