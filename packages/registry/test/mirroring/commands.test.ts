import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { SyncState } from "@moorage/api";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { claimMirror, endRun, followTag, holdMirror } from "../../src/mirroring/commands.ts";
import type { Command } from "../../../kernel/src/core/command.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { openTestStore } from "../../../server/test/support/database.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

// The commands by which runs share repos, at times that the test gives.

const SYNC = '{"source":"registry.invalid/app"}';
const DIGESTS = ["a", "b", "c"].map((letter) => `sha256:${letter.repeat(64)}`);
const [A = "", B = "", C = ""] = DIGESTS;

async function openMirrors(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-mirrors-"));
  const { store, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const write = <T>(work: (tx: Database) => Promise<T>): Promise<T> => store.transact(work);
  return {
    run: <Input, Output>(command: Command<Input, Output>, nowMs: number, input: NoInfer<Input>) =>
      write((tx) => command.run(openCall(systemCall(nowMs), tx), input, undefined)),
    /** Makes a repo that is due at the time. Returns its uid. */
    async mirror(dueMs: number): Promise<string> {
      const uid = newUid(newUid(""));
      await write(async (tx) => {
        await tx
          .insertInto("repos")
          .values({
            uid,
            parent: uid.slice(0, 40),
            name: uid.slice(41),
            description: "",
            catalog_tier: 0,
            bundles: "[]",
            readme: "",
            aliases: "[]",
            active_tags: "[]",
            sync_config: SYNC,
            tag_policy: null,
            create_time: 0,
            update_time: 0,
          })
          .execute();
        await tx
          .insertInto("mirrors")
          .values({
            repo: uid,
            password: "",
            actor: "",
            next_time: dueMs,
            holder: "",
            hold_until: 0,
            state: SyncState.PENDING,
            message: "",
            attempt_time: null,
            success_time: null,
            tags_seen: 0,
            manifests_copied: 0,
            bytes_copied: 0,
            failures: 0,
          })
          .execute();
        for (const digest of DIGESTS) {
          await tx
            .insertInto("manifests")
            .values({
              repo: uid,
              digest,
              media_type: "m",
              content: Buffer.from("{}"),
              size: 2,
              subject: "",
              artifact_type: "",
              annotations: "{}",
              create_time: 0,
              touch_time: 0,
            })
            .execute();
        }
      });
      return uid;
    },
    row: (repo: string) =>
      store.reader.selectFrom("mirrors").selectAll().where("repo", "=", repo).executeTakeFirstOrThrow(),
    ask: (repo: string, next_time: number) =>
      write((tx) => tx.updateTable("mirrors").set({ next_time }).where("repo", "=", repo).execute()),
    moves: async (repo: string): Promise<string[]> =>
      (
        await store.reader
          .selectFrom("tag_history")
          .select(["digest", "reason"])
          .where("repo", "=", repo)
          .orderBy("time")
          .execute()
      ).map(({ digest, reason }) => `${reason} ${digest}`),
  };
}

test("the repo that has been due for the longest is claimed by one holder, until its hold ends", async (t) => {
  const { run, mirror } = await openMirrors(t);
  const [late, later, never] = [await mirror(1_000), await mirror(500), await mirror(99_000)];
  const claim = async (holder: string, nowMs: number) =>
    (await run(claimMirror, nowMs, { holder, holdMs: 1_000 }))?.repo;
  const taken = await Promise.all(["a", "b", "c", "d"].map((holder) => claim(holder, 10_000)));
  assert.deepEqual(taken.filter((repo) => repo !== undefined).toSorted(), [late, later].toSorted());
  const holder = ["a", "b", "c", "d"][taken.indexOf(later)] ?? "";
  assert.deepEqual(await run(holdMirror, 10_900, { repo: later, holder, holdMs: 1_000 }), { held: true });
  assert.deepEqual(await run(holdMirror, 10_900, { repo: later, holder: "x", holdMs: 1_000 }), { held: false });
  assert.equal(await claim("e", 11_000), late, "its holder says nothing any more");
  assert.equal(await claim("f", 11_500), undefined);
  assert.equal(await claim("f", 99_500), later, "the one that waits for the longest again");
  assert.equal(await claim("g", 99_500), late);
  assert.equal(await claim("h", 99_500), never);
});

test("the end of a run schedules the next, unless one was requested; a run that lost the repo changes nothing", async (t) => {
  const { run, mirror, row, ask } = await openMirrors(t);
  const repo = await mirror(0);
  const end = (holder: string, nowMs: number, dueMs: number, state: SyncState) =>
    run(endRun, nowMs, { repo, holder, dueMs, state, message: "m", nextInMs: 5_000, tagsSeen: 3 });
  await run(claimMirror, 1_000, { holder: "a", holdMs: 1_000 });
  await end("b", 1_100, 0, SyncState.SUCCEEDED);
  assert.equal((await row(repo)).state, SyncState.RUNNING);
  await end("a", 1_200, 0, SyncState.FAILED);
  const failed = await row(repo);
  assert.deepEqual(
    [failed.state, failed.next_time, failed.failures, failed.success_time, failed.attempt_time, failed.tags_seen],
    [SyncState.FAILED, 6_200, 1, null, 1_000, 3],
  );
  await run(claimMirror, 7_000, { holder: "a", holdMs: 1_000 });
  await ask(repo, 7_500);
  await end("a", 8_000, 6_200, SyncState.SUCCEEDED);
  const requested = await row(repo);
  assert.deepEqual(
    [requested.next_time, requested.failures, requested.success_time, requested.holder],
    [7_500, 0, 8_000, ""],
  );
});

test("a tag moves only from the digest that the run saw, and only for the holder of the repo", async (t) => {
  const { run, mirror, moves } = await openMirrors(t);
  const repo = await mirror(0);
  await run(claimMirror, 1_000, { holder: "a", holdMs: 1_000 });
  const follow = (digest: string, before: string, change: object = {}) =>
    run(followTag, 2_000, { repo, sync: SYNC, holder: "a", tag: "v1", digest, before, ...change });
  assert.deepEqual(await follow(A, ""), { gone: false });
  await follow(B, "");
  await follow(B, C);
  await follow(C, A);
  assert.deepEqual(await moves(repo), [`mirror ${A}`, `mirror ${C}`]);
  assert.deepEqual(await follow(`sha256:${"d".repeat(64)}`, C), { gone: true });
  for (const change of [{ holder: "b" }, { sync: "{}" }, { repo: newUid("") }])
    await assert.rejects(follow(B, C, change), { code: 10 }, JSON.stringify(change));
  await follow(B, C, { holder: undefined });
  assert.equal((await moves(repo)).at(-1), `mirror ${B}`, "a pull holds nothing");
});
