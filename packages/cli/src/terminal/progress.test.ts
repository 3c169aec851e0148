import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText, createProgress } from "./progress.ts";

/** A stream that records what is written, and a clock that the test sets. */
function recorder(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  const clock = { ms: 1_000_000 };
  const progress = createProgress({ isTTY, columns, write: (text) => written.push(text) }, () => clock.ms);
  return { written, clock, progress };
}

const step = { step: "blobs", total: 2048, unit: "bytes" as const };

test("sizes are shown in the unit that fits", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 5 * 1024 ** 3, 3 * 1024 ** 5].map(bytesText), [
    "0 B",
    "1023 B",
    "1.0 KiB",
    "1.5 KiB",
    "5.0 GiB",
    "3072.0 TiB",
  ]);
});

test("a terminal has one line that is overwritten, within its width, and ends once", () => {
  const { written, clock, progress } = recorder(true, 60);
  progress.progress({ ...step, done: 0 });
  progress.progress({ ...step, done: 10 });
  clock.ms += 150;
  progress.progress({ ...step, done: 1024 });
  progress.progress({ ...step, done: 2048 });
  progress.progress({ step: "table tags", done: 5, total: 5, unit: "rows" });
  progress.done();
  progress.done();
  const lines = written.join("").split("\n");
  assert.equal(lines.length, 3, "one line a step");
  assert.equal(written.length, 6, "what comes too soon is not drawn, unless it is the end");
  assert.match(lines[0] ?? "", /\[#{15}\.{15}\] blobs: 1\.0 KiB of/);
  assert.match(lines[0] ?? "", /\[#{30}\] blobs/);
  // eslint-disable-next-line no-control-regex -- the terminal's own
  for (const drawn of written) assert.ok(drawn.replace(/\r|\u001b\[K|\n/g, "").length < 60);
});

test("elsewhere there is a line every five seconds, and notes are printed immediately", () => {
  const { written, clock, progress } = recorder(false);
  progress.progress({ ...step, done: 1 });
  progress.note("to know");
  clock.ms += 5_001;
  progress.progress({ ...step, done: 1024 });
  progress.progress({ ...step, done: 1025 });
  clock.ms += 5_001;
  progress.progress({ step: "table tags", done: 3, total: 4, unit: "rows" });
  progress.done();
  assert.deepEqual(written, ["to know\n", "blobs: 1.0 KiB of 2.0 KiB (50%)\n", "table tags: 3 rows of 4 rows (75%)\n"]);
});
