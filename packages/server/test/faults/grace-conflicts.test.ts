import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { ENGINE } from "../support/database.ts";
import { startCollecting } from "../support/garbage-collection.ts";

// SQLite has one writer: nothing collides there.
const OPTIONS = { timeout: 300_000, skip: ENGINE === "postgres" ? false : "only PostgreSQL has writers that collide" };
const HELD_MS = 50;
const MOST_HEADS = 50;

test(
  "while others change the same all the time, a GET is answered and a HEAD says when to ask again",
  OPTIONS,
  async (t) => {
    const { pass, pushBlob, push, repoUid, db, ask, ownerToken } = await startCollecting(t);
    const blob = await pushBlob("acme/app", "base");
    const { digest } = await push("acme/app", undefined, "one");
    const repo = await repoUid("app");
    pass(2);
    let isOver = false;
    let commits = 0;
    // While one of these holds the row the other waits for it: whoever reads it finds that it has changed since.
    const collide = async (): Promise<void> => {
      while (!isOver) {
        await db.transaction().execute(async (tx) => {
          for (const table of ["repo_blobs", "manifests"] as const)
            await tx
              .updateTable(table)
              .set((row) => ({ touch_time: row.ref("touch_time") }))
              .where("repo", "=", repo)
              .execute();
          await wait(HELD_MS);
        });
        commits += 1;
      }
    };
    const colliding = Promise.all([collide(), collide()]);
    colliding.catch(() => {});
    try {
      while (commits < 2) await Promise.race([wait(HELD_MS), colliding]);
      for (const path of [`/v2/acme/app/blobs/${blob}`, `/v2/acme/app/manifests/${digest}`]) {
        // Now and then a change falls between two others; none is answered as a conflict.
        const heads: number[] = [];
        while (heads.at(-1) !== 503 && heads.length < MOST_HEADS) {
          // What was noted as used a moment ago is not noted again.
          pass(2);
          const { status, headers } = await ask(path, { method: "HEAD", token: ownerToken });
          heads.push(status);
          assert.ok(status === 200 || Number(headers.get("retry-after")) > 0, `${path}: ${status}`);
        }
        assert.equal(heads.at(-1), 503, `${path}: ${heads.join(", ")}`);
        assert.equal((await ask(path, { token: ownerToken })).status, 200, path);
      }
    } finally {
      isOver = true;
      await colliding;
    }
    for (const path of [`/v2/acme/app/blobs/${blob}`, `/v2/acme/app/manifests/${digest}`])
      assert.equal((await ask(path, { method: "HEAD", token: ownerToken })).status, 200, path);
  },
);
