import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { digestOf, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import {
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// The aliases of repos, and the filters of their list by tier and bundle.
let platform: Platform;
let registry = "";
before(async () => {
  platform = await startPlatform();
  registry = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

/** A group of its own, by its name. */
async function team(name: string): Promise<string> {
  return (await platform.group(platform.organization, { name })).uid;
}

const target = (name: string, token = registry): PushTarget => ({ url: platform.url, token, name });

async function pull(
  path: string,
  token = registry,
): Promise<{ status: number; digest: string | undefined; text: string }> {
  const { status, headers, text } = await platform.call("GET", `/v2/${path}`, { token });
  const digest = headers["docker-content-digest"];
  return { status, digest: typeof digest === "string" ? digest : undefined, text };
}

async function named(query: string): Promise<string[]> {
  return (await rows(platform.ok("GET", `/registry/v2/repos?${query}`), "repos")).map(({ name }) => name);
}

test("an image is pulled by an alias in its group, by tag and by digest, and its tags are listed", async () => {
  const group = await team("pulls");
  await team("others");
  const repo = await platform.repo(group, { name: "node", aliases: ["nodejs", "node.js"] });
  const digest = await pushLayers(target("acme/pulls/node"), "v1", [Buffer.from("layer")]);
  assert.equal((await pull("acme/pulls/nodejs/manifests/v1")).digest, digest);
  assert.equal((await pull(`acme/pulls/node.js/manifests/${digest}`)).digest, digest);
  assert.equal((await pull(`acme/pulls/nodejs/blobs/${digestOf(Buffer.from("layer"))}`)).status, 200);
  assert.deepEqual(JSON.parse((await pull("acme/pulls/nodejs/tags/list")).text), {
    name: "acme/pulls/nodejs",
    tags: ["v1"],
  });
  assert.equal((await pull("acme/pulls/nodejs/_service/history/v1")).status, 200);
  // Neither in another group nor in part.
  assert.equal((await pull("acme/others/nodejs/manifests/v1")).status, 404);
  assert.equal((await pull("acme/nodejs/manifests/v1")).status, 404);
  assert.equal((await pull("acme/pulls/js/manifests/v1")).status, 404);
  // An alias that was taken away leads nowhere, and a repo's own name goes before any alias.
  await platform.ok("PATCH", `/registry/v2/repos/${repo.uid}`, { aliases: ["node.js"] });
  assert.equal((await pull("acme/pulls/nodejs/manifests/v1")).status, 404);
  await platform.repo(group, { name: "nodejs" });
  assert.match((await pull("acme/pulls/nodejs/manifests/v1")).text, /MANIFEST_UNKNOWN/);
});

test("who may not pull the image may not by an alias, and is not said that there is one", async () => {
  const group = await team("rights");
  await platform.repo(group, { name: "app", aliases: ["application"] });
  await pushLayers(target("acme/rights/app"), "v1", [Buffer.from("layer")]);
  const audience = new URL(platform.url).host;
  const stranger = await platform.token(await platform.identity(platform.organization), { audience });
  const answers = [
    await pull("acme/rights/application/manifests/v1", stranger),
    await pull("acme/rights/nothing/manifests/v1", stranger),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403],
  );
  assert.equal(answers[0]?.text.replaceAll("application", "nothing"), answers[1]?.text);
});

test("a push to an alias is rejected and says where to push", async () => {
  const group = await team("pushes");
  await platform.repo(group, { name: "app", aliases: ["application"] });
  await assert.rejects(
    pushLayers(target("acme/pushes/application"), "v1", [Buffer.from("layer")]),
    /400.*NAME_INVALID.*acme\/pushes\/application is an alias of acme\/pushes\/app/,
  );
  assert.deepEqual(await named(`uidp.descendants_of=${group}`), ["app"]);
});

test("an alias that is the name of a repo is rejected, and so is a repo of an alias's name", async () => {
  const group = await team("names");
  const app = await platform.repo(group, { name: "app", aliases: ["first"] });
  await platform.repo(group, { name: "taken" });
  const token = await platform.token();
  const ask = (method: string, uid: string, body: object) =>
    platform.call(method, `/registry/v2/repos/${uid}`, { token, body });
  for (const [method, uid, body, field] of [
    ["POST", group, { name: "one", aliases: ["fine", "taken"] }, "aliases[1]"],
    ["POST", group, { name: "one", aliases: ["one"] }, "aliases[0]"],
    ["PATCH", app.uid, { aliases: ["first", "taken"] }, "aliases[1]"],
    ["PATCH", app.uid, { name: "first" }, "aliases[0]"],
  ] as const) {
    const answer = await ask(method, uid, body);
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], `${method} ${JSON.stringify(body)}`);
  }
  for (const [method, uid, body] of [
    ["POST", group, { name: "first" }],
    ["PATCH", (await platform.repo(group, { name: "moving" })).uid, { name: "first" }],
  ] as const)
    assert.equal(reason(await ask(method, uid, body)), "ALREADY_EXISTS", method);
  assert.deepEqual(await named(`uidp.descendants_of=${group}`), ["app", "moving", "taken"]);
  // Of another group the same names do not matter, and what was there may stay.
  await platform.repo(await team("elsewhere"), { name: "first", aliases: ["app", "taken"] });
  assert.equal((await ask("PATCH", app.uid, { description: "changed", aliases: ["first"] })).status, 200);
  assert.equal((await ask("PATCH", app.uid, { name: "first", aliases: ["app"] })).status, 200);
});

test("an alias that several repos have leads to the one that was made first", async () => {
  const group = await team("several");
  await platform.repo(group, { name: "late", aliases: ["shared"] });
  platform.clock.offsetMs -= 60_000;
  await platform.repo(group, { name: "early", aliases: ["shared"] });
  platform.clock.offsetMs += 60_000;
  const digest = await pushLayers(target("acme/several/early"), "v1", [Buffer.from("layer")]);
  assert.equal((await pull("acme/several/shared/manifests/v1")).digest, digest);
  assert.deepEqual(await named(`uidp.descendants_of=${group}&name=shared`), ["early", "late"]);
});

test("a list by name finds a repo by its alias too, whatever characters it has", async () => {
  const group = await team("lists");
  const odd = 'a"b,"c\\%_';
  await platform.repo(group, { name: "one", aliases: ["uno", odd] });
  await platform.repo(group, { name: "two", aliases: ["dos", "UNO"] });
  const by = (name: string): Promise<string[]> =>
    named(`uidp.descendants_of=${group}&name=${encodeURIComponent(name)}`);
  assert.deepEqual(await by("uno"), ["one"]);
  assert.deepEqual(await by("UNO"), ["two"]);
  assert.deepEqual(await by(odd), ["one"]);
  assert.deepEqual(await by("two"), ["two"]);
  for (const none of ["un", "c\\%_", "b,", "", "aliases", "a%"]) assert.deepEqual(await by(none), [], none);
  // In another group the alias is another repo's name: both are found.
  await platform.repo(await team("lists-too"), { name: "uno" });
  const all = (more = ""): Promise<Json> => platform.ok("GET", `/registry/v2/repos?name=uno&page_size=1${more}`);
  const first = await all();
  assert.deepEqual([first.totalCount, (await rows(first, "repos")).map(({ name }) => name)], ["2", ["one"]]);
  const rest = await platform.ok("GET", `/registry/v2/repos?page_size=1&page_token=${first.nextPageToken}`);
  assert.deepEqual(
    (await rows(rest, "repos")).map(({ name }) => name),
    ["uno"],
  );
});

test("a list is filtered by tier and by bundle", async () => {
  const group = await team("tiers");
  await platform.repo(group, { name: "base", catalogTier: "CATALOG_TIER_BASE", bundles: ["linux"] });
  await platform.repo(group, { name: "ai", catalogTier: "CATALOG_TIER_AI", bundles: ["linux", "gpu"] });
  await platform.repo(group, { name: "none" });
  const by = (filter: string): Promise<string[]> => named(`uidp.descendants_of=${group}&${filter}`);
  assert.deepEqual(await by("catalogTier=CATALOG_TIER_BASE"), ["base"]);
  assert.deepEqual(await by("catalog_tier=CATALOG_TIER_FIPS"), []);
  assert.deepEqual(await by("bundles=linux"), ["ai", "base"]);
  assert.deepEqual(await by("bundles=gpu&bundles=other"), ["ai"]);
  assert.deepEqual(await by("bundles=linux&catalogTier=CATALOG_TIER_AI"), ["ai"]);
  assert.deepEqual(await by("bundles=lin"), []);
  assert.deepEqual(await by(""), ["ai", "base", "none"]);
});
