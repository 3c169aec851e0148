import { CapabilitySchema } from "@moorage/api";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Dice } from "./dice.ts";
import { BAD, openGatedRepo, putGateRecords } from "./gated-repo.ts";
import { pushImage } from "./image.ts";
import { type Json, type Platform, startPlatform } from "./platform.ts";

/** The documents of the worlds: one that pushes wait for, and one for new repos. */
const TERMS = [
  { id: "push", label: "Pushing", url: "https://moorage.example.com/push", required: ["push"] },
  {
    id: "repos",
    label: "Repos",
    url: "https://moorage.example.com/repos",
    required: ["CreateRepo"],
  },
];

const SPARE = 20;
const PEOPLES_GROUPS = ["dev", "ops", "all"];
const BUILT_IN = ["viewer", "editor", "owner", "registry.pull", "registry.push"];
const ALL = CapabilitySchema.values.map(({ number }) => number).filter((number) => number > 0);
const POLICIES = [
  null,
  null,
  { protectedTags: ["v.*"] },
  { immutableTags: ["v.*"] },
  { immutableTags: ["free"], protectedTags: ["old"] },
  { vulnerabilities: { on: ["GATE_ACTION_PULL"], kev: true, mode: "GATE_MODE_ENFORCE" } },
  { vulnerabilities: { on: ["GATE_ACTION_PULL"], kev: true, mode: "GATE_MODE_PREVIEW" } },
];

/**
 * One who may be asked about: an identity, or nobody, with what its tokens are narrowed to, and the groups that the
 * token of a person states.
 */
export interface Actor {
  identity: string;
  capabilities: string[];
  scopes: string[];
  groups: string[];
}

/** An installation of two organizations, whose rights and policies are dealt anew for every world. */
export interface Worlds {
  platform: Platform;
  /** uids of groups, inner ones included, of repos, of tags, of identities, roles and bindings, and of nothing. */
  groups: string[];
  repos: string[];
  /** Repos that may be deleted. */
  spareRepos: string[];
  identities: string[];
  images: string[];
  digests: string[];
  /** An image that gates reject. */
  vulnerable: { name: string; digest: string };
  /** The identity provider of the person among the identities. */
  provider: string;
  /** Deals the rights of a world. */
  deal(dice: Dice): Promise<{ bindings: string[]; roles: string[] }>;
  actor(dice: Dice): Actor;
}

export async function openWorlds(): Promise<Worlds> {
  const platform = await startPlatform(
    {
      MOORAGE_ALLOW_PRIVATE_NETWORK: "true",
      MOORAGE_PUBLIC_ORGANIZATION: "open",
      MOORAGE_FREE_TIER_TAGS: "free",
      MOORAGE_CATALOG_IMAGES: "1",
    },
    TERMS,
  );
  try {
    return await worldsOf(platform);
  } catch (error) {
    await platform.close();
    throw error;
  }
}

