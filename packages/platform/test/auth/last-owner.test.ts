import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Capability,
  IdentitiesService,
  IdentityProvidersService,
  RoleBindingsService,
  RolesService,
} from "@moorage/api";
import { decodeJwt } from "jose";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, type Platform, reason, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

// Whatever would leave an organization without an owner who can sign in is refused.
let platform: Platform;
let issuer: Issuer;
let ownerRole: string;
let count = 0;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  ownerRole = await platform.role("owner");
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

const fresh = (): string => `owned-${(count += 1)}`;
const staticKeys = (endMs: number, issuer = "https://keys.example.com") => ({
  issuer,
  subject: fresh(),
  issuerKeys: JSON.stringify({ keys: [newKey("k").jwk] }),
  expirationTime: new Date(platform.clock.nowMs() + endMs).toISOString(),
});
const claimMatch = () => ({ issuer: issuer.url, subject: fresh() });
const bindingsOf = async (group: string, identity: string): Promise<string> =>
  (await rows(platform.ok("GET", `/iam/v2/roleBindings?group=${group}&identity=${identity}`), "roleBindings"))[0]
    ?.uid ?? "";

/** An organization with its only binding. */
async function organization(): Promise<{ uid: string; binding: string }> {
  const { uid } = await platform.ok("POST", "/iam/v2/groups", { name: fresh() });
  return { uid, binding: await bindingsOf(uid, platform.owner) };
}

/** An owner of the organization that signs in as it says, and nobody else is one. */
async function ownedBy(relationship: object) {
  const { uid, binding } = await organization();
  const identity = (await platform.ok("POST", `/iam/v2/identities/${uid}`, { name: fresh(), ...relationship })).uid;
  const own = await platform.bind(uid, identity, ownerRole);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  return { uid, identity, binding: own, token: await platform.token(identity) };
}

function isRefused(answer: Answer, subject?: string): void {
  assert.deepEqual([answer.status, answer.body.code, reason(answer)], [400, 9, "FAILED_PRECONDITION"], answer.text);
  const details = answer.body.details;
  assert.equal(details.find((detail) => detail.metadata)?.metadata?.["reason"], "LAST_OWNER", answer.text);
  const violations = details.flatMap((detail) => detail.violations ?? []);
  assert.deepEqual(
    violations.map(({ type }) => type),
    ["LAST_OWNER"],
  );
  if (subject !== undefined) assert.equal(violations[0]?.subject ?? "", subject);
}

async function person(provider: string, sub = fresh()): Promise<{ uid: string; token: string }> {
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const bearer = await issuer.sign({ iss: issuer.url, aud: "moorage", sub, iat: now, exp: now + 300 });
  const answer = await platform.call("GET", `/sts/exchange?identity_provider=${provider}`, { token: bearer });
  assert.equal(answer.status, 200, answer.text);
  const token = String(answer.body["token"]);
  return { uid: String(decodeJwt(token).sub), token };
}

const provider = async (group: string): Promise<string> =>
  (
    await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
      name: fresh(),
      oidc: { issuer: issuer.url, clientId: "moorage", groupsClaim: "groups" },
    })
  ).uid;

test("the binding of the last owner is neither deleted nor changed, over REST, gRPC and v1", async () => {
  const { uid, binding } = await organization();
  const owner = await platform.token();
  const change = {
    roleBinding: { uid: binding, roleUid: await platform.role("viewer") },
    updateMask: { paths: ["role_uid"] },
  };
  isRefused(await both(platform, RoleBindingsService.method.deleteRoleBinding, { uid: binding }, owner), uid);
  isRefused(await both(platform, RoleBindingsService.method.updateRoleBinding, change, owner), uid);
  isRefused(await platform.call("DELETE", `/iam/v1/rolebindings/${binding}`, { token: owner }), uid);
  const mine = await platform.ok("POST", `/iam/v2/identities/${uid}`, {
    name: fresh(),
    staticKeys: staticKeys(-1000),
  });
  const toEnded = { roleBinding: { uid: binding, identityUid: mine.uid }, updateMask: { paths: ["identity_uid"] } };
  isRefused(await both(platform, RoleBindingsService.method.updateRoleBinding, toEnded, owner), uid);
  const other = await platform.identity(uid, "viewer");
  const path = `/iam/v2/roleBindings/${binding}?updateMask=identityUid`;
  assert.equal((await platform.call("PATCH", path, { token: owner, body: { identityUid: other } })).status, 200);
});

