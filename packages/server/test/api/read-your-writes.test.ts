import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";

// Reads use snapshots, and rights and identities are cached until the next commit: a caller whose write was answered
// must see it in the next read, whatever other requests do.

const CALLERS = 12;
const ROUNDS = 15;
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const times = async (count: number, work: (at: number) => Promise<void>): Promise<void> => {
  for (let at = 0; at < count; at += 1) await work(at);
};

test("a write is visible to the next get and list, while a dozen other clients write and read", async () => {
  const { uid: group } = await platform.group(platform.organization);
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      const { uid, name } = await platform.repo(group);
      await times(ROUNDS, async (at) => {
        const description = `${caller} wrote ${at}`;
        await platform.ok("PATCH", `/registry/v2/repos/${uid}`, { description });
        const [one, list] = await Promise.all([
          platform.ok("GET", `/registry/v2/repos/${uid}`),
          platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}&name=${name}`),
        ]);
        assert.equal(one.description, description);
        assert.deepEqual(
          (list["repos"] as { description: string }[]).map((repo) => repo.description),
          [description],
        );
      });
    }),
  );
});

test("rights granted or revoked take effect with the next request, while others are granted theirs", async () => {
  const viewer = await platform.role("viewer");
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      const { uid: group } = await platform.group(platform.organization);
      const { uid: repo } = await platform.repo(group);
      const identity = await platform.identity(group);
      const token = await platform.token(identity);
      const status = async (): Promise<number> =>
        (await platform.call("GET", `/registry/v2/repos/${repo}`, { token })).status;
      assert.equal(await status(), 404);
      await times(ROUNDS, async () => {
        const binding = await platform.bind(group, identity, viewer);
        assert.deepEqual(await Promise.all([status(), status(), status()]), [200, 200, 200]);
        await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
        assert.deepEqual(await Promise.all([status(), status(), status()]), [404, 404, 404]);
      });
      await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
      assert.deepEqual(await Promise.all([status(), status()]), [401, 401]);
    }),
  );
});
