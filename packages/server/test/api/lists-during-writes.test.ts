import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DIGEST, type Json, type Platform, rows, startPlatform } from "../support/platform.ts";
import { sized } from "../support/extent.ts";

// Pages read during concurrent writes: no record that stays is lost or repeated, and the totals are exact again when
// the writes are over.
interface List {
  path: string;
  plural: string;
  /** Parameters of the first page; the page token keeps them. */
  filter(): string;
  make(): Promise<string>;
}

const STAY = sized(15, 30);
const WRITERS = 3;
const WRITES = sized(8, 25);
let platform: Platform;
let lists: List[];
before(async () => {
  platform = await startPlatform();
  const { uid: group } = await platform.group(platform.organization);
  const { uid: repo } = await platform.repo(platform.organization);
  const identity = await platform.identity(platform.organization);
  const viewer = await platform.role("viewer");
  let count = 0;
  // Names that sort anywhere among the others.
  const name = (): string => `n-${((count += 1) * 7919) % 10_007}`;
  const list = (path: string, parent: string, fields: object = {}): List => ({
    path,
    plural: path.slice(path.lastIndexOf("/") + 1),
    filter: () => `uidp.children_of=${parent}`,
    make: async () => (await platform.ok("POST", `${path}/${parent}`, { name: name(), ...fields })).uid,
  });
  lists = [
    list("/iam/v2/groups", group),
    list("/iam/v2/identities", group),
    list("/iam/v2/roles", group),
    list("/registry/v2/repos", group),
    list("/registry/v2/tags", repo, { digest: DIGEST }),
    { ...list("/iam/v2/roleBindings", group), make: () => platform.bind(group, identity, viewer) },
    // By ancestry, with the counters stored for it.
    { ...list("/registry/v2/repos", group), filter: () => `uidp.descendants_of=${group}` },
  ];
});
after(() => platform.close());

/** All the uids, page by page. */
async function walk(list: List, order: string): Promise<string[]> {
  const uids: string[] = [];
  let token = "";
  do {
    const page = await platform.ok(
      "GET",
      `${list.path}?${list.filter()}&page_size=7${order === "" ? "" : `&order_by=${encodeURIComponent(order)}`}&page_token=${token}`,
    );
    uids.push(...(await rows(page, list.plural)).map(({ uid }: Json) => uid));
    token = page.nextPageToken;
  } while (token !== "");
  return uids;
}

/** Creates and deletes records of its own, a bounded number of them; returns those that are left. */
async function write(list: List): Promise<string[]> {
  const own: string[] = [];
  for (let at = 0; at < WRITES; at++) {
    own.push(await list.make());
    const gone = at % 3 === 2 ? own.shift() : undefined;
    if (gone !== undefined) await platform.ok("DELETE", `${list.path}/${gone}`);
  }
  return own;
}

test("pages of every list stay complete during writes, in its own order and newest first", async () => {
  for (const list of lists) {
    const stay = await Promise.all(Array.from({ length: STAY }, () => list.make()));
    for (const order of ["", "createTime desc", "uid"]) {
      const writers = Promise.all(Array.from({ length: WRITERS }, () => write(list)));
      for (let round = 0; round < 3; round++) {
        const uids = await walk(list, order);
        assert.equal(new Set(uids).size, uids.length, `${list.plural} by ${order}: none is repeated`);
        const seen = new Set(uids);
        assert.deepEqual(
          stay.filter((uid) => !seen.has(uid)),
          [],
          `${list.plural} by ${order}: none that stayed is lost`,
        );
      }
      for (const uid of (await writers).flat()) await platform.ok("DELETE", `${list.path}/${uid}`);
      const quiet = await platform.ok("GET", `${list.path}?${list.filter()}&page_size=1`);
      const all = await walk(list, order);
      assert.deepEqual([quiet.totalCount, all.toSorted()], [String(STAY), stay.toSorted()]);
    }
    for (const uid of stay) await platform.ok("DELETE", `${list.path}/${uid}`);
  }
});