test("an owner of a group below, of another organization, or with less than all capabilities does not count", async () => {
  const { uid, binding } = await organization();
  const below = await platform.group(uid);
  await platform.identity(below.uid, "owner");
  await platform.identity(uid, "limited_owner");
  await platform.identity((await organization()).uid, "owner");
  const remove = (): Promise<Answer> => platform.call("DELETE", `/iam/v2/roleBindings/${binding}`, { token: owner });
  const owner = await platform.token();
  isRefused(await remove(), uid);
  await platform.identity(uid, "owner");
  assert.equal((await remove()).status, 200);
});

test("an owner whose keys have expired, or are those of a registry password, does not count", async () => {
  const { uid, binding } = await organization();
  const soon = staticKeys(60_000);
  for (const keys of [staticKeys(-60_000), staticKeys(60_000, "moorage-pull-token"), soon]) {
    const identity = await platform.ok("POST", `/iam/v2/identities/${uid}`, { name: fresh(), staticKeys: keys });
    await platform.bind(uid, identity.uid, ownerRole);
  }
  const remove = async (): Promise<Answer> =>
    platform.call("DELETE", `/iam/v2/roleBindings/${binding}`, { token: await platform.token() });
  platform.clock.offsetMs += 120_000;
  isRefused(await remove(), uid);
  platform.clock.offsetMs -= 120_000;
  assert.equal((await remove()).status, 200);
});

test("the last owner's identity is not deleted, and its keys are not ended", async () => {
  for (const relationship of [{ claimMatch: claimMatch() }, { staticKeys: staticKeys(3_600_000) }]) {
    const { uid, identity, token } = await ownedBy(relationship);
    isRefused(await both(platform, IdentitiesService.method.deleteIdentity, { uid: identity }, token), uid);
    const ended = { identity: { uid: identity, staticKeys: staticKeys(-1000) } };
    const end = () => platform.call("PATCH", `/iam/v2/identities/${identity}`, { token, body: ended.identity });
    isRefused(await end(), uid);
    const renamed = await platform.call("PATCH", `/iam/v2/identities/${identity}`, { token, body: { name: fresh() } });
    assert.equal(renamed.status, 200, renamed.text);
    // Nobody signs in as an identity without a relationship, so it does not take the place of one that has one.
    const other = await platform.call("POST", `/iam/v2/identities/${uid}`, { token, body: { name: fresh() } });
    const body = { identityUid: other.body.uid, roleUid: ownerRole };
    const bound = await platform.call("POST", `/iam/v2/roleBindings/${uid}`, { token, body });
    assert.equal(bound.status, 200, bound.text);
    isRefused(await both(platform, IdentitiesService.method.deleteIdentity, { uid: identity }, token), uid);
  }
});

test("a person who is the last owner is not removed, nor is the provider, nor its issuer changed", async () => {
  const { uid, binding } = await organization();
  const idp = await provider(uid);
  const [ada, bob] = [await person(idp), await person(idp)];
  await platform.bind(uid, ada.uid, ownerRole);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  const { token } = ada;
  isRefused(await both(platform, IdentitiesService.method.deleteIdentity, { uid: ada.uid }, token), uid);
  isRefused(await both(platform, IdentityProvidersService.method.deleteIdentityProvider, { uid: idp }, token), uid);
  const body = { oidc: { issuer: "https://elsewhere.example.com", clientId: "moorage" } };
  const path = `/iam/v2/identityProviders/${idp}`;
  isRefused(await platform.call("PATCH", `${path}?updateMask=oidc.issuer`, { token, body }), uid);
  isRefused(await platform.call("DELETE", `/iam/v1/identityProviders/${idp}`, { token }), uid);
  assert.equal((await platform.call("DELETE", `/iam/v2/identities/${bob.uid}`, { token })).status, 200);
  // The other organization's owner removes a person who owns this one, which it does not see.
  const theirs = await organization();
  const other = await provider(theirs.uid);
  const eve = await person(other);
  const hers = await ownedBy({ claimMatch: claimMatch() });
  await platform.transact((tx) =>
    tx.updateTable("role_bindings").set({ identity_uid: eve.uid }).where("uid", "=", hers.binding).execute(),
  );
  const viewer = await platform.token(await platform.identity(theirs.uid, "owner"));
  isRefused(await platform.call("DELETE", `/iam/v2/identities/${eve.uid}`, { token: viewer }), "");
});

test("a custom role with all capabilities makes owners, and is not reduced under the last one", async () => {
  const { uid, binding } = await organization();
  const { capabilities } = await platform.ok("GET", `/iam/v2/roles/${ownerRole}`);
  const role = await platform.ok("POST", `/iam/v2/roles/${uid}`, { name: fresh(), capabilities });
  const identity = await platform.ok("POST", `/iam/v2/identities/${uid}`, { name: fresh(), claimMatch: claimMatch() });
  await platform.bind(uid, identity.uid, role.uid);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  const token = await platform.token(identity.uid);
  const less = {
    role: { uid: role.uid, capabilities: [Capability.CAP_IAM_GROUPS_CREATE] },
    updateMask: { paths: ["capabilities"] },
  };
  isRefused(await both(platform, RolesService.method.updateRole, less, token), uid);
  const named = await platform.call("PATCH", `/iam/v2/roles/${role.uid}`, { token, body: { name: fresh() } });
  assert.equal(named.status, 200, named.text);
});

