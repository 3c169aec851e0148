import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, type Json, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";

// Names of organizations are the beginning of image paths: a freed one is kept from others, and a
// taken one looks like that to who does not see the organization.
const DAY_MS = 86_400_000;
let platform: Platform;
let count = 0;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const organization = async (name = `named-${(count += 1)}`): Promise<Json & { owner: string }> => {
  const made = await platform.ok("POST", "/iam/v2/groups", { name });
  return { ...made, owner: await platform.identity(made.uid, "owner") };
};
const rename = async (uid: string, name: string, by: string): Promise<Answer> =>
  platform.call("PATCH", `/iam/v2/groups/${uid}`, { token: await platform.token(by), body: { name } });
const create = async (name: string): Promise<Answer> =>
  platform.call("POST", "/iam/v2/groups", { token: await platform.token(), body: { name } });

test("the name of a deleted or renamed organization stays taken for 30 days", async () => {
  const [gone, moved, thief] = [await organization(), await organization(), await organization()];
  await platform.ok("DELETE", `/iam/v2/identities/${gone.owner}`);
  await platform.ok("DELETE", `/iam/v2/groups/${gone.uid}`);
  const later = `${moved.name}-later`;
  assert.equal((await rename(moved.uid, later, moved.owner)).status, 200);
  for (const name of [gone.name, moved.name]) {
    const taken = [await create(name), await rename(thief.uid, name, thief.owner)];
    assert.deepEqual(
      taken.map((answer) => [answer.status, reason(answer)]),
      [
        [409, "ALREADY_EXISTS"],
        [409, "ALREADY_EXISTS"],
      ],
    );
  }
  const { uid: group } = await platform.group(thief.uid, { name: gone.name });
  assert.ok(group, "below an organization the name is another one");
  assert.equal((await rename(moved.uid, moved.name, moved.owner)).status, 200, "who freed it takes it back");
  assert.equal((await rename(moved.uid, later, moved.owner)).status, 200);

  platform.clock.offsetMs += 30 * DAY_MS - 60_000;
  assert.equal((await create(gone.name)).status, 409);
  platform.clock.offsetMs += 60_000;
  assert.equal((await create(gone.name)).status, 200);
  assert.equal((await rename(thief.uid, moved.name, thief.owner)).status, 200);
});

test("a name that is taken by an organization that the caller does not see is answered like a freed one", async () => {
  const [hidden, freed, mine] = [await organization(), await organization(), await organization()];
  const name = freed.name;
  assert.equal((await rename(freed.uid, `${name}-later`, freed.owner)).status, 200);
  const answers = [await rename(mine.uid, hidden.name, mine.owner), await rename(mine.uid, name, mine.owner)];
  const shapes = answers.map(({ status, text }, at) => [
    status,
    text.replaceAll([hidden.name, name][at] ?? "", "NAME").replaceAll(/"requestId":"[^"]*"/g, ""),
  ]);
  assert.deepEqual(shapes[0], shapes[1]);
  assert.equal(answers[0]?.status, 409);
  assert.ok(!answers[0]?.text.includes(hidden.uid));
  const seen = await create(mine.name);
  assert.deepEqual([seen.status, seen.body.message], [409, `Group already exists: ${mine.name}`]);
});
