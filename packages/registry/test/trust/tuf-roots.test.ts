// Trust roots that are kept from a mirror of TUF: fetched, verified from the root of the user on, and refreshed.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Job, openSigstore, type Sigstore } from "../../../server/test/support/keyless-signing.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { COSIGN_SIGN, inToto, pushReferrer, short, verifiedSignatures } from "../../../server/test/support/signing.ts";
import { newTufKey, openTufRepository, type TufRepository } from "../../../server/test/support/tuf-repository.ts";

const ISSUER = "https://token.actions.example.com";
const WORKFLOW = "https://github.example.com/acme/app/.github/workflows/release.yml@refs/tags/v1";
const JOB: Job = { subject: WORKFLOW, issuer: ISSUER };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface TrustRoot {
  uid: string;
  name: string;
  state: string;
  message: string;
  refreshTime?: string;
}

let platform: Platform;
let sigstore: Sigstore;

const systemTemp = process.env["TMPDIR"];
const temp = mkdtempSync(join(tmpdir(), "moorage-roots-"));

before(async () => {
  // Of this test alone, to see what is left there.
  process.env["TMPDIR"] = temp;
  sigstore = await openSigstore();
  platform = await startPlatform(LOOPBACK);
});
after(async () => {
  await platform.close();
  if (systemTemp === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = systemTemp;
  rmSync(temp, { recursive: true, force: true, maxRetries: 10 });
});

let names = 0;

/** A repository with the trusted root of the Sigstore, and what its users get of it. */
async function repositoryOf(t: TestContext): Promise<{ mirror: TufRepository; tuf: { url: string; root: string } }> {
  const mirror = await openTufRepository();
  t.after(() => mirror.close());
  const root = mirror.publishRoot();
  mirror.publish({ target: sigstore.root });
  return { mirror, tuf: { url: mirror.url, root } };
}

async function newRoot(fields: object): Promise<string> {
  const path = `/registry/v2/trustRoots/${platform.organization}`;
  return (await platform.ok("POST", path, { name: `root ${(names += 1)}`, ...fields })).uid;
}

const rootOf = (uid: string): Promise<TrustRoot> => platform.ok<TrustRoot>("GET", `/registry/v2/trustRoots/${uid}`);

/** The root once it is in this state. */
async function inState(uid: string, state: string): Promise<TrustRoot> {
  return await eventually(async () => {
    const root = await rootOf(uid);
    return root.state === `TRUST_ROOT_STATE_${state}` && root;
  });
}

/** Has roots refreshed that are due a day later, and waits until this one was. */
async function refreshed(mirror: TufRepository): Promise<void> {
  const before = mirror.asked.length;
  platform.clock.offsetMs += DAY_MS + HOUR_MS;
  platform.wake(["trust-roots"]);
  await eventually(() => mirror.asked.length > before);
}

/** What the signer of the trust root says of an image that the job has signed. */
async function signedWorth(trustRoot: string, by: Sigstore = sigstore): Promise<() => Promise<string>> {
  const name = `signer ${(names += 1)}`;
  await platform.ok("POST", `/registry/v2/signers/${platform.organization}`, {
    name,
    keyless: { issuer: ISSUER, subject: WORKFLOW, trustRoot },
  });
  // The clock moves on by more than a token holds.
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place: Place = await newRepoPlace(platform, token);
  const digest = await pushLayers(place, "v1", [Buffer.from(name)]);
  const manifest = await pushReferrer(place, digest, await by.bundle(JOB, inToto(digest, COSIGN_SIGN)));
  return async () => {
    const found = await verifiedSignatures(platform, place, digest);
    const signature = found.find((each) => each.manifest === manifest);
    return short(signature?.verdicts.find((each) => each.signerName === name));
  };
}

async function changesTo(worth: () => Promise<string>, expected: string): Promise<void> {
  await eventually(async () => (await worth()) === expected);
}

test("a root in the resource verifies identities that name it, and nothing else does", async () => {
  const other = await openSigstore();
  const [own, others] = [await newRoot({ trustedRoot: sigstore.root }), await newRoot({ trustedRoot: other.root })];
  assert.equal((await rootOf(own)).state, "TRUST_ROOT_STATE_READY");
  assert.equal(await (await signedWorth(own))(), "TRUSTED");
  const worth = await signedWorth(others);
  assert.equal(await worth(), "INVALID BAD_CERTIFICATE");
  // Another root by hand: what is held is verified anew.
  await platform.ok("PATCH", `/registry/v2/trustRoots/${others}?updateMask=trusted_root`, {
    trustedRoot: sigstore.root,
  });
  await changesTo(worth, "TRUSTED");
  const deleted = await platform.call("DELETE", `/registry/v2/trustRoots/${others}`, { token: await platform.token() });
  assert.match(deleted.text, /RESOURCE_IN_USE.*signers name the trust root/s);
});

test("a root of TUF is fetched, verifies identities, and another target has them verified anew", async (t) => {
  const { mirror, tuf } = await repositoryOf(t);
  const other = await openSigstore();
  mirror.publish({ target: other.root });
  const uid = await newRoot({ tuf });
  const { message, refreshTime } = await inState(uid, "READY");
  assert.deepEqual([message, refreshTime === undefined], ["", false]);
  const worth = await signedWorth(uid);
  assert.equal(await worth(), "INVALID BAD_CERTIFICATE");
  mirror.publish({ target: sigstore.root });
  await refreshed(mirror);
  await changesTo(worth, "TRUSTED");
  // Roots that are rotated, two of them since: each signed by the keys before as well.
  const [second, third] = [newTufKey("ecdsa"), newTufKey()];
  mirror.publishRoot([second], [mirror.keys.root, second]);
  mirror.publishRoot([third], [second, third]);
  mirror.publish({ target: other.root });
  await refreshed(mirror);
  await changesTo(worth, "INVALID BAD_CERTIFICATE");
  assert.ok(mirror.asked.includes("/3.root.json"));
  // The kept root is the one from which on is asked the next time.
  mirror.asked.length = 0;
  mirror.publish({ target: sigstore.root });
  await refreshed(mirror);
  await changesTo(worth, "TRUSTED");
  assert.equal(mirror.asked[0], "/4.root.json");
  await eventually(() => readdirSync(temp).every((name) => !name.startsWith("moorage-tuf-")));
});

test("what a mirror must not say is refused, and what was known stays, with why", async (t) => {
  const { mirror, tuf } = await repositoryOf(t);
  mirror.publish();
  const uid = await newRoot({ tuf });
  const { refreshTime } = await inState(uid, "READY");
  const worth = await signedWorth(uid);
  assert.equal(await worth(), "TRUSTED");
  const good = new Map(mirror.files);
  const restore = (): void => {
    mirror.files.clear();
    for (const [path, content] of good) mirror.files.set(path, content);
  };
  const other = await openSigstore();
  /** What the root says once it was refreshed. */
  const refused = async (change: () => void, said: RegExp): Promise<void> => {
    restore();
    const versions = { ...mirror.versions };
    change();
    platform.clock.offsetMs += DAY_MS + HOUR_MS;
    platform.wake(["trust-roots"]);
    await eventually(async () => {
      const root = await rootOf(uid);
      return root.state === "TRUST_ROOT_STATE_FAILED" && said.test(root.message);
    });
    Object.assign(mirror.versions, versions);
    assert.equal((await rootOf(uid)).refreshTime, refreshTime);
    assert.equal(await worth(), "TRUSTED");
  };
  const target = other.root;
  await refused(() => mirror.publish({ target, timestampKey: newTufKey() }), /^timestamp/);
  await refused(
    () => mirror.publish({ target, versions: { timestamp: 1 } }),
    /version 1 is less than current version 2/,
  );
  await refused(
    () => mirror.publish({ target, versions: { snapshot: 1 } }),
    /New snapshot version 1 is less than current version 2/,
  );
  await refused(() => mirror.publish({ target, expireMs: Date.now() - DAY_MS }), /expired/);
  await refused(() => {
    const foreign = newTufKey();
    mirror.publishRoot([foreign], [foreign]);
  }, /root/);
  await refused(() => mirror.files.set("/timestamp.json", Buffer.from("[".repeat(10_000))), /timestamp\.json: .*JSON/);
  const answered = async (how: Parameters<TufRepository["answer"]>[1], said: RegExp): Promise<void> => {
    await refused(() => mirror.answer("/timestamp.json", how), said);
    mirror.answer("/timestamp.json");
  };
  await answered((response) => {
    response.writeHead(200);
    // Endless: until the other side has had enough.
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, " "))) continue;
    };
    response.on("drain", more);
    more();
  }, /timestamp\.json: the answer is too large/);
  await answered(
    (response) => void response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end(),
    /timestamp\.json: the answer is a redirect/,
  );
  restore();
  mirror.setDown(true);
  await refused(() => {}, /the mirror answers 503/);
  mirror.setDown(false);
  mirror.publish({ target: sigstore.root });
  await refreshed(mirror);
  assert.equal((await inState(uid, "READY")).message, "");
});

