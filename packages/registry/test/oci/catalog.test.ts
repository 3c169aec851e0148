import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Capability } from "@moorage/api";
import { insertIdentity, insertRole } from "../../../server/test/support/identities.ts";
import { startRegistry } from "../../../server/test/support/registry-server.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

// GET /v2/_catalog: who sees which names, how the pages follow each other, and what a page costs.

const NAMES = ["acme/aaa-b", "acme/aaa/x", "acme/aaa/yyy/z", "acme/app", "acme/b", "acme/zoo/last", "public/base"];

async function start(t: TestContext, names = NAMES) {
  const registry = await startRegistry(t);
  for (const name of names) {
    const { body, digest } = await registry.image(name, "one");
    assert.equal((await registry.pushManifest(name, digest, body)).status, 201);
  }
  const list = async (token: string | undefined, query = "") => {
    const { status, text, headers } = await registry.ask(`/v2/_catalog${query}`, token === undefined ? {} : { token });
    assert.equal(status, 200, text);
    const next = /^<(\/v2\/_catalog.*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
    return { names: (JSON.parse(text) as { repositories: string[] }).repositories, next };
  };
  const tokenFor = async (basic: string | undefined, scope = "registry:catalog:*"): Promise<string> => {
    const headers: Record<string, string> =
      basic === undefined ? {} : { authorization: `Basic ${Buffer.from(`_:${basic}`).toString("base64")}` };
    return (await registry.ask(`/token?scope=${scope}`, { headers })).json.token;
  };
  return { ...registry, list, tokenFor };
}

/** All pages, and how many there were. */
async function pages({ list }: Pick<Awaited<ReturnType<typeof start>>, "list">, token: string, n: number) {
  const all: string[] = [];
  let count = 0;
  for (let query: string | undefined = `?n=${n}`; query !== undefined; count += 1) {
    const { names, next } = await list(token, query);
    assert.ok(names.length <= n);
    all.push(...names);
    query = next?.slice("/v2/_catalog".length);
  }
  return { all, count };
}

test("the catalog lists what the token may see, group by group, and the public organization", async (t) => {
  const { acme, db, list, mint, ownerToken, stranger } = await start(t);
  const expected = ["acme/aaa/x", "acme/aaa/yyy/z", "acme/aaa-b", ...NAMES.slice(3)].sort((a, b) =>
    a.replaceAll("/", "\0") < b.replaceAll("/", "\0") ? -1 : 1,
  );
  assert.deepEqual(await list(ownerToken), { names: expected, next: undefined });
  assert.deepEqual((await list(await mint(stranger))).names, ["public/base"]);
  const { uid } = await db.selectFrom("groups").select("uid").where("name", "=", "aaa").executeTakeFirstOrThrow();
  const role = await insertRole(db, "lists", [Capability.CAP_REPO_LIST]);
  const reader = await insertIdentity(db, "reader", [[uid, role]]);
  assert.deepEqual((await list(await mint(reader))).names, ["acme/aaa/x", "acme/aaa/yyy/z", "public/base"]);
  assert.deepEqual((await list(await mint(reader, { scopes: [acme] }))).names, [
    "acme/aaa/x",
    "acme/aaa/yyy/z",
    "public/base",
  ]);
  assert.deepEqual((await list(await mint(reader, { capabilities: [Capability.CAP_TAG_LIST] }))).names, [
    "public/base",
  ]);
});

test("clients are challenged for the scope of the catalog, and everybody gets it", async (t) => {
  const { ask, list, ownerToken, tokenFor } = await start(t);
  const challenged = async (token?: string) => {
    const { status, headers, json } = await ask("/v2/_catalog", token === undefined ? {} : { token });
    assert.deepEqual([status, json.errors[0]?.code], [401, "UNAUTHORIZED"]);
    return /scope="([^"]*)"/.exec(headers.get("www-authenticate") ?? "")?.[1];
  };
  assert.equal(await challenged(), "registry:catalog:*");
  assert.equal(await challenged(await tokenFor(ownerToken, "repository:acme/app:pull")), "registry:catalog:*");
  assert.equal((await list(await tokenFor(ownerToken))).names.length, NAMES.length);
  assert.deepEqual((await list(await tokenFor(undefined))).names, ["public/base"]);
  const { status } = await ask("/v2/acme/app/tags/list", { token: await tokenFor(ownerToken) });
  assert.equal(status, 403, "it is no token for a repository");
});

test("pages of any size follow each other without a gap, also after a name that is not there", async (t) => {
  const registry = await start(t);
  const { ask, list, ownerToken } = registry;
  const { names } = await list(ownerToken);
  for (const n of [1, 2, 3, 100]) assert.deepEqual((await pages(registry, ownerToken, n)).all, names);
  const after = async (last: string) => (await list(ownerToken, `?last=${encodeURIComponent(last)}`)).names;
  for (const [at, name] of names.entries()) assert.deepEqual(await after(name), names.slice(at + 1), name);
  assert.deepEqual(await after("acme/a"), names);
  assert.deepEqual(await after("acme/aaa/xx"), names.slice(1));
  assert.deepEqual(await after("acme/ab/gone"), names.slice(names.indexOf("acme/app")));
  assert.deepEqual(await after("acmf"), ["public/base"]);
  assert.deepEqual(await after("zzz"), []);
  assert.deepEqual((await list(ownerToken, "?n=0")).names, []);
  for (const n of ["abc", "-1", "1.5", ""]) {
    const { status, json } = await ask(`/v2/_catalog?n=${n}`, { token: ownerToken });
    assert.deepEqual([status, json.errors[0]?.code], [400, "PAGINATION_NUMBER_INVALID"], n);
  }
});

test("a page reads few rows, whatever there is before and behind it", async (t) => {
  const registry = await start(t, ["acme/app"]);
  const { acme, db, list, ownerToken } = registry;
  const hex = (n: number): string => n.toString(16).padStart(16, "0");
  const at = { description: "", create_time: 0, update_time: 0 };
  const group = { ...at, verified: 0, kind: 0, status: 0, resource_limits: "{}" };
  const repo = { ...at, catalog_tier: 0, bundles: "[]", readme: "", aliases: "[]", active_tags: "[]" };
  const groups = Array.from({ length: 5000 }, (_, n) => ({
    ...group,
    uid: `${acme}/${hex(n)}`,
    parent: acme,
    name: `g${hex(n)}`,
  }));
  const repos = Array.from({ length: 5000 }, (_, n) => ({
    ...repo,
    uid: `${acme}/${hex(n + 9000)}`,
    parent: acme,
    name: `r${hex(n)}`,
  }));
  for (let from = 0; from < 5000; from += 500) {
    await db
      .insertInto("groups")
      .values(groups.slice(from, from + 500))
      .execute();
    await db
      .insertInto("repos")
      .values(repos.slice(from, from + 500))
      .execute();
  }
  const statements = await statementsRun(async () => {
    assert.deepEqual((await list(ownerToken, "?n=1")).names, ["acme/app"]);
  });
  assert.ok(statements.length < 60, `${statements.length} statements`);
  const limits = statements.filter(({ text }) => /from (?:groups as g|repos where parent)/.test(text));
  assert.ok(limits.length > 0 && limits.every(({ values }) => Number(values.at(-1)) <= 100));
  const { all, count } = await pages(registry, ownerToken, 1000);
  assert.deepEqual(all, ["acme/app", ...repos.map(({ name }) => `acme/${name}`)]);
  assert.ok(count > 5, "a page ends at some number of empty groups");
});
