// Who may install, publish and remove, with which credentials, and what is answered to whoever may not.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let team = "";
before(async () => {
  platform = await startPlatform();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  await platform.group(platform.organization, { name: "elsewhere" });
  assert.equal((await publishNpm(platform, "acme/team", "hello", "1.0.0")).status, 201);
});
after(() => platform.close());

const PATH = npmPath("acme/team", "hello");
const TARBALL = `${PATH}/-/hello-1.0.0.tgz`;
const get = (path: string, authorization?: string): Promise<Answer> =>
  platform.call("GET", path, authorization === undefined ? {} : { headers: { authorization } });
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const holder = async (role: string, group = team): Promise<string> =>
  platform.token(await platform.identity(group, role));

test("without a token, and with a wrong one, the answer is 401 with a Basic challenge", async () => {
  for (const authorization of [undefined, "Bearer nonsense", basic("ann", "nonsense"), "Basic ???"]) {
    const answer = await get(PATH, authorization);
    assert.equal(answer.status, 401, answer.text);
    assert.match(String(answer.headers["www-authenticate"]), /^Basic realm="http/);
    assert.match(String(answer.body["error"]), /^Unauthenticated: /);
  }
});

test("tokens of the platform and of the registry are taken as Bearer and as a password", async () => {
  const own = await holder("viewer");
  const audience = new URL(platform.url).host;
  const registry = await platform.token(await platform.identity(team, "viewer"), { audience });
  for (const secret of [own, registry])
    for (const authorization of [`Bearer ${secret}`, basic("anyone", secret), basic("", secret)])
      assert.equal((await get(PATH, authorization)).status, 200, authorization.slice(0, 10));
});

test("a token for one image alone opens no libraries", async () => {
  const { body } = await platform.call("GET", "/token?scope=repository:acme/team/app:pull", {
    headers: { authorization: basic("", await holder("viewer")) },
  });
  const answer = await get(PATH, `Bearer ${String(body["token"])}`);
  assert.equal(answer.status, 403, answer.text);
  assert.match(String(answer.body["error"]), /for images of the registry alone/);
});

test("a deleted identity's token ends with the next request", async () => {
  const identity = await platform.identity(team, "viewer");
  const password = basic("ci", await platform.token(identity));
  assert.equal((await get(PATH, password)).status, 200);
  await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
  assert.equal((await get(PATH, password)).status, 401);
});

test("roles: who installs, who publishes, and who removes", async () => {
  const outcomes: Record<string, number[]> = {};
  for (const role of ["viewer", "registry.pull", "registry.push", "editor", "console_viewer", "auditor"]) {
    const token = await holder(role);
    const published = await publishNpm(
      platform,
      "acme/team",
      `by-${role.replace(".", "-").replace("_", "-")}`,
      "1.0.0",
      { token },
    );
    const removed = await platform.call("DELETE", `${PATH}/-rev/0-0`, { token });
    outcomes[role] = [
      (await get(PATH, `Bearer ${token}`)).status,
      (await get(TARBALL, `Bearer ${token}`)).status,
      published.status,
      removed.status,
    ];
  }
  assert.deepEqual(outcomes, {
    viewer: [200, 200, 403, 403],
    "registry.pull": [200, 200, 403, 403],
    "registry.push": [200, 200, 201, 403],
    editor: [200, 200, 201, 409],
    console_viewer: [403, 403, 403, 403],
    auditor: [403, 403, 403, 403],
  });
});

test("whoever may not read learns neither which packages nor which groups there are, and why not", async () => {
  const token = await holder("viewer", (await platform.group(platform.organization)).uid);
  for (const path of [PATH, TARBALL, npmPath("acme/team", "nothing"), npmPath("acme/nothing", "hello")]) {
    const answer = await get(path, `Bearer ${token}`);
    assert.equal(answer.status, 403, path);
    assert.match(String(answer.body["error"]), /lacks CAP_LIBRARIES_JAVASCRIPT_READ for acme\//);
  }
  const member = await holder("viewer");
  assert.equal((await get(npmPath("acme/team", "nothing"), `Bearer ${member}`)).status, 404);
});

test("what was rejected, and who published, is in the audit log", async () => {
  const identity = await platform.identity(team, "viewer");
  const token = await platform.token(identity);
  assert.equal((await publishNpm(platform, "acme/team", "refused", "1.0.0", { token })).status, 403);
  const entry = await eventually(
    async () => (await rows(platform.ok("GET", `/iam/v2/auditEntries?identity=${identity}`), "auditEntries"))[0],
  );
  assert.equal(entry["method"], "libraries.npm.write");
  const all = await rows(platform.ok("GET", `/iam/v2/auditEntries?page_size=200`), "auditEntries");
  assert.ok(all.some(({ method }) => method === "libraries.version.published"));
});
