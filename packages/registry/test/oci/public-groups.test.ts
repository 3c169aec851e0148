// Public groups (docs/adr/0037-public-groups.md): who reads them, and what nobody gets by them.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";

const ON = { MOORAGE_PUBLIC_GROUPS: "1" };
type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** An installation with an image in each of three groups, of which `open` is public where that is allowed. */
async function world(t: TestContext, env: Record<string, string> = ON, dataDir = temporaryFolder(t)) {
  const installation = await startInstallation(t, env, dataDir);
  const { api, pushImage, bootstrap, roleUid } = installation;
  const org = bootstrap.organization.uid;
  const [open, shut] = [
    (await api("POST", `/iam/v2/groups/${org}`, { name: "open" })).uid,
    (await api("POST", `/iam/v2/groups/${org}`, { name: "shut" })).uid,
  ];
  const inner = (await api("POST", `/iam/v2/groups/${open}`, { name: "inner" })).uid;
  const image = await pushImage("acme/open/app", "v1", "open");
  await pushImage("acme/open/inner/app", "v1", "inner");
  const secret = await pushImage("acme/shut/app", "v1", "secret");
  await pushImage("acme/app", "v1", "above");
  const puller = await roleUid("registry.pull");
  return { ...installation, org, open, shut, inner, image, secret, puller, dataDir };
}

const bindTo = (
  { ask, platform }: Pick<Installation, "ask"> & { platform: string },
  group: string,
  identityUid: string,
  roleUid: string,
): Promise<Answer> => ask("POST", `/iam/v2/roleBindings/${group}`, { token: platform, json: { identityUid, roleUid } });

const anonymous = async ({ grantsOf }: Pick<Installation, "grantsOf">, ...names: string[]): Promise<string> =>
  (await grantsOf(names.map((name) => `repository:${name}:pull`))).token;

/** What an error says, without the name that was asked for. */
const without = (answer: Answer, name: string): [number, string] => [
  answer.status,
  answer.text.replaceAll(name, "NAME").replaceAll(/"requestId":"[^"]*"/g, ""),
];

test("everybody pulls from a public group and what is below it, and from nowhere else", async (t) => {
  const at = await world(t);
  const { ask, api } = at;
  const names = [
    "acme/open/app",
    "acme/open/inner/app",
    "acme/shut/app",
    "acme/app",
    "acme/absent",
    "acme/open/absent",
  ];
  assert.deepEqual((await at.grantsOf(names.map((name) => `repository:${name}:pull,push,delete`))).access, {});
  const bound = await bindTo(at, at.open, "everybody", at.puller);
  assert.equal(bound.status, 200, bound.text);
  const { identity, inactiveReason } = bound.json as unknown as {
    identity: Record<string, string>;
    inactiveReason?: string;
  };
  assert.deepEqual(
    [identity["uid"], identity["name"], identity["description"]],
    ["everybody", "everybody", "every caller, also without a log-in"],
  );
  assert.equal(inactiveReason ?? "", "");
  const listed = await api<{ roleBindings: { uid: string }[] }>("GET", "/iam/v2/roleBindings?identity=everybody");
  assert.deepEqual(
    listed.roleBindings.map(({ uid }) => uid),
    [bound.json.uid],
  );

  const { token, access } = await at.grantsOf(names.map((name) => `repository:${name}:pull,push,delete`));
  assert.deepEqual(access, {
    "acme/open/app": ["pull"],
    "acme/open/inner/app": ["pull"],
    "acme/open/absent": ["pull"],
  });
  for (const path of [
    "manifests/v1",
    `manifests/${at.image.digest}`,
    `blobs/${at.image.layer}`,
    "tags/list",
    `referrers/${at.image.digest}`,
    "_service/history/v1",
  ])
    assert.equal((await ask("GET", `/v2/acme/open/app/${path}`, { token })).status, 200, path);
  assert.equal((await ask("GET", "/v2/acme/open/absent/manifests/v1", { token })).status, 404);

  // A private path is answered as one that is not there, whatever is asked and by whichever token.
  const all = await anonymous(at, ...names);
  for (const path of ["manifests/v1", `manifests/${at.secret.digest}`, `blobs/${at.secret.layer}`, "tags/list"])
    assert.deepEqual(
      without(await ask("GET", `/v2/acme/shut/app/${path}`, { token: all }), "acme/shut/app"),
      without(await ask("GET", `/v2/acme/none/app/${path}`, { token: all }), "acme/none/app"),
      path,
    );
  // Content of another repo is not read through the public one.
  assert.equal((await ask("GET", `/v2/acme/open/app/blobs/${at.secret.layer}`, { token })).status, 404);

  const { token: lists } = (await ask("GET", "/token?scope=registry:catalog:*")).json;
  const { repositories } = (await ask("GET", "/v2/_catalog", { token: lists })).json as unknown as {
    repositories: string[];
  };
  assert.deepEqual(repositories, ["acme/open/app", "acme/open/inner/app"]);
});