async function worldsOf(platform: Platform): Promise<Worlds> {
  const acme = platform.organization;
  const [open = ""] = ((await platform.ok("GET", "/iam/v2/groups?name=open"))["groups"] as Json[]).map(
    ({ uid }) => uid,
  );
  const team = (await platform.group(acme, { name: "team" })).uid;
  const inner = (await platform.group(team, { name: "inner" })).uid;
  const other = (await platform.group(acme, { name: "other" })).uid;
  const groups = [acme, open, team, inner, other];
  for (const group of [acme, open])
    await platform.ok("POST", `/iam/v2/terms/${group}`, { documentIds: ["push", "repos"] });
  const digests: string[] = [];
  const names = ["acme/app", "acme/team/app", "acme/team/inner/app", "acme/other/app", "open/app"];
  for (const name of names) for (const tag of ["v1", "old", "free"]) digests.push(await pushImage(platform, name, tag));
  await putGateRecords(platform);
  const gated = await openGatedRepo(platform);
  const vulnerable = { name: gated.name, digest: await gated.push("bad", BAD) };
  const repos = ((await platform.ok("GET", "/registry/v2/repos"))["repos"] as Json[]).map(({ uid }) => uid);
  const spareRepos: string[] = [];
  for (let at = 0; at < SPARE; at++) spareRepos.push((await platform.repo(groups[at % groups.length] ?? acme)).uid);
  const identities: string[] = [];
  for (const group of [acme, team, inner, open]) identities.push(await platform.identity(group));
  const { provider, person } = await addPerson(platform);
  identities.push(person);
  const builtIn: string[] = [];
  for (const name of BUILT_IN) builtIn.push(await platform.role(name));
  const absent = [...groups, ...repos].map((uid) => newUid(uid));
  const nowMs = platform.clock.nowMs();
  return {
    platform,
    groups,
    repos,
    spareRepos,
    identities,
    images: [...names, vulnerable.name, "acme/team/none", "acme/none/app", "open/none", "nowhere/app"],
    digests: [...new Set(digests)],
    vulnerable,
    provider,
    async deal(dice) {
      const rolesMade = [0, 1, 2].map(() => ({
        uid: newUid(acme),
        capabilities: JSON.stringify(ALL.filter(() => dice.chance(dice.pick([0.2, 0.6, 0.95])))),
      }));
      const roleOf = (): string => (dice.chance(0.1) ? dice.pick(builtIn) : dice.pick(rolesMade).uid);
      const bound = identities.flatMap((identity) =>
        [0, 1, 2].filter(() => dice.chance(0.6)).map(() => ({ identity, group: dice.pick(groups), role: roleOf() })),
      );
      const mapped = PEOPLES_GROUPS.filter(() => dice.chance(0.7)).map((external) => ({
        uid: newUid(provider),
        parent: provider,
        external_group_id: external,
        role_uid: roleOf(),
        scope: dice.pick([acme, team, inner, other]),
        create_time: nowMs,
      }));
      const made = await platform.transact(async (tx) => {
        await tx.deleteFrom("role_bindings").where("identity_uid", "in", identities).execute();
        await tx.deleteFrom("external_group_role_mappings").where("parent", "=", provider).execute();
        await tx.deleteFrom("roles").where("name", "like", "dealt-%").execute();
        await tx
          .insertInto("roles")
          .values(
            rolesMade.map((role, at) => ({
              ...role,
              parent: acme,
              name: `dealt-${at}`,
              description: "",
              create_time: nowMs,
              update_time: nowMs,
            })),
          )
          .execute();
        const rows = bound.map(({ identity, group, role }) => ({
          uid: newUid(group),
          parent: group,
          identity_uid: identity,
          role_uid: role,
          create_time: nowMs,
        }));
        if (rows.length > 0)
          await tx
            .insertInto("role_bindings")
            .values(rows)
            .onConflict((on) => on.doNothing())
            .execute();
        if (mapped.length > 0) await tx.insertInto("external_group_role_mappings").values(mapped).execute();
        for (const uid of repos)
          await tx
            .updateTable("repos")
            .set({ tag_policy: policyText(dice.pick(POLICIES)) })
            .where("uid", "=", uid)
            .execute();
        await tx.deleteFrom("terms_acceptances").execute();
        const accepted = groups.flatMap((group) =>
          ["push", "repos"].filter(() => dice.chance(0.5)).map((doc) => ({ group, doc })),
        );
        const acceptances = accepted.map(({ group, doc }) => ({
          uid: newUid(group),
          parent: group,
          doc_id: doc,
          accepted_by: platform.owner,
          create_time: nowMs,
        }));
        if (acceptances.length > 0) await tx.insertInto("terms_acceptances").values(acceptances).execute();
        return rows.map(({ uid }) => uid);
      });
      return { bindings: [...made, ...absent], roles: rolesMade.map(({ uid }) => uid) };
    },
    actor(dice) {
      const names = CapabilitySchema.values.filter(({ number }) => number > 0).map(({ name }) => name);
      const identity = dice.chance(0.1) ? "" : dice.pick(identities);
      return {
        identity,
        capabilities: identity !== "" && dice.chance(0.2) ? names.filter(() => dice.chance(0.8)) : [],
        groups: identity === person ? PEOPLES_GROUPS.filter(() => dice.chance(0.5)) : [],
        scopes: identity !== "" && dice.chance(0.2) ? [dice.pick([...groups, ...repos])] : [],
      };
    },
  };
}

/** An identity provider of the first organization, and a person who signed in there. */
async function addPerson({
  ok,
  organization,
  clock,
  transact,
}: Platform): Promise<{ provider: string; person: string }> {
  const issuer = "https://people.example";
  const { uid: provider } = await ok("POST", `/iam/v2/identityProviders/${organization}`, {
    name: "people",
    oidc: { issuer, clientId: "moorage", groupsClaim: "groups" },
  });
  const person = newUid("");
  const texts = { name: "ann", description: "", email: "", email_unverified: "", company: "", relationship: "" };
  const times = { last_seen_time: null, create_time: clock.nowMs(), update_time: clock.nowMs() };
  const row = { uid: person, parent: "", issuer, subject: "ann", provider, relationship_type: 0, ...texts, ...times };
  await transact((tx) => tx.insertInto("identities").values(row).execute());
  return { provider, person };
}

function policyText(policy: object | null): string | null {
  return policy === null ? null : JSON.stringify(policy);
}
