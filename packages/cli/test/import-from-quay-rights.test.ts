// Robots and teams of Quay's organizations move in. Quay is a fake, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

interface Secret {
  robot?: string;
  username: string;
  password: string;
  email?: string;
  made: boolean;
}

/** The status of a manifest for who has this password; 0 when the registry gives no token for it. */
async function pull({ url, host }: Stage, { username, password }: Secret, image: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${url}/token?service=${host}&scope=repository:${image}:pull`, {
    headers: { authorization },
  });
  if (!answer.ok) return 0;
  const { token } = (await answer.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/v2/${image}/manifests/1`, { method: "HEAD", headers })).status;
}

test("robots of Quay come with the images that they may use, and teams as far as their people are known", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  for (const image of ["acme/app:1", "acme/other:1"]) await there.push(image, 1);
  await here.ok("groups", "create", "acme/old");
  const acme = (await here.json<{ uid: string }>("groups", "get", "acme")).uid;
  const oidc = { issuer: "https://login.example.com", clientId: "moorage", groupsClaim: "groups" };
  await here.api("POST", `/iam/v2/identityProviders/${acme}`, { name: "login", oidc });
  const tags = [{ name: "1", start_ts: Date.parse("2024-01-01T00:00:00Z") / 1000, manifest_digest: BUILD[1] }];
  const on = (name: string, role: unknown) => ({ repository: { name, is_public: false }, role });
  const { url } = await startFakeQuay(
    t,
    there.url,
    { "acme/app": tags, "acme/other": tags },
    {
      "organization/acme/robots": {
        robots: [
          { name: "acme+nodes", teams: [], repositories: ["app"] },
          { name: "acme+ci", teams: [{ name: "builders" }], repositories: ["app"] },
          { name: "acme+odd", repositories: ["app", "gone"] },
          { name: "acme+mute" },
          { name: "beta+ci" },
          { name: "acme+\u001b[31m" },
          7,
        ],
      },
      "organization/acme/robots/nodes/permissions": { permissions: [on("app", "read")] },
      "organization/acme/robots/ci/permissions": { permissions: [on("app", "write")] },
      "organization/acme/robots/odd/permissions": {
        permissions: [on("app", "constructor"), on("gone", "read"), on("../../iam", "read"), { repository: "app" }],
      },
      "organization/acme": {
        teams: {
          owners: { name: "owners", role: "admin" },
          staff: { name: "staff", role: "admin" },
          ldap: { name: "ldap", role: "admin" },
          lost: { name: "lost", role: "admin" },
          builders: { name: "builders", role: "member" },
        },
      },
      "organization/acme/team/owners/members": {
        members: [
          { name: "ada", kind: "user", is_robot: false, invited: false },
          { name: "acme+ci", kind: "user", is_robot: true },
          { email: "bob@example.com", kind: "invite", invited: true },
          { email: "bob@example.com\n", kind: "invite", invited: true },
          7,
        ],
      },
      "organization/acme/team/staff/members": {
        members: [],
        synced: { service: "oidc", config: { group_name: "staff" } },
      },
      "organization/acme/team/ldap/members": { members: [], synced: { service: "ldap", config: {} } },
    },
  );
  const command = ["import-from", "quay", url, "--into", "acme/old"];
  const read = ["--username", "$oauthtoken", "--password-file", "password", "--namespace", "acme"];
  const plan = async (): Promise<PlanItem[]> => {
    await here.ok(...command, "--plan", "plan.json", ...read);
    const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
    return items.filter(({ kind }) => !["group", "repo", "tag"].includes(kind));
  };
  const unnamed = "has a name that no robot of the organization can have";
  const unknown = "Quay says neither its address nor its subject";
  assert.deepEqual(
    (await plan()).map(({ kind, source, target, action, why }) => `${kind} ${source} ${target || action}: ${why}`),
    [
      "robot acme+nodes: app acme/old/acme/app: with --secrets, by a new password",
      "robot acme+ci, by its teams cannot: rights by teams do not come",
      "robot acme+ci: app acme/old/acme/app: with --secrets, by a new password",
      "robot acme+odd: app cannot: has a permission that is not known here",
      "robot acme+odd: gone cannot: is for a repository that does not come",
      "robot acme+odd: ../../iam cannot: is for a repository that does not come",
      "robot acme+odd:  cannot: is for a repository that does not come",
      "robot acme+mute cannot: the source has no permissions there: is it an organization?",
      `robot acme: beta+ci cannot: ${unnamed}`,
      `robot acme: acme+\u001b[31m cannot: ${unnamed}`,
      `robot acme: robot 7 cannot: ${unnamed}`,
      `binding acme: team owners, ada cannot: ${unknown}`,
      "binding acme: team owners, acme+ci cannot: is a robot, which owns nothing here",
      "invite acme: team owners, bob@example.com: owner acme/old/acme: with --secrets: nobody here is known as that person",
      `binding acme: team owners, member 4 cannot: ${unknown}`,
      `binding acme: team owners, member 5 cannot: ${unknown}`,
      "mapping acme: team staff: owner acme/old/acme: ",
      "mapping acme: team ldap cannot: follows something other than a group of OpenID Connect",
      "mapping acme: team lost cannot: the source has no list of its members",
      "mapping acme: team builders cannot: gives rights on single repositories, if any",
    ],
  );
  const pullAs = ["--pull-username", "robot", "--pull-password-file", "password"];
  const apply = [...command, "--apply", "plan.json", ...pullAs];
  const { failed } = await here.json<{ failed: object[] }>(...apply, "--secrets", "secrets");
  assert.deepEqual(failed, []);
  const secrets = readFileSync(join(here.folder, "secrets"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Secret)
    .filter(({ made }) => made);
  assert.deepEqual(
    secrets.map(({ robot, email }) => robot ?? email),
    ["acme+nodes: app", "acme+ci: app", "bob@example.com"],
  );
  for (const secret of secrets.filter(({ robot }) => robot !== undefined)) {
    assert.equal(await pull(here, secret, "acme/old/acme/app"), 200);
    assert.notEqual(await pull(here, secret, "acme/old/acme/other"), 200);
  }
  const again = await here.json<{ counts: { kind: string; same: number; done: number }[] }>(
    ...apply,
    "--secrets",
    "others",
  );
  assert.deepEqual(
    again.counts
      .filter(({ kind }) => ["robot", "invite", "mapping"].includes(kind))
      .map(({ kind, same, done }) => [kind, same, done]),
    [
      ["robot", 2, 0],
      ["invite", 1, 0],
      ["mapping", 1, 0],
    ],
  );
});