test("nobody writes by a public group, and the API stays closed without a token", async (t) => {
  const at = await world(t);
  const { ask } = at;
  await bindTo(at, at.open, "everybody", at.puller);
  const token = await anonymous(at, "acme/open/app");
  for (const [method, path] of [
    ["POST", "blobs/uploads/"],
    ["PUT", "manifests/v2"],
    ["DELETE", "manifests/v1"],
    ["DELETE", `blobs/${at.image.layer}`],
    ["POST", `blobs/uploads/?mount=${at.image.layer}&from=acme/open/app`],
  ] as const) {
    const answer = await ask(method, `/v2/acme/open/app/${path}`, {
      token,
      ...(method !== "DELETE" && { bytes: "{}" }),
    });
    assert.ok([401, 403].includes(answer.status), `${method} ${path}: ${answer.status}`);
    // Whoever has pulled without a log-in may not know that a push takes one.
    if (method !== "DELETE") assert.match(answer.text, /Unauthenticated: log in first: to push acme\/open\/app, /);
  }
  for (const path of [
    "/registry/v2/repos",
    "/iam/v2/groups",
    "/iam/v2/roleBindings",
    `/iam/v2/capabilities/${at.open}`,
  ])
    assert.equal((await ask("GET", path)).status, 401, path);
  assert.equal((await ask("GET", "/v2/acme/open/app/manifests/v1", { token })).status, 200);
});

test("a role with more than reading takes is bound to nobody in general, and counts for no more when it grows", async (t) => {
  const at = await world(t);
  const { api, roleUid, ask } = at;
  for (const name of ["owner", "editor", "viewer", "registry.push", "registry.pull_token_creator"])
    for (const identity of ["everybody", "signed-in"]) {
      const answer = await bindTo(at, at.open, identity, await roleUid(name));
      assert.equal(answer.status, 400, name);
      assert.match(answer.text, /roleUid.*cannot hold|cannot hold.*roleUid/s);
    }
  const own = await api("POST", `/iam/v2/roles/${at.org}`, {
    name: "reads",
    capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_REPO_BLOBS_GET"],
  });
  const bound = await bindTo(at, at.open, "everybody", own.uid);
  assert.equal(bound.status, 200, bound.text);
  await api("PATCH", `/iam/v2/roles/${encodeURIComponent(own.uid)}`, {
    capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_REPO_BLOBS_GET", "CAP_MANIFEST_CREATE", "CAP_TAG_CREATE"],
  });
  const { access } = await at.grantsOf(["repository:acme/open/app:pull,push,delete"]);
  assert.deepEqual(access, { "acme/open/app": ["pull"] });
  const { identity } = await at.addIdentity(at.shut, "other", "registry.pull");
  const registry = await at.tokenFor("registry", identity);
  const push = await at.pushImage("acme/open/app", "v2", "two", { token: registry });
  assert.equal(push.answer.status, 403, push.answer.text);
  // Nor by changing the binding afterwards, or in a batch.
  const wider = await ask("PATCH", `/iam/v2/roleBindings/${encodeURIComponent(bound.json.uid)}`, {
    token: at.platform,
    json: { identityUid: "everybody", roleUid: await roleUid("owner") },
  });
  assert.equal(wider.status, 400, wider.text);
  const batch = await ask("POST", "/iam/v2/roleBindings:batchCreate", {
    token: at.platform,
    json: {
      parent: at.open,
      roleUid: await roleUid("editor"),
      requests: [{ roleBinding: { identityUid: "signed-in" } }],
    },
  });
  assert.equal(batch.status, 400, batch.text);
});

test("only who may bind roles there makes a group public", async (t) => {
  const at = await world(t);
  for (const role of ["viewer", "editor", "registry.push"]) {
    const { identity } = await at.addIdentity(at.open, role, role);
    const answer = await bindTo(
      { ...at, platform: await at.tokenFor("platform", identity) },
      at.open,
      "everybody",
      at.puller,
    );
    assert.equal(answer.status, 403, `${role}: ${answer.text}`);
  }
  const { identity } = await at.addIdentity(at.open, "owner-of-open", "owner");
  const platform = await at.tokenFor("platform", identity);
  for (const group of [at.org, at.shut])
    assert.notEqual((await bindTo({ ...at, platform }, group, "everybody", at.puller)).status, 200);
  assert.equal((await bindTo({ ...at, platform }, at.open, "everybody", at.puller)).status, 200);
});

