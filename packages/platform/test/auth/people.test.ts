import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { IdentitiesService } from "@moorage/api";
import { decodeJwt, SignJWT } from "jose";
import { openBrowser } from "../../../server/test/support/browser.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { addProvider, openPeopleProvider } from "../../../server/test/support/people-provider.ts";
import {
  type Answer,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

// People are at the root; the organization whose identity provider they signed in through lists, reads and removes
// them, and no other does.
const METHODS = IdentitiesService.method;
let platform: Platform;
let issuer: Issuer;
let count = 0;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

interface Person {
  uid: string;
  token: string;
  refreshToken: string;
}

const provider = async (group: string, role: string): Promise<string> => {
  const oidc = { issuer: issuer.url, clientId: "moorage" };
  const body = { name: `login-${(count += 1)}`, oidc, defaultRole: await platform.role(role) };
  return (await platform.ok("POST", `/iam/v2/identityProviders/${group}`, body)).uid;
};

async function signIn(idp: string, sub: string): Promise<Person> {
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const bearer = await issuer.sign({ iss: issuer.url, aud: "moorage", sub, iat: now, exp: now + 300 });
  const answer = await platform.call("GET", `/sts/exchange?identity_provider=${idp}`, { token: bearer });
  assert.equal(answer.status, 200, answer.text);
  const token = String(answer.body["token"]);
  return { uid: String(decodeJwt(token).sub), token, refreshToken: String(answer.body["refreshToken"]) };
}

/** Two organizations, each with an owner and a provider. */
async function twoOrganizations() {
  const organization = async () => {
    const { uid } = await platform.ok("POST", "/iam/v2/groups", { name: `people-${(count += 1)}` });
    const owner = await platform.token(await platform.identity(uid, "owner"));
    return { uid, owner, idp: await provider(uid, "registry.pull_token_creator") };
  };
  return { mine: await organization(), theirs: await organization() };
}

const get = (path: string, token: string): Promise<Answer> => platform.call("GET", path, { token });
const listed = async (token: string, query = ""): Promise<string[]> =>
  (await rows((await get(`/iam/v2/identities?page_size=200${query}`, token)).body, "identities")).map(({ uid }) => uid);

test("the people of an organization's provider are listed, read and looked up there, and nowhere else", async () => {
  const { mine, theirs } = await twoOrganizations();
  const [ada, bob] = [await signIn(mine.idp, "ada"), await signIn(theirs.idp, "bob")];
  const viewer = await platform.token(await platform.identity(mine.uid, "viewer"));
  for (const token of [mine.owner, viewer]) {
    const all = await listed(token);
    assert.deepEqual([all.includes(ada.uid), all.includes(bob.uid)], [true, false]);
    assert.deepEqual(await listed(token, "&uidp.in_root=true"), [ada.uid]);
    assert.deepEqual(await listed(token, `&uidp.ids=${ada.uid}&uidp.ids=${bob.uid}`), [ada.uid]);
    assert.ok((await listed(token, `&uidp.descendants_of=${mine.uid}`)).includes(ada.uid));
    assert.deepEqual(await listed(token, `&uidp.descendants_of=${theirs.uid}`), []);
    assert.ok(!(await listed(token, `&uidp.children_of=${mine.uid}`)).includes(ada.uid), "people are no children");
    const read = await both(platform, METHODS.getIdentity, { uid: ada.uid }, token);
    assert.deepEqual([read.status, read.body["identityProvider"]], [200, mine.idp], read.text);
    assert.equal((await both(platform, METHODS.getIdentity, { uid: bob.uid }, token)).status, 404);
    const lookup = (subject: string): Promise<Answer> =>
      both(platform, METHODS.lookupIdentity, { issuer: issuer.url, subject }, token);
    assert.equal((await lookup("ada")).body.uid, ada.uid);
    assert.equal((await lookup("bob")).status, 404);
  }
  const { totalCount } = (await get("/iam/v2/identities?uidp.in_root=true", mine.owner)).body;
  assert.equal(totalCount, "1");
});

test("people are filtered by provider and by when they were last seen, in pages", async () => {
  const { mine, theirs } = await twoOrganizations();
  const second = await provider(mine.uid, "viewer");
  const early = [await signIn(mine.idp, "p1"), await signIn(second, "p2")];
  platform.clock.offsetMs += 60_000;
  const between = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 60_000;
  const late = await signIn(mine.idp, "p3");
  await signIn(theirs.idp, "p4");
  const owner = await platform.token(await platform.identity(mine.uid, "owner"));
  const uids = (...people: Person[]): string[] => people.map(({ uid }) => uid).sort();
  const found = async (query: string): Promise<string[]> => (await listed(owner, query)).sort();
  assert.deepEqual(await found(`&identity_provider=${mine.idp}`), uids(...early.slice(0, 1), late));
  assert.deepEqual(await found(`&identity_provider=${second}`), uids(...early.slice(1)));
  assert.deepEqual(await found(`&identity_provider=${theirs.idp}`), []);
  assert.deepEqual(await found(`&uidp.in_root=true&seen_until=${between}`), uids(...early));
  assert.deepEqual(await found(`&uidp.in_root=true&seen_since=${between}`), uids(late));
  const page = (await get("/iam/v2/identities?uidp.in_root=true&page_size=2", owner)).body;
  const next = (await get(`/iam/v2/identities?page_token=${encodeURIComponent(page.nextPageToken)}`, owner)).body;
  const both = [...(page["identities"] as Json[]), ...(next["identities"] as Json[])].map(({ uid }) => uid).sort();
  assert.deepEqual([both, page.totalCount], [uids(...early, late), "3"]);
});

test("who removes a person ends its tokens, refresh tokens, pull tokens and push tokens at once", async () => {
  const { mine, theirs } = await twoOrganizations();
  const [ada, bob] = [await signIn(mine.idp, "ada"), await signIn(mine.idp, "bob")];
  const registry = new URL(platform.url).host;
  /** A password that the person makes, as `moorage pull-token create` does, and a registry token gotten for it. */
  const password = async (person: Person, issuer = "moorage-pull-token") => {
    const key = newKey("k");
    const keys = { issuerKeys: JSON.stringify({ keys: [key.jwk] }), audiences: [registry] };
    const expirationTime = new Date(platform.clock.nowMs() + 86_400_000).toISOString();
    const staticKeys = { issuer, subject: person.uid, expirationTime, ...keys };
    const body = { name: `cluster-${(count += 1)}`, staticKeys };
    const { body: made, text } = await platform.call("POST", `/iam/v2/identities/${mine.uid}`, {
      token: person.token,
      body,
    });
    assert.ok(made.uid, text);
    const secret = await new SignJWT({ sub: person.uid })
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer(issuer)
      .setAudience(registry)
      .setIssuedAt(Math.floor(platform.clock.nowMs() / 1000))
      .setExpirationTime(Math.floor(platform.clock.nowMs() / 1000) + 600)
      .sign(key.privateKey);
    const headers = { authorization: `Basic ${Buffer.from(`${made.uid}:${secret}`).toString("base64")}` };
    const logIn = (): Promise<Answer> => platform.call("GET", `/token?service=${registry}`, { headers });
    const first = await logIn();
    assert.equal(first.status, 200, first.text);
    return { uid: made.uid, logIn, token: String(first.body["token"]) };
  };
  const refresh = async ({ refreshToken }: Person): Promise<number> =>
    (await platform.call("GET", "/sts/exchange_refresh_token", { token: refreshToken })).status;
  const [hers, his] = [await password(ada), await password(bob)];
  const pushing = await password(ada, "moorage-push-token");

  const change = { uid: ada.uid, name: "renamed" };
  const changed = await both(platform, METHODS.updateIdentity, { identity: change }, mine.owner);
  assert.deepEqual([changed.status, reason(changed)], [403, "PERMISSION_DENIED"], "a person is not changed");
  const viewer = await platform.token(await platform.identity(mine.uid, "viewer"));
  const remove = (token: string): Promise<Answer> =>
    platform.call("DELETE", `/iam/v2/identities/${ada.uid}`, { token });
  assert.equal((await remove(viewer)).status, 403);
  assert.equal((await remove(theirs.owner)).status, 404, "the owner of another organization does not see the person");
  assert.equal((await remove(bob.token)).status, 403, "one who may list people and not delete them");
  assert.equal((await get(`/iam/v2/identities/${ada.uid}`, ada.token)).status, 200);

  const removed = await remove(mine.owner);
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await get(`/iam/v2/groups/${mine.uid}`, ada.token)).status, 401);
  assert.equal(await refresh(ada), 401);
  assert.equal((await hers.logIn()).status, 401);
  assert.equal((await get("/v2/", hers.token)).status, 401);
  assert.equal((await pushing.logIn()).status, 401);
  for (const uid of [ada.uid, hers.uid, pushing.uid])
    assert.equal((await get(`/iam/v2/identities/${uid}`, mine.owner)).status, 404);
  assert.deepEqual(await rows(platform.ok("GET", `/iam/v2/roleBindings?identity=${ada.uid}`), "roleBindings"), []);

  assert.equal((await get(`/iam/v2/groups/${mine.uid}`, bob.token)).status, 200, "others go on");
  assert.equal((await his.logIn()).status, 200);
  assert.equal((await get("/v2/", his.token)).status, 200);
  const log = await get(`/iam/v2/auditEntries?uidp.descendants_of=${mine.uid}&method=${DELETE}`, mine.owner);
  const entries = (log.body["auditEntries"] as { resource: string; details: Record<string, string> }[]).map(
    ({ resource, details }) => [resource, details["identity"] ?? details["creator"]],
  );
  assert.deepEqual(
    new Set(entries.map(String)),
    new Set([mine.idp, hers.uid, pushing.uid].map((resource) => `${resource},${ada.uid}`)),
  );
  // Events are numbered, and seen, shortly after their change is committed.
  const gone = await eventually(async () => {
    const events = await get(`/events/v2/events?group=${mine.uid}&page_size=200`, mine.owner);
    const deleted = ({ type }: Json): boolean => String(type).endsWith("iam.identity.deleted.v1");
    const found = (events.body["events"] as Json[]).filter(deleted);
    return found.length > 2 && found;
  });
  assert.deepEqual(gone.map(({ subject }) => subject).sort(), [ada.uid, hers.uid, pushing.uid].sort());
  assert.notEqual((await signIn(mine.idp, "ada")).uid, ada.uid, "who may still sign in at the provider begins anew");
});
const DELETE = "moorage.iam.v2.IdentitiesService.DeleteIdentity";

test("who removes a person ends the sessions of its browsers", async () => {
  const people = await openPeopleProvider();
  try {
    people.claims = { email: "eve@example.com", email_verified: true, name: "Eve" };
    const idp = await addProvider(platform, people);
    const browser = openBrowser();
    const query = new URLSearchParams({ identity_provider: idp, return_to: "/session" });
    const shown = await browser.signIn(`${platform.url}/sign-in?${query}`, "eve");
    const { identity } = JSON.parse(shown.text) as { identity: string };
    const session = (): Promise<Answer> =>
      platform.call("GET", "/session", { headers: { cookie: browser.cookies(platform.url).join("; ") } });
    assert.equal((await session()).status, 200);
    await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
    assert.equal((await session()).status, 401);
    const left = await platform.reader.selectFrom("sessions").select("hash").where("identity", "=", identity).execute();
    assert.deepEqual(left, []);
  } finally {
    await people.close();
  }
});
