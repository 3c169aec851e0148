// How many different logs and authorities of a trust root have to speak for a signature.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  type BundleOptions,
  type Job,
  openSigstore,
  type Sigstore,
} from "../../../server/test/support/keyless-signing.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  COSIGN_SIGN,
  inToto,
  type ListedSignature,
  pushReferrer,
  short,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";
import { openTufRepository } from "../../../server/test/support/tuf-repository.ts";

const ISSUER = "https://token.actions.example.com";
const WORKFLOW = "https://github.example.com/acme/app/.github/workflows/release.yml@refs/tags/v1";
const JOB: Job = { subject: WORKFLOW, issuer: ISSUER };

let platform: Platform;
let sigstore: Sigstore;
before(async () => {
  // Two logs, and two time-stamping authorities.
  sigstore = await openSigstore({ logs: 2, authorities: 2 });
  platform = await startPlatform(LOOPBACK);
});
after(() => platform.close());

let names = 0;
const path = (): string => `/registry/v2/trustRoots/${platform.organization}`;

async function newRoot(fields: object): Promise<string> {
  return (await platform.ok("POST", path(), { name: `root ${(names += 1)}`, ...fields })).uid;
}

/** The trusted root with no more than the first of each of these. */
function rootWith(kept: { tlogs?: number; timestampAuthorities?: number; ctlogs?: number }): string {
  const root = JSON.parse(sigstore.root) as Record<string, unknown[]>;
  for (const [part, count] of Object.entries(kept)) root[part] = (root[part] ?? []).slice(0, count);
  return JSON.stringify(root);
}

type Verdict = ListedSignature["verdicts"][number] | undefined;

/**
 * What the signer of the trust root says of an image that the job has signed in this way. Both have a group of their
 * own, since a new signer has all images of its group verified.
 */
async function signedWith(trustRoot: string, how: BundleOptions): Promise<() => Promise<Verdict>> {
  const name = `signer ${(names += 1)}`;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token, { inOwnGroup: true });
  await platform.ok("POST", `/registry/v2/signers/${place.group}`, {
    name,
    keyless: { issuer: ISSUER, subject: WORKFLOW, trustRoot },
  });
  const digest = await pushLayers(place, "v1", [Buffer.from(name)]);
  const manifest = await pushReferrer(place, digest, await sigstore.bundle(JOB, inToto(digest, COSIGN_SIGN), how));
  return async () => {
    const found = await verifiedSignatures(platform, place, digest);
    return found.find((each) => each.manifest === manifest)?.verdicts.find((each) => each.signerName === name);
  };
}

async function worth(trustRoot: string, how: BundleOptions): Promise<string> {
  const verdict = await (await signedWith(trustRoot, how))();
  return [short(verdict), verdict?.reason].filter((each) => each !== "").join(": ");
}

test("a signature has to stand in as many different logs as the root asks for", async () => {
  const two = await newRoot({ trustedRoot: sigstore.root, logThreshold: 2 });
  assert.equal(await worth(two, { logs: [0, 1] }), "TRUSTED");
  const short = "INVALID NOT_LOGGED: it stands in 1 of the 2 logs that the trust root asks for";
  assert.equal(await worth(two, { logs: [0] }), short);
  // Two entries of one log are one log's word.
  assert.equal(await worth(two, { logs: [1, 1] }), short);
  const one = await newRoot({ trustedRoot: sigstore.root });
  assert.equal(await worth(one, { logs: [1] }), "TRUSTED");
  const none = await newRoot({ trustedRoot: sigstore.root, logThreshold: 0 });
  assert.equal(await worth(none, { logs: [], stamps: [1] }), "TRUSTED");
  assert.match(await worth(one, { logs: [], stamps: [1] }), /^INVALID NOT_LOGGED: it does not stand in/);
});

test("as many different logs and authorities as the root asks for have to say when it was made", async () => {
  const two = await newRoot({ trustedRoot: sigstore.root, timestampThreshold: 2 });
  for (const how of [{ logs: [0], stamps: [0] }, { logs: [0, 1] }, { logs: [0], withPromise: false, stamps: [0, 1] }])
    assert.equal(await worth(two, how), "TRUSTED", JSON.stringify(how));
  const short = "EXPIRED EXPIRED: its time is shown by 1 of the 2 logs and authorities that the trust root asks for";
  for (const how of [{ logs: [0] }, { logs: [0, 0] }, { logs: [0], withPromise: false, stamps: [1, 1] }])
    assert.equal(await worth(two, how), short, JSON.stringify(how));
});

