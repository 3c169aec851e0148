import assert from "node:assert/strict";
import { existsSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newDataDir, startDiskServer } from "../support/disk-server.ts";

test(
  "a disk reserve that cannot be written is reported and attempted again, and writes go on",
  { timeout: 300_000 },
  async (t) => {
    const dataDir = newDataDir(t);
    const reserve = join(dataDir, "disk-reserve");
    symlinkSync("/nonexistent/x", reserve);
    const server = await startDiskServer(t, dataDir, { MOORAGE_DISK_RESERVE: String(1 << 20) });
    const shown = await server.until(server.ready, ({ text }) => text.includes("disk reserve"));
    assert.equal(shown.status, 200, shown.text);
    assert.match(shown.text, /^ready, but the disk reserve cannot be kept: ENOENT/);
    for (const name of ["one", "two", "three"]) assert.equal((await server.write(name)).status, 200);
    await server.logged(({ msg }) => msg.startsWith("the disk reserve cannot be kept"));
    assert.ok(((await server.metric("moorage_disk_reserve_failures_total")) ?? 0) > 0);
    unlinkSync(reserve);
    await server.until(server.ready, ({ text }) => text === "ready");
    assert.ok(existsSync(reserve), "the reserve is written once it can be");
    assert.equal(await server.stop(), 0);
  },
);

test(
  "a writer thread that dies is noticed and started again, and every write is answered",
  { timeout: 300_000 },
  async (t) => {
    const server = await startDiskServer(t, newDataDir(t));
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await server.write(`before-${round}`)).status, 200);
      const underWay = Array.from({ length: 20 }, (_, at) => server.write(`under-way-${round}-${at}`));
      process.kill(server.pid, "SIGUSR2");
      for (const { status, text, retryAfter } of await Promise.all(underWay)) {
        assert.ok(status === 200 || status === 503, `${status}: ${text}`);
        if (status === 503) assert.notEqual(retryAfter, null);
      }
      const died = server.lines.filter(({ msg }) => msg === "the writer thread died");
      assert.ok(died.length <= round + 1);
      await server.until(
        () => server.write(`after-${round}`),
        ({ status }) => status === 200,
      );
      await server.until(server.ready, ({ status }) => status === 200);
    }
    assert.equal((await server.healthy()).status, 200);
    assert.equal(await server.metric("moorage_writer_thread_deaths_total"), 3);
    assert.equal(await server.stop(), 0);
  },
);
