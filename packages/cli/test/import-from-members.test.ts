// Members of Harbor's projects move in: as bindings, invites and mappings. Harbor is a fake, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { type HarborSystem, startFakeHarbor } from "./fake-registries.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

const ISSUER = "https://login.example.com";

type Result = {
  counts: { kind: string; done: number; same: number; left: number; cannot: number }[];
  failed: object[];
};

/** A Harbor whose project `acme` has these members, and a server to move to. */
async function openMove(t: TestContext, members: object[], people: HarborSystem) {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await there.push("acme/app:1.0", 1);
  await here.ok("groups", "create", "acme/old");
  const time = "2024-01-01T00:00:00.000Z";
  const app = [{ digest: BUILD[1], push_time: time, tags: [{ name: "1.0", push_time: time }] }];
  const project = { name: "acme", project_id: 1, members, repositories: { app } };
  const front = await startFakeHarbor(t, there.url, [project], people);
  const command = ["import-from", "harbor", front.url, "--into", "acme/old"];
  const read = ["--plan", "plan.json", "--username", "admin", "--password-file", "password"];
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  return {
    here,
    front,
    async plan(...flags: string[]) {
      await here.ok(...command, ...read, ...flags);
      return (JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] }).items;
    },
    apply: (...flags: string[]) => here.json<Result>(...command, "--apply", "plan.json", ...pull, ...flags),
  };
}

function member(id: number, name: string, role_id: unknown, fields: object = {}): object {
  return { id, entity_id: id, entity_name: name, entity_type: "u", role_id, ...fields };
}

async function uidOf(stage: Stage, noun: string, name: string): Promise<string> {
  return (await stage.json<{ uid: string }>(noun, "get", name)).uid;
}

