import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";

// Pages of rows that are large together. Source: docs/contract.md, "Listing" and "Limits".
const COUNT = 12;
/** Nearly as large as an identity may be; five of them are more than a page. */
const claims = (each: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`claim${n}`, "c".repeat(each)]));

const listed = (page: Json): Json[] => (page["identities"] ?? page["advisories"] ?? []) as Json[];

let platform: Platform;
let group: string;
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization)).uid;
  for (let n = 0; n < COUNT; n++)
    await platform.ok("POST", `/iam/v2/identities/${group}`, {
      name: `identity-${String(n).padStart(2, "0")}`,
      claimMatch: { issuer: "https://issuer.example", subject: `s${n}`, claims: claims(2_000) },
    });
});
after(() => platform.close());

async function everyPage(path: string): Promise<Json[][]> {
  const pages: Json[][] = [];
  for (let token = ""; ;) {
    const page = await platform.ok("GET", `${path}&page_token=${token}`);
    pages.push(listed(page));
    if (page.totalCount !== undefined) assert.equal(page.totalCount, String(COUNT));
    token = page.nextPageToken;
    if (token === "") return pages;
  }
}

test("a page of large rows ends early, and the pages after it have the rest, each row once", async () => {
  for (const size of [0, 100, 200])
    for (const order of ["name", "name desc", "createTime"]) {
      const path = `/iam/v2/identities?uidp.childrenOf=${group}&page_size=${size}&order_by=${encodeURIComponent(order)}`;
      const pages = await everyPage(path);
      assert.ok(pages.length > 2, `${pages.length} pages`);
      for (const page of pages) assert.ok(page.length > 0 && page.length < 6, `${page.length} rows`);
      const names = pages.flat().map(({ name }) => name);
      assert.equal(new Set(names).size, COUNT);
      if (order !== "createTime")
        assert.deepEqual(
          names,
          [...names].sort((a, b) => a.localeCompare(b) * (order === "name" ? 1 : -1)),
        );
    }
});

test("skip counts rows, whatever their size, and v1's list has all of them", async () => {
  const page = await platform.ok("GET", `/iam/v2/identities?uidp.childrenOf=${group}&page_size=200&skip=10`);
  assert.deepEqual(
    listed(page).map(({ name }) => name),
    ["identity-10", "identity-11"],
  );
  const { items } = await platform.ok<{ items: Json[] }>("GET", `/iam/v1/identities?uidp.childrenOf=${group}`);
  assert.equal(items.length, COUNT);
});

test("a page of advisories ends early by their events, and the feed by its events", async () => {
  const note = "n".repeat(2_000);
  const uids: string[] = [];
  for (let n = 0; n < COUNT; n++) {
    const { uid } = await platform.ok("POST", `/vulnerabilities/v2/advisories/${group}`, {
      artifactName: `artifact-${n}`,
      artifactType: "NPM",
      aliases: ["CVE-2026-1"],
      events: Array.from({ length: 28 }, () => ({ truePositiveDetermination: { note } })),
    });
    uids.push(uid);
  }
  const pages = await everyPage(`/vulnerabilities/v2/advisories?uidp.childrenOf=${group}&page_size=200`);
  assert.equal(pages.length, 2);
  assert.deepEqual(
    pages
      .flat()
      .map(({ uid }) => uid)
      .sort(),
    uids.sort(),
  );
  const seen: string[] = [];
  let feeds = 0;
  for (let cursor = ""; ;) {
    const page = await platform.ok<{ events: { type: string; subject: string }[]; nextCursor: string; more: boolean }>(
      "GET",
      `/events/v2/events?group=${group}&page_size=200&cursor=${cursor}`,
    );
    feeds += 1;
    seen.push(...page.events.filter(({ type }) => type.includes("advisor")).map(({ subject }) => subject));
    cursor = page.nextCursor;
    if (seen.length >= COUNT && !page.more) break;
  }
  assert.ok(feeds > 1, `${feeds} pages`);
  assert.deepEqual([...new Set(seen)].sort(), uids.sort());
});

test("an identity that says too much of the tokens it accepts is refused, and an old one may be renamed", async () => {
  const token = await platform.token();
  const body = {
    name: "too-large",
    claimMatch: { issuer: "https://issuer.example", subject: "s", claims: claims(2_200) },
  };
  const refused = await platform.call("POST", `/iam/v2/identities/${group}`, { token, body });
  assert.deepEqual([refused.status, blamed(refused)], [400, ["claimMatch"]]);
  const [first] = listed(await platform.ok("GET", `/iam/v2/identities?uidp.childrenOf=${group}`));
  const uid = first?.uid ?? "";
  const { relationship } = await platform.reader
    .selectFrom("identities")
    .select("relationship")
    .where("uid", "=", uid)
    .executeTakeFirstOrThrow();
  const larger = relationship.replace(`"${"c".repeat(2_000)}"`, `"${"c".repeat(20_000)}"`);
  await platform.transact((tx) =>
    tx.updateTable("identities").set({ relationship: larger }).where("uid", "=", uid).execute(),
  );
  const path = `/iam/v2/identities/${uid}`;
  assert.equal((await platform.call("PATCH", path, { token, body: { description: "kept" } })).status, 200);
  const { status } = await platform.call("PATCH", path, { token, body: { claimMatch: { subject: "another" } } });
  assert.equal(status, 400);
});
