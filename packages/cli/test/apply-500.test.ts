import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { documents, isWrite, openStage } from "./apply-stage.ts";

const GROUPS = sized(3, 20);
/** How many resources there are for each group. */
const IN_GROUP = 25;
const ALL = GROUPS * IN_GROUP;
/** After how many writes each run is killed. */
const KILLS = sized([1, 20, 25], [1, 30, 90, 150, 100]);

/** Resources of all that is made by the hundred, those that others name last in the file. */
function manyResources(): object[] {
  const inGroup = Array.from({ length: GROUPS }, (_, at): object[] => {
    const parent = `acme/team-${at}`;
    const each = (count: number, make: (n: number) => object): object[] =>
      Array.from({ length: count }, (_, n) => make(n));
    return [
      ...each(6, (n) => ({ kind: "RoleBinding", parent, identity: `${parent}/ci ${n}`, role: `${parent}/deployer` })),
      ...each(9, (n) => ({ kind: "Repo", parent, name: `app-${n}`, description: `of ${at}`, bundles: ["a", "b"] })),
      ...each(6, (n) => ({
        kind: "Identity",
        parent,
        name: `ci ${n}`,
        claimMatch: { issuer: "https://ci.example.com", subject: `${at}:${n}` },
      })),
      { kind: "Role", parent, name: "deployer", capabilities: ["repo.list", "tag.create"] },
      { kind: "IdentityProvider", parent, name: "okta", oidc: { issuer: "https://login.example.com", clientId: "m" } },
      {
        kind: "ExternalGroupRoleMapping",
        parent: `${parent}/okta`,
        externalGroupId: "devs",
        role: "viewer",
        scope: parent,
      },
      { kind: "Group", parent: "acme", name: `team-${at}` },
    ];
  });
  return inGroup.flat();
}

const LISTS: readonly [path: string, field: string, count: number][] = [
  ["/iam/v2/groups", "groups", GROUPS],
  ["/registry/v2/repos", "repos", 9 * GROUPS],
  ["/iam/v2/identities", "identities", 6 * GROUPS],
  ["/iam/v2/roleBindings", "roleBindings", 6 * GROUPS],
  ["/iam/v2/roles", "roles", GROUPS],
  ["/iam/v2/identityProviders", "identityProviders", GROUPS],
  ["/iam/v2/externalGroupRoleMappings", "externalGroupRoleMappings", GROUPS],
];

test(`${ALL} resources are applied through ${KILLS.length} kills, each once, and then there is no change`, async (t) => {
  const stage = await openStage(t);
  const all = manyResources();
  assert.equal(all.length, ALL);
  const file = stage.file("all.yaml", documents(all));
  const acme = String((await stage.all("/iam/v2/groups?name=acme", "groups"))[0]?.["uid"]);
  const made = async (): Promise<number[]> =>
    Promise.all(
      LISTS.map(
        async ([path, field]) =>
          (await stage.all(`${path}?uidp.descendantsOf=${acme}`, field)).filter(
            ({ uid }) =>
              // Without those of the organization itself.
              String(uid).startsWith(`${acme}/`) && (field === "groups" || String(uid).split("/").length > 2),
          ).length,
      ),
    );

  const dry = await stage.run(["apply", "-f", file, "--dry-run", "--exit-code"]);
  assert.equal(dry.code, 8, dry.stderr);
  assert.match(dry.stderr, new RegExp(`^${ALL} resources: ${ALL} would be created$`, "m"));
  assert.equal(stage.sent.filter(isWrite).length, 0, "a dry run sends no writes");
  assert.deepEqual(
    await made(),
    LISTS.map(() => 0),
  );

  // The answer to the last write before each kill is lost.
  for (const writes of KILLS) await stage.killed(["apply", "-f", file], writes);
  const last = await stage.run(["apply", "-f", file, "-o", "json"]);
  assert.equal(last.code, 0, last.stderr);
  const { resources } = JSON.parse(last.stdout) as { resources: { action: string; uid: string }[] };
  assert.deepEqual(new Set(resources.map(({ action }) => action)), new Set(["created", "unchanged"]));
  assert.equal(new Set(resources.map(({ uid }) => uid)).size, ALL);
  assert.deepEqual(
    await made(),
    LISTS.map(([, , count]) => count),
  );

  stage.sent.length = 0;
  const again = await stage.run(["apply", "-f", file]);
  assert.deepEqual([again.code, again.stdout, again.stderr], [0, "", `${ALL} resources: no change\n`]);
  assert.deepEqual(
    stage.sent.filter(({ method }) => method !== "GET"),
    [],
  );
  const same = await stage.run(["apply", "-f", file, "--dry-run", "--exit-code"]);
  assert.deepEqual([same.code, same.stderr], [0, `${ALL} resources: no change\n`]);
});