test("members of Harbor become bindings, invites and mappings, once each", async (t) => {
  const { here, plan, apply } = await openMove(
    t,
    [
      member(1, "ada", 1),
      member(2, "bob", 2),
      member(3, "cy", 3),
      member(4, "devs", 4, { entity_type: "g" }),
      member(5, "ldap", 3, { entity_type: "g" }),
      member(6, "dee", 9),
      member(7, "gone", 5),
    ],
    {
      users: {
        1: { username: "ada", oidc_user_meta: { subiss: `ada-1${ISSUER}`, secret: "of ada" } },
        2: { username: "bob", email: "bob@Example.com", oidc_user_meta: { subiss: "bob-1https://other.example.com" } },
        3: { username: "cy" },
      },
      usergroups: {
        4: { id: 4, group_name: "devs", group_type: 3 },
        5: { id: 5, group_name: "ldap", group_type: 1, ldap_group_dn: "cn=ldap" },
      },
    },
  );
  const acme = await uidOf(here, "groups", "acme");
  const claimMatch = { issuer: ISSUER, subject: "ada-1" };
  const ada = (await here.api("POST", `/iam/v2/identities/${acme}`, { name: "ada", claimMatch })).uid;
  const oidc = { issuer: ISSUER, clientId: "moorage", groupsClaim: "groups" };
  const provider = (await here.api("POST", `/iam/v2/identityProviders/${acme}`, { name: "login", oidc })).uid;

  const withoutIssuer = await plan();
  assert.equal(
    withoutIssuer.find(({ source }) => source.startsWith("acme: ada"))?.why,
    "without --issuer nobody is known here, and there is no address for an invite",
  );
  const items = (await plan("--issuer", ISSUER)).filter(({ source }) => source.startsWith("acme: "));
  assert.deepEqual(
    items.map(({ kind, source, action, why }) => [kind, source, action, why]),
    [
      ["binding", "acme: ada, administrator: owner", "create", ""],
      ["invite", "acme: bob, developer: viewer", "create", "with --secrets: nobody here is known as that person"],
      [
        "invite",
        "acme: bob, developer: registry.push",
        "create",
        "with --secrets: nobody here is known as that person",
      ],
      [
        "binding",
        "acme: cy, guest: viewer",
        "cannot",
        "nobody here is known as that person, and there is no address for an invite",
      ],
      ["mapping", "acme: group devs, maintainer: editor", "create", ""],
      [
        "mapping",
        "acme: group ldap, guest",
        "cannot",
        "is not an OpenID Connect group: map it by what the provider here calls it",
      ],
      ["binding", "acme: dee, ?", "cannot", "has a role that is not one of Harbor's built-in roles"],
      ["binding", "acme: gone, limited guest", "cannot", "is a member, and otherwise not known there"],
    ],
  );
  assert.doesNotMatch(readFileSync(join(here.folder, "plan.json"), "utf8"), /of ada/);

  const counted = (result: Result): (number | undefined)[][] =>
    ["binding", "invite", "mapping"].map((kind) => {
      const of = result.counts.find((each) => each.kind === kind);
      return [of?.done, of?.same, of?.left, of?.cannot];
    });
  assert.deepEqual(counted(await apply()), [
    [1, 0, 0, 3],
    [0, 0, 2, 0],
    [1, 0, 0, 1],
  ]);
  assert.deepEqual(counted(await apply("--secrets", "secrets")), [
    [0, 1, 0, 3],
    [2, 0, 0, 0],
    [0, 1, 0, 1],
  ]);
  assert.deepEqual(counted(await apply("--secrets", "others")), [
    [0, 1, 0, 3],
    [0, 2, 0, 0],
    [0, 1, 0, 1],
  ]);
  assert.equal(readFileSync(join(here.folder, "others"), "utf8"), "");
  const group = await uidOf(here, "groups", "acme/old/acme");
  const { roleBindings } = await here.api<{ roleBindings: { identity: { uid: string }; role: { name: string } }[] }>(
    "GET",
    `/iam/v2/roleBindings?group=${group}`,
  );
  assert.deepEqual(
    roleBindings.map(({ identity, role }) => [identity.uid, role.name]),
    [[ada, "owner"]],
  );
  const { externalGroupRoleMappings } = await here.api<{
    externalGroupRoleMappings: { externalGroupId: string; scope: string }[];
  }>("GET", `/iam/v2/externalGroupRoleMappings?identity_provider_uid=${provider}`);
  assert.deepEqual(
    externalGroupRoleMappings.map(({ externalGroupId, scope }) => [externalGroupId, scope]),
    [["devs", group]],
  );
  const secrets = readFileSync(join(here.folder, "secrets"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { email: string; role: string; code: string });
  assert.deepEqual(
    secrets.map(({ email, role }) => [email, role]),
    [
      ["bob@Example.com", "viewer"],
      ["bob@Example.com", "registry.push"],
    ],
  );
  assert.ok(secrets.every(({ code }) => code !== ""));
  const again = (await plan("--issuer", ISSUER)).filter(({ source }) => source.startsWith("acme: "));
  assert.ok(again.every(({ action }) => action === "same" || action === "cannot"));
});

test("a group there needs one identity provider here that says groups", async (t) => {
  const { here, plan } = await openMove(t, [member(1, "devs", 4, { entity_type: "g" })], {
    usergroups: { 1: { id: 1, group_name: "devs", group_type: 3 } },
  });
  const acme = await uidOf(here, "groups", "acme");
  const add = async (name: string, issuer: string): Promise<void> => {
    const oidc = { issuer, clientId: "moorage", groupsClaim: "groups" };
    await here.api("POST", `/iam/v2/identityProviders/${acme}`, { name, oidc });
  };
  const planned = async (...flags: string[]): Promise<(string | undefined)[]> => {
    const found = (await plan(...flags)).find(({ kind }) => kind === "mapping");
    return [found?.action, found?.why];
  };
  assert.deepEqual(await planned(), [
    "cannot",
    "needs an identity provider with a groups claim, here or above: you see none",
  ]);
  await add("one", ISSUER);
  await add("two", "https://other.example.com");
  assert.deepEqual(await planned(), ["cannot", "2 identity providers here have groups: map it by hand"]);
  assert.deepEqual(await planned("--issuer", ISSUER), ["create", ""]);
});

test("what Harbor answers of members is not trusted: each trick is an item that cannot come", async (t) => {
  const { front, plan } = await openMove(
    t,
    [
      member(1, "ada\u001b[31m", 1),
      member(2, "bob", "2"),
      member(3, "cy", 3, { entity_type: 7 }),
      member(4, "dee", 3, { entity_id: "../../iam" }),
      member(5, "eve", 3),
      member(6, "fay", 3),
      member(7, "devs", 3, { entity_type: "g" }),
    ],
    {
      users: {
        5: { email: "eve@example.com\u0000", oidc_user_meta: { subiss: 5 } },
        6: { email: ["fay@example.com"], oidc_user_meta: "x" },
      },
      usergroups: { 7: { group_name: "admins", group_type: 3 } },
    },
  );
  const whys = async (): Promise<string[]> =>
    (await plan("--issuer", ISSUER))
      .filter(({ source }) => source.startsWith("acme: "))
      .map(({ action, why }) => `${action} ${why}`);
  const unknown = "cannot nobody here is known as that person, and there is no address for an invite";
  assert.deepEqual(await whys(), [
    "cannot its name cannot be shown",
    "cannot has a role that is not one of Harbor's built-in roles",
    "cannot is neither a person nor a group",
    "cannot has no number there",
    unknown,
    unknown,
    "cannot has another name in the list of groups",
  ]);
  const answers = front.intercept;
  const answering = (body: () => unknown, at = "/members"): void => {
    front.intercept = (req, res) => {
      if (!(req.url ?? "").split("?")[0]?.endsWith(at)) return answers?.(req, res) ?? false;
      res.end(typeof body() === "string" ? body() : JSON.stringify(body()));
      return true;
    };
  };
  const hundred = Array.from({ length: 100 }, (_, at) => member(at + 1, "x", 77));
  answering(() => hundred);
  assert.equal((await whys()).at(-1), "cannot a list of the source leads on, and brings nothing new");
  answering(() => ({ members: [] }));
  assert.match((await whys()).at(-1) ?? "", /^cannot the source answers .*\/members without a list$/);
  answering(() => " ".repeat(17 << 20), "/users/5");
  assert.match((await whys())[4] ?? "", /^cannot the source sends more than 16777216 bytes in one answer$/);
});