test("a root with an authority for time stamps alone asks for its stamp, and for no log", async () => {
  const alone = await newRoot({ trustedRoot: rootWith({ tlogs: 0, timestampAuthorities: 1 }) });
  assert.equal(await worth(alone, { logs: [], stamps: [0] }), "TRUSTED");
  assert.match(await worth(alone, { logs: [], stamps: [1] }), /^INVALID BAD_CERTIFICATE: /);
  assert.match(await worth(alone, { logs: [] }), /^EXPIRED EXPIRED: /);
});

test("another threshold has what is signed verified anew", async () => {
  const uid = await newRoot({ trustedRoot: sigstore.root });
  const verdict = await signedWith(uid, { logs: [0] });
  assert.equal(short(await verdict()), "TRUSTED");
  const change = (logThreshold: number | null): Promise<unknown> =>
    platform.ok("PATCH", `/registry/v2/trustRoots/${uid}?updateMask=log_threshold`, { logThreshold });
  await change(2);
  await eventually(async () => short(await verdict()) === "INVALID NOT_LOGGED");
  await change(null);
  const read = await platform.ok<{ logThreshold?: number }>("GET", `/registry/v2/trustRoots/${uid}`);
  assert.equal(read.logThreshold, undefined);
  await eventually(async () => short(await verdict()) === "TRUSTED");
});

test("thresholds that nothing can reach are rejected, with what the root names", async () => {
  const rejected = async (fields: object): Promise<string> => {
    const answer = await platform.call("POST", path(), {
      token: await platform.token(),
      body: { name: "rejected", trustedRoot: sigstore.root, ...fields },
    });
    assert.equal(answer.status, 400, answer.text);
    return answer.text;
  };
  assert.match(await rejected({ logThreshold: 3 }), /logThreshold.*is 3, but the trusted root names 2 transparency/s);
  assert.match(await rejected({ sctThreshold: 2 }), /sctThreshold.*names 1 log of certificates/s);
  assert.match(await rejected({ timestampThreshold: 5 }), /timestampThreshold.*names 4 logs and time-stamping/s);
  assert.match(await rejected({ timestampThreshold: 0 }), /timestampThreshold.*must be 1 to 10/s);
  assert.match(await rejected({ logThreshold: -1 }), /logThreshold.*must be 0 to 10/s);
  // One log twice is one log.
  const root = JSON.parse(rootWith({ tlogs: 1 })) as { tlogs: object[] };
  const twice = JSON.stringify({ ...root, tlogs: [...root.tlogs, ...root.tlogs] });
  assert.match(await rejected({ trustedRoot: twice, logThreshold: 2 }), /names 1 transparency log/);
});

test("a mirror whose root names too few says so, and verifies nothing", async (t) => {
  const mirror = await openTufRepository();
  t.after(() => mirror.close());
  const root = mirror.publishRoot();
  mirror.publish({ target: rootWith({ tlogs: 1 }) });
  const uid = await newRoot({ tuf: { url: mirror.url, root }, logThreshold: 2 });
  const rootNow = (): Promise<{ state: string; message: string }> =>
    platform.ok<{ state: string; message: string }>("GET", `/registry/v2/trustRoots/${uid}`);
  const found = await eventually(async () => {
    const now = await rootNow();
    return now.state === "TRUST_ROOT_STATE_TOO_FEW" && now;
  });
  assert.equal(found.message, "logThreshold is 2, but the trusted root names 1 transparency log");
  const verdict = await signedWith(uid, { logs: [0, 1] });
  assert.equal(short(await verdict()), "UNTRUSTED NO_TRUST_ROOT");
  assert.match((await verdict())?.reason ?? "", /logThreshold is 2, but the trusted root names 1/);
  await platform.ok("PATCH", `/registry/v2/trustRoots/${uid}?updateMask=log_threshold`, { logThreshold: 1 });
  assert.deepEqual(await rootNow().then(({ state, message }) => [state, message]), ["TRUST_ROOT_STATE_READY", ""]);
  await platform.ok("PATCH", `/registry/v2/trustRoots/${uid}?updateMask=log_threshold`, { logThreshold: 2 });
  assert.equal((await rootNow()).state, "TRUST_ROOT_STATE_TOO_FEW");
});
