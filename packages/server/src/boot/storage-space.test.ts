import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { eventually } from "../../test/support/eventually.ts";
import { createStorageSpace } from "./storage-space.ts";

type Line = Record<string, unknown> & { level: number; msg: string };

/** A log whose lines are kept. */
function keptLog() {
  const lines: Line[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const of = (level: number): Line[] => lines.filter((line) => line.level === level);
  return { log, of };
}

const LIMIT = { timeout: 300_000 };

test("while a part is full an error is logged again and again, and one line when it ends", LIMIT, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "moorage-space-"));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
  const { log, of } = keptLog();
  const changes: boolean[] = [];
  const space = createStorageSpace(log, { everyMs: 10, onFull: (isFull) => changes.push(isFull) });
  t.after(() => space.close());
  space.places({ database: folder, blobs: folder, disk: [folder], hasReserve: true });
  assert.equal(space.refused(), undefined);

  space.began("blobs", "ENOSPC: no space left on device");
  for (let times = 0; times < 100; times += 1) space.began("blobs", undefined);
  await eventually(() => of(50).length >= 3);
  const [line] = of(50);
  assert.equal(line?.["folder"], folder);
  assert.equal(typeof line["freeBytes"], "number");
  assert.equal(line["detail"], "ENOSPC: no space left on device");
  assert.match(line.msg, /^the blob store is full: .* free; refused: pushes/);

  space.began("database", undefined);
  assert.match(space.refused() ?? "", /all else that adds content; served: .*deletes/);
  space.ended("blobs");
  assert.equal(of(30).length, 0, "the database is full yet");
  space.ended("database");
  space.ended("database");
  assert.deepEqual(changes, [true, false]);
  assert.equal(of(30).length, 1);
  assert.equal(space.refused(), undefined);
});

test("what is refused follows from where the parts are", () => {
  const { log } = keptLog();
  const refused = (part: "database" | "blobs" | "disk", hasReserve: boolean): string => {
    const space = createStorageSpace(log);
    space.places({ database: "/nowhere", disk: [], hasReserve });
    space.began(part, undefined);
    space.close();
    return space.refused() ?? "";
  };
  assert.match(refused("database", true), /served: pulls, other reads, sign-ins/);
  assert.match(refused("database", false), /^refused: all writes/);
  assert.match(refused("blobs", false), /^refused: pushes.*other writes$/);
  assert.match(refused("disk", false), /temporary files/);
});
