import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startPullEdge } from "../../server/test/support/pull-edge.ts";
import { moorage, temporaryFolder } from "./commands.ts";

test(
  "why of a pull token of a center: what is decided here, and who decides the rest",
  { timeout: 300_000 },
  async (t) => {
    const { here, front, make, organization } = await startPullEdge(t);
    const robot = await make(organization);
    const folder = temporaryFolder(t);
    const file = join(folder, "claims");
    const env = { XDG_CONFIG_HOME: folder, MOORAGE_URL: here.url, MOORAGE_TOKEN: here.platform };
    const why = (verb: string) =>
      moorage(["why", verb, "acme/edge/app:1", "--token-claims", file], { cwd: folder, env });
    // The password itself, and what an event of its pulls has in `actor.act`.
    for (const text of [robot.password, JSON.stringify({ iss: front.host, sub: robot.identity })]) {
      writeFileSync(file, text);
      const pull = await why("pull");
      assert.deepEqual(
        [pull.code, pull.stdout, pull.stderr],
        [
          6,
          "",
          `moorage: FAILED_PRECONDITION: whether a pull token of ${front.host} may pull acme/app is decided by ${front.host} at each log-in, not by role bindings here: ask there\n`,
        ],
      );
      const push = await why("push");
      assert.equal(push.code, 5, push.stderr);
      assert.match(push.stdout, /^denied: .* may not push acme\/edge\/app:1\na pull token of \S+ only pulls here\n/);
    }
  },
);
