// A server that follows another registry, killed at many points of a turn: it ends as without, and what it had comes no
// second time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../../server/test/support/extent.ts";
import { startFollowerProcess } from "../../../server/test/support/follower-process.ts";
import type { Image } from "../../../server/test/support/installation.ts";

const POINTS = sized(3, 20);
const NAMES = ["five", "four", "one", "three", "two"];

test("killed at any point of a turn, it ends as without, and what was stored is not fetched again", async (t) => {
  const { there, front, ask, follow, ended, killAndStart, stop } = await startFollowerProcess(t);

  /** Follows five images that are new on both sides. `killAfter`: when so many requests have come. */
  const run = async (name: string, killAfter = Infinity): Promise<number> => {
    const images = new Map<string, Image>();
    for (const each of NAMES) images.set(each, await there.pushImage(`acme/${name}/${each}`, "1", `${name} ${each}`));
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    let requests = 0;
    front.intercept = () => {
      requests += 1;
      if (requests === killAfter) reach();
      return false;
    };
    const uid = await follow(name, `acme/${name}`);
    let before = 0;
    let stored = new Set<string>();
    if (killAfter !== Infinity) {
      await reached;
      stored = await killAndStart(async ({ reader }) => {
        before = front.seen.length;
        const blobs = await reader.selectFrom("blobs").select("digest").execute();
        return new Set(blobs.map(({ digest }) => digest));
      });
    }
    const { tags, missingTags } = await ended(uid);
    assert.deepEqual([tags, missingTags], [String(NAMES.length), "0"]);
    const again = front.seen.slice(before).flatMap(({ method, path }) => {
      const [, digest = ""] = /\/blobs\/(sha256:[0-9a-f]{64})$/.exec(path) ?? [];
      return method === "GET" && stored.has(digest) ? [path] : [];
    });
    assert.deepEqual(again, [], `${name}: fetched although it was stored`);
    // All of it is served while the registry is away.
    front.intercept = (_req, res) => {
      res.writeHead(503).end();
      return true;
    };
    for (const [each, { digest, layer, config }] of images)
      for (const path of [`manifests/${digest}`, `blobs/${layer}`, `blobs/${config}`]) {
        const answer = await ask("registry", "GET", `/v2/acme/${name}/${each}/${path}`);
        assert.deepEqual([answer.status, (await answer.bytes()).length > 0], [200, true], `${name}/${each} ${path}`);
      }
    return requests;
  };

  const total = await run("p00");
  for (let point = 1; point <= POINTS; point += 1)
    await run(`p${String(point).padStart(2, "0")}`, Math.max(1, Math.floor((point * total) / (POINTS + 1))));
  assert.equal(await stop(), 0);
});
