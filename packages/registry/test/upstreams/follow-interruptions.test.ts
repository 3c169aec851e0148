// A turn of a registry that is followed, killed in the middle of a blob, goes on in another process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFollowerProcess } from "../../../server/test/support/follower-process.ts";

const NAMES = ["five", "four", "one", "three", "two"];

test(
  "killed in a turn, it ends as without, and what came whole does not come again",
  { timeout: 300_000 },
  async (t) => {
    const { there, front, follow, ended, killAndStart, stop } = await startFollowerProcess(t);
    for (const name of NAMES) await there.pushImage(`acme/${name}`, "1", name);
    const hanging = new Set<string>();
    let isHanging = true;
    const { promise: stuck, resolve } = Promise.withResolvers<void>();
    front.intercept = (req) => {
      const [, name = ""] = /^\/v2\/acme\/(\w+)\/blobs\//.exec(req.url ?? "") ?? [];
      // Three are copied at a time, in the order of the catalog: one of the first three comes whole, then all hang.
      if (!isHanging || name === "" || name === "one") return false;
      if (hanging.add(name).size === 3) resolve();
      return true;
    };
    const uid = await follow("edge", "acme");
    await stuck;
    let before = 0;
    const whole = await killAndStart(async ({ reader }) => {
      isHanging = false;
      before = front.seen.length;
      return await reader.selectFrom("upstream_repos").select("name").where("follow_time", "is not", null).execute();
    });
    assert.deepEqual(
      whole.map(({ name }) => name),
      ["acme/one"],
    );
    const { tags, missingTags } = await ended(uid);
    assert.deepEqual([tags, missingTags], [String(NAMES.length), "0"]);
    const later = front.seen.slice(before).map(({ path }) => path);
    assert.deepEqual(
      later.filter((path) => path.startsWith("/v2/acme/one/")),
      [],
      "what was copied whole is not asked for",
    );
    assert.equal(await stop(), 0);
  },
);
