import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { spaceOf } from "./disk-space.ts";

test("the space of a folder is that of its file system, and of none it is not known", async () => {
  const { blocks, bsize } = statfsSync(tmpdir());
  const [one, other] = await Promise.all([spaceOf(tmpdir()), spaceOf(tmpdir())]);
  assert.equal(one?.totalBytes, blocks * bsize);
  assert.deepEqual(one, other, "who asks at one time gets one answer");
  assert.equal(await spaceOf(join(tmpdir(), "nowhere", "at", "all")), undefined);
});
