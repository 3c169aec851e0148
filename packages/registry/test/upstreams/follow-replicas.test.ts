// Registries that are followed by several servers of one installation: each by one at a time, and what a killed one had
// under way goes on at another.
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { ENGINE, openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import { SOON } from "../../../server/test/support/replication.ts";
import { NO_S3, s3Url } from "../../../server/test/support/s3.ts";
import { type Front, startFront } from "../../../server/test/support/upstream.ts";

const NO_POSTGRES = ENGINE === "postgres" ? false : "replicas need PostgreSQL: set MOORAGE_TEST_POSTGRES_URL";
const NAMES = ["five", "four", "one", "three", "two"];

/** A Moorage that is followed. Of its images only one comes until `release`. */
interface Followed {
  front: Front;
  password: string;
  /** Resolves when a turn waits for what does not come. */
  stuck: Promise<void>;
  /** Whether the process that waits has ended. */
  hasEnded(): boolean;
  /** Answers what waits, and all that comes later. */
  release(): void;
}

async function startFollowed(t: TestContext): Promise<Followed> {
  const there = await startInstallation(t);
  for (const name of NAMES) await there.pushImage(`acme/${name}`, "1", name);
  const front = await startFront(t, there.url);
  const { promise: stuck, resolve } = Promise.withResolvers<void>();
  const waiting = new Map<ServerResponse, IncomingMessage>();
  let [isHolding, ended] = [true, false];
  front.intercept = (req, res) => {
    const [, name = ""] = /^\/v2\/acme\/(\w+)\/blobs\//.exec(req.url ?? "") ?? [];
    if (!isHolding || name === "" || name === "one") return false;
    waiting.set(res, req);
    res.on("close", () => (ended = true));
    // Three are copied at a time, in the order of the catalog: one of them comes whole, then all wait.
    if (new Set([...waiting.values()].map(({ url }) => url?.split("/")[3])).size === 3) resolve();
    return true;
  };
  const forward = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const headers = { authorization: String(req.headers.authorization) };
    const answer = await fetch(there.url + String(req.url), { headers, signal: AbortSignal.timeout(60_000) });
    res.writeHead(answer.status, { "content-type": "application/octet-stream" });
    res.end(Buffer.from(await answer.arrayBuffer()));
  };
  return {
    front,
    password: there.platform,
    stuck,
    hasEnded: () => ended,
    release() {
      isHolding = false;
      for (const [res, req] of waiting) if (!res.destroyed) void forward(req, res);
    },
  };
}

/** How often turns began, as far as the registry sees it. */
const turns = ({ front }: Followed): number =>
  front.seen.filter(({ path, authorization }) => path.startsWith("/registry/v2/repos?") && authorization !== undefined)
    .length;

test(
  "two replicas follow two registries, each by one; what the killed one had goes on at the other",
  { timeout: 400_000, skip: NO_POSTGRES },
  async (t) => {
    const followed = [await startFollowed(t), await startFollowed(t)] as const;
    const blobs: Record<string, string> = NO_S3 === false ? { MOORAGE_BLOBS_URL: s3Url() } : {};
    // A replica has one turn at a time, so the two turns are at two replicas.
    const house = await startReplicas(t, 2, { ...SOON, ...blobs, MOORAGE_MIRROR_WORKERS: "1" });
    const [first, survivor] = house.servers;
    const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const answer = await fetch(`http://127.0.0.1:${survivor?.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${house.platform}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as T;
    };
    const uids: string[] = [];
    for (const [at, { front, password }] of followed.entries()) {
      const path = `/iam/v2/groups/${house.bootstrap.organization.uid}`;
      const group = await api<{ uid: string }>("POST", path, { name: `edge${at}` });
      const source = { registry: front.url, prefix: "acme", username: "robot", password };
      uids.push(
        (await api<{ uid: string }>("POST", `/registry/v2/upstreams/${group.uid}`, { ...source, follow: {} })).uid,
      );
    }
    const stateOf = async (uid: string) =>
      (
        await api<{ followState: { state: string; tags: string; missingTags: string; message: string } }>(
          "GET",
          `/registry/v2/upstreams/${uid}`,
        )
      ).followState;
    await Promise.all(followed.map(({ stuck }) => stuck));
    assert.deepEqual(followed.map(turns), [1, 1], "no registry is followed by two");

    await first?.stop("SIGKILL");
    const lost = await eventually(() => {
      const at = followed.findIndex((each) => each.hasEnded());
      return at !== -1 && at;
    });
    const kept = 1 - lost;
    assert.equal(followed[kept]?.hasEnded(), false, "the other replica goes on");
    const states = await Promise.all(uids.map(stateOf));
    assert.deepEqual(
      states.map(({ state }) => state),
      ["SYNC_STATE_RUNNING", "SYNC_STATE_RUNNING"],
      "the end of the process is not yet noticed",
    );
    const before = followed[lost]?.front.seen.length ?? 0;
    const { db, close } = await openTestStore(String(house.env["MOORAGE_DATA_DIR"]));
    // The hold of the killed process ends.
    await db
      .updateTable("upstream_follows")
      .set({ hold_until: 0 })
      .where("upstream", "=", uids[lost] ?? "")
      .execute();
    await close();
    for (const each of followed) each.release();
    for (const uid of uids) {
      const ended = await eventually(async () => {
        const now = await stateOf(uid);
        return now.state === "SYNC_STATE_SUCCEEDED" && now;
      });
      assert.deepEqual([ended.tags, ended.missingTags], [String(NAMES.length), "0"], ended.message);
    }
    assert.deepEqual([turns(followed[kept] ?? followed[0]), turns(followed[lost] ?? followed[0])], [1, 2]);
    const later = followed[lost]?.front.seen.slice(before).map(({ path }) => path) ?? [];
    assert.deepEqual(
      later.filter((path) => path.startsWith("/v2/acme/one/")),
      [],
      "what was copied whole is not asked for",
    );
  },
);