test("metadata that has expired verifies nothing any longer, until the mirror has newer", async (t) => {
  const { mirror, tuf } = await repositoryOf(t);
  mirror.publish({ expireMs: platform.clock.nowMs() + 30 * DAY_MS });
  const uid = await newRoot({ tuf });
  await inState(uid, "READY");
  const worth = await signedWorth(uid);
  assert.equal(await worth(), "TRUSTED");
  mirror.setDown(true);
  platform.clock.offsetMs += 29 * DAY_MS;
  platform.wake(["trust-roots"]);
  const failed = await inState(uid, "FAILED");
  assert.match(failed.message, /the mirror answers 503/);
  assert.equal(await worth(), "TRUSTED");
  platform.clock.offsetMs += 2 * DAY_MS;
  platform.wake(["trust-roots"]);
  const expired = await inState(uid, "EXPIRED");
  assert.match(expired.message, /expired at .*: .*the mirror answers 503/);
  await changesTo(worth, "UNTRUSTED NO_TRUST_ROOT");
  mirror.setDown(false);
  mirror.publish();
  await refreshed(mirror);
  await changesTo(worth, "TRUSTED");
});

test("another root or mirror begins anew, and what is not fetched yet verifies nothing", async (t) => {
  const { mirror, tuf } = await repositoryOf(t);
  const uid = await newRoot({ tuf });
  await inState(uid, "READY");
  const worth = await signedWorth(uid);
  assert.equal(await worth(), "TRUSTED");
  const { tuf: others } = await repositoryOf(t);
  const patch = (body: object): Promise<TrustRoot> =>
    platform.ok<TrustRoot>("PATCH", `/registry/v2/trustRoots/${uid}?updateMask=tuf`, { tuf: body });
  // The root of one repository with the mirror of another: nothing of what was known counts.
  await patch({ ...tuf, root: others.root });
  const root = await eventually(async () => {
    const now = await rootOf(uid);
    return now.message.startsWith("timestamp") && now;
  });
  assert.equal(root.state, "TRUST_ROOT_STATE_WAITING");
  assert.equal(root.refreshTime, undefined);
  await changesTo(worth, "UNTRUSTED NO_TRUST_ROOT");
  await patch({ ...tuf, interval: "7200s" });
  await inState(uid, "READY");
  await changesTo(worth, "TRUSTED");
  assert.ok(mirror.asked.length > 0);
});

