// The memory of a server that has started. Loading the code fills 32 MiB with young objects, which V8 would keep.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LAUNCHER, startServing, temporaryFolder } from "./commands.ts";

const MOST_BYTES = 8 * 2 ** 20;

for (const workers of [1, 2])
  test(`a server with workers = ${workers} has given back the memory of its start when it answers`, async (t) => {
    const args = [LAUNCHER, "serve", "--port", "0", "--workers", String(workers)];
    const { url } = await startServing(t, process.execPath, args, { cwd: temporaryFolder(t) });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const found = /^nodejs_heap_space_size_total_bytes\{.*space="new".*\} (\d+)$/m.exec(metrics);
    assert.ok(found !== null, metrics);
    // Of workers it is the sum.
    assert.ok(Number(found[1]) <= MOST_BYTES * workers, found[0]);
  });
