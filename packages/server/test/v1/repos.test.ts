import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { after, before, describe, test } from "node:test";
import { CatalogTier, Registry } from "@moorage/api/v1/registry";
import { blamed, type Json, type Platform, rows, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";
import { statementsRun } from "../support/statements.ts";
import { eventually } from "../support/eventually.ts";

const { createRepo, deleteRepo, listRepos, updateRepo } = Registry.method;
const README_BYTES = 512 * 1024;
const MANY = 100;

describe("repos by v1", () => {
  let platform: Platform;
  before(async () => {
    platform = await startPlatform();
  });
  after(() => platform.close());

  const items = async (query: string): Promise<Json[]> =>
    ((await platform.ok("GET", `/registry/v1/repos?${query}`))["items"] ?? []) as Json[];
  const v2 = (uid: unknown): Promise<Json> => platform.ok("GET", `/registry/v2/repos/${String(uid)}`);
  const source = async (name: string): Promise<string> => {
    await platform.repo(platform.organization, { name });
    return `${platform.bootstrap.organization.name}/${name}`;
  };

  test("what v1 writes v2 reads, and the other way round, for every field", async () => {
    const { organization } = platform;
    const fields = {
      name: "whole",
      bundles: ["base", "web"],
      readme: "# whole",
      aliases: ["total"],
      activeTags: ["1", "latest"],
      description: "all of it",
      syncConfig: { source: await source("origin") },
    };
    const made = await platform.ok("POST", `/registry/v1/repos/${organization}`, { ...fields, catalogTier: "FIPS" });
    const { createTime } = made;
    assert.deepEqual(made, { ...fields, catalogTier: "FIPS", id: made["id"], createTime });
    const read = await v2(made["id"]);
    const { uid, catalogTier, syncConfig, ...rest } = read;
    assert.equal(uid, made["id"]);
    assert.equal(catalogTier, "CATALOG_TIER_FIPS");
    assert.equal((syncConfig as Json)["source"], fields.syncConfig.source);
    for (const name of ["name", "bundles", "readme", "aliases", "activeTags", "description"] as const)
      assert.deepEqual(rest[name], fields[name], name);
    assert.equal(rest.createTime, createTime);

    const other = await platform.repo(organization, {
      ...fields,
      name: "whole-2",
      aliases: ["total-2"],
      catalogTier: "CATALOG_TIER_COMMERCIAL",
    });
    assert.deepEqual(await items(`id=${other.uid}`), [
      {
        ...fields,
        name: "whole-2",
        aliases: ["total-2"],
        catalogTier: "COMMERCIAL",
        id: other.uid,
        createTime: other.createTime,
      },
    ]);
  });

  test("every catalog tier has its own number in each version", async () => {
    const { uid: id } = await platform.repo(platform.organization, { name: "tiers" });
    const names = ["UNKNOWN", "APPLICATION", "BASE", "FIPS", "AI", "DEVTOOLS", "COMMERCIAL"] as const;
    for (const name of names) {
      const token = await platform.token();
      const { message } = await platform.grpc.call(
        updateRepo,
        { id, name: "tiers", catalogTier: CatalogTier[name] },
        token,
      );
      assert.equal(message?.catalogTier, CatalogTier[name]);
      assert.equal((await v2(id))["catalogTier"], `CATALOG_TIER_${name === "UNKNOWN" ? "UNSPECIFIED" : name}`);
    }
    assert.deepEqual(
      names.map((name) => CatalogTier[name]),
      [0, 4, 5, 6, 7, 8, 9],
    );
  });

  test("PUT replaces the whole: what is absent is cleared, what v1 does not have stays", async () => {
    const full = {
      name: "replaced",
      catalogTier: "CATALOG_TIER_AI",
      bundles: ["one"],
      readme: "text",
      aliases: ["instead"],
      activeTags: ["1"],
      description: "before",
      product: { id: "nodejs" },
      tagPolicy: { immutableTags: ["v.*"] },
      syncConfig: { source: await source("from"), tagPattern: "v1.*", pullThrough: true },
    };
    const { uid, createTime } = await platform.repo(platform.organization, full);
    const moved = await source("elsewhere");
    const body = { name: "replaced", createTime: "2001-01-01T00:00:00Z", syncConfig: { source: moved } };
    assert.deepEqual(await platform.ok("PUT", `/registry/v1/repos/${uid}`, body), {
      id: uid,
      name: "replaced",
      createTime,
      syncConfig: { source: moved },
    });
    const after = await v2(uid);
    assert.deepEqual((after["product"] as Json)["id"], "nodejs");
    assert.deepEqual((after["tagPolicy"] as Json)["immutableTags"], ["v.*"]);
    const { tagPattern, pullThrough } = after["syncConfig"] as Json;
    assert.deepEqual({ tagPattern, pullThrough }, { tagPattern: "v1.*", pullThrough: true });
    assert.deepEqual(await platform.ok("PUT", `/registry/v1/repos/${uid}`, { name: "replaced" }), {
      id: uid,
      name: "replaced",
      createTime,
    });
    assert.equal((await v2(uid))["syncConfig"] ?? null, null);
  });

  test("settings of a source that nothing is made of are kept and answered, and do not begin a new turn", async () => {
    const syncConfig = {
      source: await source("ignored"),
      uniqueTags: true,
      gracePeriod: true,
      expiration: "2030-01-01T00:00:00.000Z",
    };
    const made = await platform.ok("POST", `/registry/v1/repos/${platform.organization}`, {
      name: "follows",
      syncConfig,
    });
    assert.deepEqual(made["syncConfig"], syncConfig);
    const id = String(made["id"]);
    const [item] = (await platform.ok("GET", `/registry/v1/repos?id=${id}`))["items"] as Json[];
    assert.deepEqual(item?.["syncConfig"], syncConfig);
    const ofV2 = (await v2(id))["syncConfig"] as Json;
    assert.deepEqual(
      [ofV2["uniqueTags"], ofV2["expirationTime"], ofV2["gracePeriod"]],
      [true, "2030-01-01T00:00:00.000Z", true],
    );
    const turn = async (): Promise<unknown> => (await platform.ok("GET", `/registry/v2/repos/${id}/sync`))["nextTime"];
    // The turn of a new mirror is due immediately: the next one is an hour later.
    await eventually(async () => Date.parse(String(await turn())) > Date.now() + 60_000);
    const before = await turn();
    platform.clock.offsetMs += 1_000;
    const { source: from, expiration } = syncConfig;
    const put = { name: "follows", syncConfig: { source: from, expiration } };
    assert.deepEqual((await platform.ok("PUT", `/registry/v1/repos/${id}`, put))["syncConfig"], {
      source: from,
      expiration,
    });
    assert.equal(await turn(), before);
  });

  test("Create replaces a repo of that name unless it is to prevent that", async () => {
    const { organization } = platform;
    const { uid, createTime } = await platform.repo(organization, {
      name: "again",
      description: "old",
      aliases: ["nick"],
    });
    const create = (query: string, body: object, token?: string) =>
      platform.call("POST", `/registry/v1/repos/${organization}${query}`, { token, body });
    const owner = await platform.token();
    const prevented = await create("?preventExisting=true", { name: "again", readme: "new" }, owner);
    assert.equal(prevented.status, 409, prevented.text);
    assert.equal((await v2(uid)).description, "old");
    assert.deepEqual(
      (
        await platform.grpc.call(
          createRepo,
          { parentId: organization, repo: { name: "again" }, preventExisting: true },
          owner,
        )
      ).error?.code,
      prevented.body.code,
    );
    // The name is an alias of a repo, which is not the one to be replaced.
    assert.equal((await create("", { name: "nick" }, owner)).status, 409);
    assert.deepEqual((await create("", { name: "again", readme: "new" }, owner)).body, {
      id: uid,
      name: "again",
      readme: "new",
      createTime,
    });
    assert.equal((await v2(uid)).description, "");

    const maker = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
      name: "maker",
      capabilities: ["CAP_REPO_CREATE", "CAP_REPO_LIST", "CAP_IAM_GROUPS_LIST"],
    });
    const identity = await platform.identity(organization);
    await platform.bind(organization, identity, maker.uid);
    const token = await platform.token(identity);
    assert.equal((await create("", { name: "fresh" }, token)).status, 200);
    const denied = await create("", { name: "again", readme: "theirs" }, token);
    assert.equal(denied.status, 403, denied.text);
    assert.equal((await v2(uid))["readme"], "new");
  });

  test("lists are filtered by id, name, alias and place", async () => {
    const team = await platform.group(platform.organization, { name: "listed" });
    const inner = await platform.group(team.uid, { name: "inner" });
    const one = await platform.repo(team.uid, { name: "one", aliases: ["uno"] });
    const two = await platform.repo(inner.uid, { name: "two" });
    const ids = async (query: string): Promise<unknown[]> => (await items(query)).map((each) => each["id"]);
    assert.deepEqual(await ids(`uidp.descendantsOf=${team.uid}`), [one.uid, two.uid]);
    assert.deepEqual(await ids(`uidp.childrenOf=${team.uid}`), [one.uid]);
    assert.deepEqual(await ids(`uidp.descendants_of=${team.uid}&name=two`), [two.uid]);
    assert.deepEqual(await ids(`uidp.descendantsOf=${team.uid}&name=uno`), [one.uid]);
    assert.deepEqual(await ids(`uidp.ids=${one.uid}&uidp.ids=${two.uid}`), [one.uid, two.uid]);
    assert.deepEqual(await ids(`uidp.ids=${one.uid}&id=${two.uid}`), []);
    assert.deepEqual(await ids(`id=${two.uid}`), [two.uid]);
    assert.deepEqual(await ids("uidp.inRoot=true"), []);
    for (const missing of [`${team.uid}/0123456789abcdef`, "nothing"])
      assert.deepEqual(await platform.ok("GET", `/registry/v1/repos?id=${missing}`), {});
  });

  test("a repo is deleted; one that is not there is not found", async () => {
    const { uid } = await platform.repo(platform.organization, { name: "gone" });
    assert.equal(
      (await platform.call("DELETE", `/registry/v1/repos/${uid}`, { token: await platform.token() })).text,
      "",
    );
    const token = await platform.token();
    assert.equal((await both(platform, deleteRepo, { id: uid }, token)).status, 404);
    assert.equal((await both(platform, updateRepo, { id: uid, name: "gone" }, token)).status, 404);
    assert.equal((await both(platform, createRepo, { parentId: uid, repo: { name: "below" } }, token)).status, 404);
  });

  test("errors name the fields as v1 has them", async () => {
    const { organization } = platform;
    const { uid } = await platform.repo(organization, { name: "checked" });
    const token = await platform.token();
    const create = (repo: object) => both(platform, createRepo, { parentId: organization, repo }, token);
    assert.deepEqual(blamed(await create({})), ["name"]);
    assert.deepEqual(blamed(await create({ name: "Wrong Name" })), ["name"]);
    assert.deepEqual(blamed(await create({ name: "x", syncConfig: { source: "not a source" } })), [
      "syncConfig.source",
    ]);
    assert.deepEqual(blamed(await create({ name: "x", aliases: ["checked"] })), ["aliases[0]"]);
    assert.deepEqual(blamed(await both(platform, updateRepo, { id: uid }, token)), ["name"]);
    const { error } = await platform.grpc.call(updateRepo, { id: "", name: "x" }, token);
    assert.deepEqual(error && blamed({ body: error }), ["id"]);
    const tier = await platform.call("PUT", `/registry/v1/repos/${uid}`, {
      token,
      body: { name: "x", catalogTier: 1 },
    });
    assert.deepEqual(blamed(tier), ["catalogTier"]);
  });

  test("no token, a stranger, a viewer and an owner", async () => {
    const { uid: parentId } = await platform.group(platform.organization, { name: "guarded" });
    const { uid: id } = await platform.repo(parentId, { name: "guarded" });
    const { uid: elsewhere } = await platform.group(platform.organization, { name: "other-team" });
    const tokens = {
      none: undefined,
      stranger: await platform.token(await platform.identity(elsewhere, "owner")),
      viewer: await platform.token(await platform.identity(parentId, "viewer")),
    };
    const statuses = async (call: (token: string | undefined) => ReturnType<typeof both>): Promise<number[]> => {
      const found: number[] = [];
      for (const token of Object.values(tokens)) found.push((await call(token)).status);
      return found;
    };
    const repo = { name: "guarded" };
    assert.deepEqual(
      {
        create: await statuses((token) => both(platform, createRepo, { parentId, repo }, token)),
        update: await statuses((token) => both(platform, updateRepo, { id, ...repo }, token)),
        list: await statuses((token) => both(platform, listRepos, { id }, token)),
        delete: await statuses((token) => both(platform, deleteRepo, { id }, token)),
      },
      { create: [401, 404, 403], update: [401, 404, 403], list: [401, 200, 200], delete: [401, 404, 403] },
    );
    assert.equal((await both(platform, listRepos, { id }, tokens.stranger)).text, "{}");
    const seen = (await both(platform, listRepos, { id }, tokens.viewer)).body;
    assert.deepEqual(
      (await rows(seen, "items")).map((each) => each["id"]),
      [id],
    );
  });

  test("many repos with readmes are one list; it is not read on when the client leaves", async () => {
    const team = await platform.group(platform.organization, { name: "many" });
    const readme = "x".repeat(README_BYTES);
    for (let at = 0; at < MANY; at += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, which) => platform.repo(team.uid, { name: `many-${at + which}` })),
      );
    await platform.transact((tx) => tx.updateTable("repos").set({ readme }).where("parent", "=", team.uid).execute());
    const path = `/registry/v1/repos?uidp.childrenOf=${team.uid}`;
    const whole = async (): Promise<void> => {
      const { items: all } = await platform.ok<{ items: { readme: string }[] }>("GET", path);
      assert.equal(all.length, MANY);
      assert.ok(all.every((each) => each.readme === readme));
    };
    const readmes = async (work: () => Promise<void>): Promise<number> =>
      (await statementsRun(work)).filter(({ values }) => String(values[0]).startsWith(`${team.uid}/`)).length;
    const cost = await readmes(whole);
    assert.ok(cost > 2, `${cost} statements`);
    const token = await platform.token();
    const partly = await readmes(async () => {
      const request = get(`${platform.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      const [response] = await once(request, "response");
      await once(response, "readable");
      request.destroy();
      await whole();
    });
    assert.ok(partly < 2 * cost, `${partly} statements, ${cost} for a whole list`);
  });
});