test("what would not be fetched or verified is rejected, with the reason", async (t) => {
  const { tuf } = await repositoryOf(t);
  const rejected = async (body: object, path = "trustRoots"): Promise<string> => {
    const answer = await platform.call("POST", `/registry/v2/${path}/${platform.organization}`, {
      token: await platform.token(),
      body: { name: "rejected", ...body },
    });
    assert.equal(answer.status, 400, answer.text);
    return answer.text;
  };
  assert.match(await rejected({}), /exactly one of trustedRoot and tuf/);
  assert.match(await rejected({ tuf, trustedRoot: sigstore.root }), /exactly one of trustedRoot and tuf/);
  assert.match(await rejected({ trustedRoot: "{" }), /is not JSON/);
  assert.match(await rejected({ trustedRoot: `${sigstore.root}\n${sigstore.root}` }), /a trust root of each line/);
  assert.match(await rejected({ trustedRoot: "{}" }), /it has no certificateAuthorities/);
  assert.match(
    await rejected({ trustedRoot: '{"certificateAuthorities": [{"certChain": {"certificates": []}}]}' }),
    /cannot be read as a trusted root of Sigstore/,
  );
  assert.match(await rejected({ tuf: { ...tuf, url: "ftp://example.com" } }), /tuf\.url.*is not fetched/s);
  assert.match(await rejected({ tuf: { ...tuf, url: `${tuf.url}/?x` } }), /without \? and #/);
  assert.match(await rejected({ tuf: { ...tuf, root: "{}" } }), /is not the metadata of a root of TUF/);
  assert.match(await rejected({ tuf: { url: tuf.url } }), /tuf\.root/);
  assert.match(await rejected({ tuf: { ...tuf, interval: "60s" } }), /an hour at least/);
  const keyless = { issuer: ISSUER, subject: WORKFLOW };
  assert.match(await rejected({ keyless }, "signers"), /the server has neither MOORAGE_SIGSTORE_ROOT nor/);
  assert.match(
    await rejected({ keyless: { ...keyless, trustRoot: `${platform.organization}/0000000000000000` } }, "signers"),
    /there is no such trust root/,
  );
  // A group cannot use the trust root of a group below it.
  const { uid: group } = await platform.group(platform.organization);
  const below = await platform.ok("POST", `/registry/v2/trustRoots/${group}`, { name: "below", tuf });
  assert.match(
    await rejected({ keyless: { ...keyless, trustRoot: below.uid } }, "signers"),
    /there is no such trust root/,
  );
});

test("a mirror at a private address is refused where these are not allowed", async (t) => {
  const strict = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "0" });
  t.after(() => strict.close());
  const mirror = await openTufRepository();
  t.after(() => mirror.close());
  const answer = await strict.call("POST", `/registry/v2/trustRoots/${strict.organization}`, {
    token: await strict.token(),
    body: { name: "inside", tuf: { url: "https://127.0.0.1:1", root: mirror.publishRoot() } },
  });
  assert.match(answer.text, /the address is not a public one/);
});

test("the mirror of the settings is that of signers that name no trust root", async (t) => {
  const { mirror, tuf } = await repositoryOf(t);
  const folder = mkdtempSync(join(tmpdir(), "moorage-root-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(folder, "root.json");
  writeFileSync(file, tuf.root);
  await platform.close();
  platform = await startPlatform({
    ...LOOPBACK,
    MOORAGE_SIGSTORE_TUF_URL: tuf.url,
    MOORAGE_SIGSTORE_TUF_ROOT: file,
  });
  const worth = await signedWorth("");
  platform.wake(["trust-roots"]);
  await changesTo(worth, "TRUSTED");
  const other = await openSigstore();
  mirror.publish({ target: other.root });
  await refreshed(mirror);
  await changesTo(worth, "INVALID BAD_CERTIFICATE");
});
