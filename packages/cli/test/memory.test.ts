// The memory of a server with nothing to do. Loading the code fills 32 MiB with young objects, which V8 would keep.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "../../server/test/support/eventually.ts";
import { LAUNCHER, startServing, temporaryFolder } from "./commands.ts";

const MOST_BYTES = 8 * 2 ** 20;

for (const workers of [1, 2])
  test(`a server with workers = ${workers} gives back the memory of its start once it is idle`, async (t) => {
    const args = [LAUNCHER, "serve", "--port", "0", "--workers", String(workers)];
    const { url } = await startServing(t, process.execPath, args, { cwd: temporaryFolder(t) });
    await eventually(async () => {
      // A server that is asked all the time is not idle.
      await wait(1_000);
      // Of workers it is the sum.
      return (await youngBytes(url)) <= MOST_BYTES * workers;
    });
  });

/** The memory that a server keeps for young objects, in bytes. */
async function youngBytes(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const found = /^nodejs_heap_space_size_total_bytes\{.*space="new".*\} (\d+)$/m.exec(metrics);
  assert.ok(found !== null, metrics);
  return Number(found[1]);
}
