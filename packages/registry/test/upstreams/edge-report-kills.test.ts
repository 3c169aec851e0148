// An edge that is killed while it reports pulls back: each is known at the center once, and none is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sendStatus } from "../../../server/test/support/fake-source.ts";
import { startFollowerProcess } from "../../../server/test/support/follower-process.ts";

interface State {
  state: string;
  lastAttemptTime?: string;
  pendingReports: string;
  unnotedReports: string;
  reportProblem: string;
}

const NAMES = ["five", "four", "one", "three", "two"];
const isReport = ({ url }: { url?: string | undefined }) => (url ?? "").startsWith("/registry/v2/usage:report");

test("killed before and after the center notes a report, an edge reports each pull once, with its time", async (t) => {
  const { there, front, ask, follow, ended, killAndStart, stop } = await startFollowerProcess(t);
  const center = await openTestStore(there.dataDir);
  t.after(() => center.close());
  for (const name of NAMES) await there.pushImage(`acme/app/${name}`, "1", name);
  const uid = await follow("edge", "acme/app");
  await ended(uid);
  const turn = async (): Promise<State> => {
    const path = `/registry/v2/upstreams/${uid}`;
    const get = async () => ((await (await ask("platform", "GET", path)).json()) as { followState: State }).followState;
    const isOver = ({ state }: State) => !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(state);
    const { lastAttemptTime } = await eventually(async () => {
      const now = await get();
      return isOver(now) && now;
    });
    await ask("platform", "POST", `${path}:follow`, {});
    return await eventually(async () => {
      const now = await get();
      return isOver(now) && now.lastAttemptTime !== lastAttemptTime && now;
    });
  };
  /** What the center knows of pulls at the edge, by digest. */
  const noted = async () =>
    (await center.store.reader.selectFrom("running_images").select(["digest", "source", "time"]).execute())
      .map(({ digest, source, time }) => `${digest} ${source} ${time}`)
      .toSorted();
  const source = "edge:moorage.test/acme/edge";

  for (const point of ["before", "after"] as const) {
    // The pulls are in the edge's database, and none is reported.
    front.intercept = (req, res) => isReport(req) && sendStatus(res, 503);
    for (const name of NAMES)
      assert.equal((await ask("registry", "GET", `/v2/acme/edge/${name}/manifests/1`)).status, 200);
    await eventually(async () => (await turn()).pendingReports === "5");
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    // Neither the request nor the answer goes on: the edge is killed meanwhile.
    front.intercept = (req) => {
      if (point === "after" || !isReport(req)) return false;
      reach();
      return true;
    };
    front.replace = (req, answer) => {
      if (point === "before" || !isReport(req)) return false;
      answer.resume();
      reach();
      return true;
    };
    await ask("platform", "POST", `/registry/v2/upstreams/${uid}:follow`, {});
    await reached;
    const before = await noted();
    assert.equal(before.length, 5 * Number(point === "after"));
    const pulls = await killAndStart(async ({ reader }) => {
      const rows = await reader.selectFrom("last_pulls").select(["digest", "time"]).execute();
      return rows.map(({ digest, time }) => `${digest} ${source} ${time}`).toSorted();
    });
    front.intercept = () => false;
    front.replace = () => false;
    const state = await eventually(async () => {
      const now = await turn();
      return now.pendingReports === "0" && now;
    });
    assert.equal(state.unnotedReports, "0");
    // What a killed process had counted and not written is said, not passed over.
    assert.match(state.reportProblem, /^(?:not all pulls since .* are known here)?$/);
    assert.deepEqual(await noted(), pulls, point);
    if (point === "before") await center.db.deleteFrom("running_images").execute();
  }
  assert.equal(await stop(), 0);
});