test("nobody knows who is in a mapped group, so it does not count beside a binding; the last mapping stays", async () => {
  const { uid, binding } = await organization();
  const idp = await provider(uid);
  const mapping = await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${idp}`, {
    externalGroupId: "admins",
    roleUid: ownerRole,
    scope: uid,
  });
  const owner = await platform.token();
  isRefused(await platform.call("DELETE", `/iam/v2/roleBindings/${binding}`, { token: owner }), uid);
  // An organization of before this rule: only the mapping is left. Whoever is in the group may not take it away.
  await platform.transact((tx) => tx.deleteFrom("role_bindings").where("uid", "=", binding).execute());
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const claims = { iss: issuer.url, aud: "moorage", sub: fresh(), iat: now, exp: now + 300, groups: ["admins"] };
  const signedIn = await platform.call("GET", `/sts/exchange?identity_provider=${idp}`, {
    token: await issuer.sign(claims),
  });
  const token = String(signedIn.body["token"]);
  isRefused(await platform.call("DELETE", `/iam/v2/externalGroupRoleMappings/${mapping.uid}`, { token }), uid);
  isRefused(
    await platform.call("POST", "/iam/v2/externalGroupRoleMappings:batchDelete", {
      token,
      body: { parent: idp, names: [mapping.uid] },
    }),
    uid,
  );
  const elsewhere = await platform.call("PATCH", `/iam/v2/externalGroupRoleMappings/${mapping.uid}`, {
    token,
    body: { roleUid: await platform.role("viewer") },
  });
  isRefused(elsewhere, uid);
});

test("of two owners who remove each other, or leave at the same moment, one stays", async () => {
  for (let round = 0; round < 5; round++) {
    const { uid, binding } = await organization();
    const made = await Promise.all(
      [0, 1].map(async () => {
        const body = { name: fresh(), claimMatch: claimMatch() };
        const { uid: identity } = await platform.ok("POST", `/iam/v2/identities/${uid}`, body);
        return { binding: await platform.bind(uid, identity, ownerRole), token: await platform.token(identity) };
      }),
    );
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
    const [ada, bob] = made as [(typeof made)[0], (typeof made)[0]];
    // Who leaves needs no right that the other one's leaving takes away.
    const [first, second] = round % 2 === 0 ? [ada, bob] : [bob, ada];
    const answers = await Promise.all([
      platform.call("DELETE", `/iam/v2/roleBindings/${ada.binding}`, { token: first.token }),
      platform.call("DELETE", `/iam/v2/roleBindings/${bob.binding}`, { token: second.token }),
    ]);
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1, JSON.stringify(statuses));
    const left = await platform.reader.selectFrom("role_bindings").select("uid").where("parent", "=", uid).execute();
    assert.equal(left.length, 1);
  }
});

test("an organization is deleted with what its last owner signs in by", async () => {
  const first = await ownedBy({ claimMatch: claimMatch() });
  const repo = await platform.call("POST", `/registry/v2/repos/${first.uid}`, {
    token: first.token,
    body: { name: "api" },
  });
  const remove = (): Promise<Answer> => platform.call("DELETE", `/iam/v2/groups/${first.uid}`, { token: first.token });
  assert.equal((await remove()).status, 400);
  await platform.call("DELETE", `/registry/v2/repos/${repo.body.uid}`, { token: first.token });
  assert.equal((await remove()).status, 200);
  const gone = await platform.reader.selectFrom("identities").select("uid").where("uid", "=", first.identity).execute();
  assert.deepEqual(gone, []);

  const { uid, binding } = await organization();
  const idp = await provider(uid);
  const ada = await person(idp);
  await platform.bind(uid, ada.uid, ownerRole);
  // While another owner is there, what is below is removed first, as before.
  const early = await platform.call("DELETE", `/iam/v2/groups/${uid}`, { token: ada.token });
  assert.match(early.text, /RESOURCE_NOT_EMPTY/);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  const late = await platform.call("DELETE", `/iam/v2/groups/${uid}`, { token: ada.token });
  assert.equal(late.status, 200, late.text);
  const left = await platform.reader.selectFrom("identity_providers").select("uid").where("uid", "=", idp).execute();
  assert.deepEqual(left, []);
});
