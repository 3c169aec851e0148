// How often the bytes of a registry that moves in are asked for, through a proxy that counts.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { startFront } from "../../server/test/support/upstream.ts";
import { buildSampleImage } from "../src/oci/image.ts";
import { killedAfter, started } from "./command-kills.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

const KILLS = sized(4, 20);

test("no blob is fetched twice: not for two repos that share it, nor after the command was killed", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const front = await startFront(t, there.url);
  const token = (await here.ok("token")).trim();
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  for (const image of ["acme/app:1", "acme/web:1"]) await there.push(image, 1);
  await there.push("acme/web:2", 2);
  await here.ok("groups", "create", "acme/old");
  const command = ["import-from", "oci", front.url, "--into", "acme/old"];
  await here.ok(...command, "--plan", "plan.json", "--username", "robot", "--password-file", "password");
  const apply = [...command, "--apply", "plan.json", "--pull-username", "robot", "--pull-password-file", "password"];
  front.seen.length = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    // The server goes on with what it has begun, some requests further each time.
    await killedAfter(front, kill, started(here, apply, { url: here.url, token }));
  }
  await here.ok(...apply, "--finish");
  for (const [image, build] of [
    ["app:1", 1],
    ["web:1", 1],
    ["web:2", 2],
  ] as const)
    assert.equal((await here.json<{ digest: string }>("tags", "get", `acme/old/acme/${image}`)).digest, BUILD[build]);

  const fetched = new Map<string, number>();
  for (const { method, path } of front.seen) {
    const [, digest] = /\/blobs\/(sha256:[0-9a-f]{64})$/.exec(path) ?? [];
    if (method === "GET" && digest !== undefined) fetched.set(digest, (fetched.get(digest) ?? 0) + 1);
  }
  const built = [...(await buildSampleImage(1)).images, ...(await buildSampleImage(2)).images];
  const wanted = new Set(built.flatMap(({ blobs }) => blobs.map(({ digest }) => digest)));
  assert.deepEqual(
    [...fetched].toSorted(),
    [...wanted].toSorted().map((digest) => [digest, 1]),
  );
  await there.close();
  for (const image of ["app:1", "web:1", "web:2"]) await here.ok("images", "inspect", `acme/old/acme/${image}`);
  assert.match(await here.ok("fsck", "--deep"), /^clean: /);
});
