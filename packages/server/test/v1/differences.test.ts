import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bindingsOf } from "../../src/transport/rest/routes.ts";
import { V1_SERVICES } from "../../src/v1/index.ts";
import { type Answer, type Platform, startPlatform } from "../support/platform.ts";

type Fields = Record<string, unknown>;

// Each line of the table "Differences from v1" of the specification, done in v1 and in v2.
describe("what differs between v1 and v2", () => {
  let platform: Platform;
  before(async () => {
    platform = await startPlatform();
  });
  after(() => platform.close());

  const asked = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    platform.call(method, path, { token: await platform.token(), body });
  const ok = async (method: string, path: string, body?: unknown): Promise<Fields> =>
    platform.ok<Fields>(method, path, body);
  const items = async (path: string): Promise<Fields[]> => ((await ok("GET", path))["items"] ?? []) as Fields[];

  test("field naming: id and createdAt, uid and createTime", async () => {
    const { organization } = platform;
    const made = await ok("POST", `/iam/v1/identities/${organization}`, { name: "named" });
    const read = await ok("GET", `/iam/v2/identities/${String(made["id"])}`);
    assert.deepEqual(
      [made["id"], made["name"], made["createdAt"], made["updatedAt"]],
      [read["uid"], read["name"], read["createTime"], read["updateTime"]],
    );
    assert.equal("uid" in made || "createTime" in made, false);
    assert.equal("id" in read || "createdAt" in read, false);
    // Both spellings of a field are read.
    const spelled = await ok("POST", `/iam/v1/account_associations/${organization}`, {
      name: "spelled",
      google: { project_id: "acme-prod", projectNumber: "12345678" },
    });
    assert.deepEqual(spelled["google"], { projectId: "acme-prod", projectNumber: "12345678" });
  });

  test("create: the parent is in the path of both", async () => {
    const { uid: parent } = await platform.group(platform.organization);
    const one = await ok("POST", `/registry/v1/repos/${parent}`, { name: "one" });
    const other = await ok("POST", `/registry/v2/repos/${parent}`, { name: "other" });
    assert.ok(String(one["id"]).startsWith(`${parent}/`) && String(other["uid"]).startsWith(`${parent}/`));
    const { status } = await asked("POST", "/registry/v1/repos", { name: "nowhere" });
    assert.equal(status, 405);
  });

  test("single resource: a list by id, and a Get", async () => {
    const { uid } = await platform.repo(platform.organization, { description: "alone" });
    const found = await items(`/registry/v1/repos?id=${uid}`);
    assert.deepEqual(
      found.map(({ id, description }) => [id, description]),
      [[uid, "alone"]],
    );
    assert.equal((await ok("GET", `/registry/v2/repos/${uid}`))["description"], "alone");
    assert.equal((await asked("GET", `/registry/v1/repos/${uid}`)).status, 405);
  });

  test("list: everything at once, and pages with a total", async () => {
    const { uid: parent } = await platform.group(platform.organization);
    for (let at = 0; at < 60; at++) await platform.group(parent, { name: `part-${at}` });
    const whole = await ok("GET", `/iam/v1/groups?uidp.childrenOf=${parent}`);
    assert.deepEqual(Object.keys(whole), ["items"]);
    assert.equal((whole["items"] as unknown[]).length, 60);
    const page = await ok("GET", `/iam/v2/groups?uidp.childrenOf=${parent}`);
    assert.deepEqual([(page["groups"] as unknown[]).length, page["totalCount"], page["skipped"]], [50, "60", 0]);
    assert.notEqual(page["nextPageToken"], "");
    const paged = await asked("GET", `/iam/v1/groups?uidp.childrenOf=${parent}&page_size=10`);
    assert.equal(paged.status, 400);
    assert.match(paged.body.message, /page_size/);
  });

  test("update: PUT replaces the whole, PATCH what its mask names", async () => {
    const { uid } = await platform.repo(platform.organization, { name: "put", description: "first", aliases: ["old"] });
    const replaced = await ok("PUT", `/registry/v1/repos/${uid}`, { name: "put", readme: "# put" });
    assert.deepEqual(
      [replaced["description"], replaced["aliases"], replaced["readme"]],
      [undefined, undefined, "# put"],
    );
    const patched = await ok("PATCH", `/registry/v2/repos/${uid}?updateMask=description`, { description: "second" });
    assert.deepEqual([patched["description"], patched["readme"]], ["second", "# put"]);
    assert.equal((await asked("PATCH", `/registry/v1/repos/${uid}`, {})).status, 405);
    assert.equal((await asked("PUT", `/registry/v2/repos/${uid}`, {})).status, 405);
  });

  test("delete: a blocked one fails in both, and says by what", async () => {
    const { uid } = await platform.group(platform.organization);
    await platform.repo(uid);
    for (const version of ["v1", "v2"]) {
      const { status, body } = await asked("DELETE", `/iam/${version}/groups/${uid}`);
      assert.deepEqual([status, body.code], [400, 9], version);
      assert.deepEqual(
        body.details.flatMap(({ violations = [] }) => violations.map(({ type }) => type)),
        ["RESOURCE_NOT_EMPTY"],
        version,
      );
    }
  });

  test("errors: a missing resource is an empty answer of v1, and NOT_FOUND in v2", async () => {
    const missing = `${platform.organization}/0123456789abcdef`;
    const listed = await asked("GET", `/registry/v1/repos?id=${missing}`);
    assert.deepEqual([listed.status, listed.text], [200, "{}"]);
    assert.equal((await asked("GET", `/registry/v2/repos/${missing}`)).status, 404);
    for (const [method, body] of [
      ["PUT", { name: "missing" }],
      ["DELETE", undefined],
    ] as const)
      assert.equal((await asked(method, `/registry/v1/repos/${missing}`, body)).status, 404, method);
  });

  test("docs/api/v1.md has a row for every method", async () => {
    const { readFile } = await import("node:fs/promises");
    const text = await readFile(new URL("../../../../docs/api/v1.md", import.meta.url), "utf8");
    for (const { method, verb, template } of bindingsOf([...V1_SERVICES])) {
      const name = `${method.parent.typeName.replace(/^moorage\./, "")}.${method.name}`;
      const row = text.split("\n").find((line) => line.startsWith(`| \`${name}\` `));
      assert.ok(row?.includes(`\`${verb} ${template.collection}`), name);
    }
  });
});