test("signed-in is every identity of the installation, machines of other groups too, and nobody without a token", async (t) => {
  const at = await world(t);
  const { identity } = await at.addIdentity(at.shut, "machine", "registry.pull");
  const machine = await at.tokenFor("registry", identity);
  const ask = (token: string): Promise<Answer> => at.ask("GET", "/v2/acme/open/app/manifests/v1", { token });
  assert.equal((await ask(machine)).status, 403);
  const bound = await bindTo(at, at.open, "signed-in", at.puller);
  assert.equal(bound.status, 200, bound.text);
  assert.equal((await ask(machine)).status, 200);
  assert.deepEqual((await at.grantsOf(["repository:acme/open/app:pull"])).access, {});
  assert.equal((await ask(await anonymous(at, "acme/open/app"))).status, 403);
  assert.equal((await at.ask("GET", "/v2/acme/app/manifests/v1", { token: machine })).status, 403);
});

test("what was public is not from the next request on, cached answers included", async (t) => {
  const at = await world(t);
  const { json } = await bindTo(at, at.open, "everybody", at.puller);
  const token = await anonymous(at, "acme/open/app");
  const pull = async (): Promise<number> => (await at.ask("GET", "/v2/acme/open/app/manifests/v1", { token })).status;
  for (let n = 0; n < 3; n += 1) assert.equal(await pull(), 200);
  await at.api("DELETE", `/iam/v2/roleBindings/${encodeURIComponent(json.uid)}`);
  assert.equal(await pull(), 403);
});

test("without the setting nobody is bound, and what was bound counts for nothing and is shown so", async (t) => {
  const at = await world(t);
  const { json } = await bindTo(at, at.open, "everybody", at.puller);
  await at.close();

  const off = await startInstallation(t, {}, at.dataDir);
  assert.deepEqual((await off.grantsOf(["repository:acme/open/app:pull"])).access, {});
  const machine = await off.tokenFor("registry", (await off.addIdentity(at.shut, "machine", "registry.pull")).identity);
  assert.equal((await off.ask("GET", "/v2/acme/open/app/manifests/v1", { token: machine })).status, 403);
  const shown = await off.api<{ inactiveReason: string }>(
    "GET",
    `/iam/v2/roleBindings/${encodeURIComponent(json.uid)}`,
  );
  assert.equal(shown.inactiveReason, "MOORAGE_PUBLIC_GROUPS is off");
  const refused = await bindTo({ ...off, platform: off.platform }, at.shut, "everybody", at.puller);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /PUBLIC_GROUPS_OFF/);
  const explained = await off.api<{ allowed: boolean; steps: { message: string }[] }>(
    "POST",
    "/iam/v2/access:explain",
    {
      anonymous: true,
      action: "REGISTRY_ACTION_PULL",
      resource: "acme/open/app:v1",
    },
  );
  assert.equal(explained.allowed, false);
  assert.ok(
    explained.steps.some(({ message }) => /of everybody.*does not count: MOORAGE_PUBLIC_GROUPS is off/.test(message)),
  );
  await off.close();

  const again = await startInstallation(t, ON, at.dataDir);
  assert.deepEqual((await again.grantsOf(["repository:acme/open/app:pull"])).access, { "acme/open/app": ["pull"] });
  const now = await again.api<{ allowed: boolean; steps: { message: string }[] }>("POST", "/iam/v2/access:explain", {
    anonymous: true,
    action: "REGISTRY_ACTION_PULL",
    resource: "acme/open/app:v1",
  });
  assert.equal(now.allowed, true);
  assert.ok(
    now.steps.some(({ message }) => /the binding of everybody to role registry.pull on group open gives/.test(message)),
  );
});

test("pulls without a log-in are counted as those of the anonymous caller", async (t) => {
  const at = await world(t, { ...ON, MOORAGE_WORK_POLL: "20ms" });
  await bindTo(at, at.open, "everybody", at.puller);
  const token = await anonymous(at, "acme/open/app");
  assert.equal((await at.ask("GET", "/v2/acme/open/app/manifests/v1", { token })).status, 200);
  await eventually(async () => {
    const { pulls } = await at.api<{ pulls: { identity?: string; count: string }[] }>(
      "GET",
      `/registry/v2/pulls?uidp.descendants_of=${at.org}&group_by=PULL_GROUPING_IDENTITY`,
    );
    return pulls.some(({ identity = "", count }) => identity === "" && Number(count) >= 1);
  });
});
