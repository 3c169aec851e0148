// Libraries of public groups (docs/adr/0037-public-groups.md), as clients read them that have no credentials.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

let platform: Platform;
let binding = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_PUBLIC_GROUPS: "1" });
  for (const name of ["open", "shut"]) {
    await platform.group(platform.organization, { name });
    assert.equal((await publishNpm(platform, `acme/${name}`, "hello", "1.0.0")).status, 201);
    const wheel = { name: "project", version: "1.0" };
    assert.equal((await uploadPypi(platform, `acme/${name}`, { ...wheel, ...wheelOf(wheel) })).status, 200);
  }
  const { groups } = await platform.ok<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=open");
  binding = await platform.bind(groups[0]?.uid ?? "", "everybody", await platform.role("registry.pull"));
});
after(() => platform.close());

const get = (path: string, method = "GET"): Promise<Answer> => platform.call(method, path, {});
const { filename } = wheelOf({ name: "project", version: "1.0" });
const READ = [
  (group: string) => npmPath(group, "hello"),
  (group: string) => `${npmPath(group, "hello")}/-/hello-1.0.0.tgz`,
  (group: string) => `/pypi/${group}/simple/`,
  (group: string) => `/pypi/${group}/simple/project/`,
  (group: string) => `/pypi/${group}/simple/project/${filename}`,
];

test("npm and pip read a public group without credentials, and are asked for them everywhere else", async () => {
  for (const path of READ) {
    const answer = await get(path("acme/open"));
    assert.equal(answer.status, 200, `${path("acme/open")}: ${answer.text}`);
    const [shut, absent] = [await get(path("acme/shut")), await get(path("acme/none"))];
    assert.equal(shut.status, 401, path("acme/shut"));
    assert.match(String(shut.headers["www-authenticate"]), /^Basic /);
    // Nobody learns by the answer which private groups there are.
    assert.equal(absent.status, 401);
    assert.equal(absent.text.replaceAll("none", "shut"), shut.text);
  }
  assert.equal((await get(npmPath("acme/open", "absent"))).status, 404);
});

test("without credentials nothing is published or removed", async () => {
  for (const [method, path] of [
    ["PUT", npmPath("acme/open", "hello")],
    ["DELETE", `${npmPath("acme/open", "hello")}/-rev/1`],
    ["POST", "/pypi/acme/open/legacy/"],
    ["PUT", `${npmPath("acme/open", "-/package/hello/dist-tags/latest")}`],
  ] as const)
    assert.ok([401, 405].includes((await get(path, method)).status), `${method} ${path}`);
});

test("a group that is no longer public asks for credentials again", async () => {
  const [path = () => ""] = READ;
  assert.equal((await get(path("acme/open"))).status, 200);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${encodeURIComponent(binding)}`);
  for (const each of READ) assert.equal((await get(each("acme/open"))).status, 401);
});
