// Pulls under an enforcing policy that are answered from memory: the next one after any change is answered by it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushIndex } from "../../../server/test/support/catalog/push.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  cosignLayer,
  cosignPayload,
  newKey,
  newSigner,
  pushCosign,
  type SigningKey,
  tagFor,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

const HOUR_MS = 3_600_000;

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

/** A repo with a policy, and an image there that is pulled as `latest` and by its digest. */
interface Stage {
  repo: SignedRepo;
  digest: string;
  key: SigningKey;
  signer: string;
  policy: string;
}

async function openStage(fields: object = {}, keyFields: object = {}): Promise<Stage> {
  const repo = await openSignedRepo(platform);
  const key = newKey();
  const signer = await newSigner(platform, repo.group, "release", [{ pem: key.pem, ...keyFields }]);
  const policy = await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }], ...fields });
  return { repo, digest: await repo.push("latest"), key, signer, policy };
}

const statuses = async ({ repo, digest }: Stage): Promise<number[]> => {
  const answers = [await repo.pull("latest"), await repo.pull(digest), await repo.pull(digest, "HEAD")];
  return answers.map(({ status }) => status);
};
const ANSWERED = [200, 200, 200];
const DENIED = [403, 403, 403];

/** The answers before a change, more than once, so that they come from memory, and those right after it. */
async function changed(stage: Stage, change: () => Promise<unknown>, expected = DENIED): Promise<void> {
  for (let times = 0; times < 3; times += 1) assert.deepEqual(await statuses(stage), ANSWERED);
  await change();
  for (let times = 0; times < 2; times += 1) assert.deepEqual(await statuses(stage), expected);
}

const iso = (afterMs: number): string => new Date(platform.clock.nowMs() + afterMs).toISOString();
const later = async (ms: number): Promise<void> => {
  platform.clock.offsetMs += ms;
};
const patch = (path: string, mask: string, body: object): Promise<unknown> =>
  platform.ok("PATCH", `/registry/v2/${path}?updateMask=${mask}`, body);

/** Does the work while the server's clock stands, but for what `later` moves it. */
async function whileTimeStands(work: () => Promise<void>): Promise<void> {
  const { clock } = platform;
  const { nowMs } = clock;
  const beganMs = nowMs() - clock.offsetMs;
  clock.nowMs = () => beganMs + clock.offsetMs;
  try {
    await work();
  } finally {
    clock.nowMs = nowMs;
  }
}

async function remove({ name, url }: SignedRepo, reference: string): Promise<void> {
  const token = await platform.token(platform.owner, { audience: new URL(url).host });
  const { status, text } = await platform.call("DELETE", `/v2/${name}/manifests/${reference}`, { token });
  assert.equal(status, 202, text);
}

test("a signed pull is answered without asking for signatures again while nothing is committed", async () => {
  const stage = await openStage();
  await stage.repo.sign(stage.digest, stage.key);
  assert.deepEqual(await statuses(stage), ANSWERED);
  const asked = async (): Promise<number> => {
    const ran = await statementsRun(() => stage.repo.pull("latest"));
    return ran.filter(({ text }) => text.includes("signature_readings")).length;
  };
  // Pulls are counted in the background, which is a commit.
  if (ENGINE === "sqlite") await eventually(async () => (await asked()) === 0);
  else assert.ok((await asked()) > 0, "PostgreSQL is asked each time");
});

test("the next pull sees what becomes of a signature, its signer and its policy", async () => {
  const signed = async (fields: object = {}, keyFields: object = {}): Promise<Stage> => {
    const stage = await openStage(fields, keyFields);
    await stage.repo.sign(stage.digest, stage.key);
    return stage;
  };
  const replaced = await signed();
  await changed(replaced, async () => {
    await patch(`signers/${replaced.signer}`, "keys", { keys: [{ pem: newKey().pem }] });
    await verifiedSignatures(platform, replaced.repo, replaced.digest);
  });
  const revoked = await signed();
  await changed(revoked, async () => {
    const keys = [{ pem: revoked.key.pem, revokeTime: iso(-HOUR_MS) }];
    await patch(`signers/${revoked.signer}`, "keys", { keys });
    await verifiedSignatures(platform, revoked.repo, revoked.digest);
  });
  const taken = await signed();
  await changed(taken, async () => {
    await remove(taken.repo, tagFor(taken.digest, "sig"));
    await verifiedSignatures(platform, taken.repo, taken.digest, 0);
  });
  const overwritten = await signed();
  await changed(overwritten, async () => {
    await pushCosign(overwritten.repo, overwritten.digest, [cosignLayer(newKey(), cosignPayload(overwritten.digest))]);
    await eventually(async () => {
      const [one, ...others] = await verifiedSignatures(platform, overwritten.repo, overwritten.digest);
      return others.length === 0 && one?.state === "SIGNATURE_STATE_UNTRUSTED";
    });
  });
  const stricter = await signed();
  await changed(stricter, () =>
    patch(`signaturePolicies/${stricter.policy}`, "rules", {
      rules: [{ name: "image", signers: [stricter.signer], threshold: 2 }],
    }),
  );
  const second = await signed();
  await changed(second, async () => {
    const other = await newSigner(platform, platform.organization, "second", [newKey()]);
    await newPolicy(platform, second.repo.group, { rules: [{ signers: [other] }] });
  });
});

test("the next pull sees a tag, an index and an exemption that decide of an image", async () => {
  const tagged = await openStage({ tagPattern: "v.*", on: ["SIGNATURE_ACTION_PULL"] });
  await changed(tagged, () => platform.tag(tagged.repo.repo, { name: "v1", digest: tagged.digest }));
  const exempt = await openStage();
  const path = `/registry/v2/signatureExemptions/${exempt.policy}`;
  const body = { repo: exempt.repo.repo, reason: "now", expireTime: iso(HOUR_MS) };
  const { uid } = await platform.ok("POST", path, { ...body, digest: exempt.digest });
  await changed(exempt, () => platform.ok("DELETE", `/registry/v2/signatureExemptions/${uid}`));
  const indexed = await openStage({ tagPattern: "v.*", on: ["SIGNATURE_ACTION_PULL"] });
  await changed(indexed, () =>
    pushIndex(indexed.repo, "v1", [[indexed.digest, { os: "linux", architecture: "amd64" }]]),
  );
  const named = await openStage();
  const index = await pushIndex(named.repo, "all", [[named.digest, { os: "linux", architecture: "amd64" }]]);
  await named.repo.sign(index, named.key);
  await changed(named, async () => {
    await remove(named.repo, "all");
    await remove(named.repo, index);
  });
});

test("the next pull sees what ends by the time alone", async () => {
  await whileTimeStands(async () => {
    const exempt = await openStage();
    await platform.ok("POST", `/registry/v2/signatureExemptions/${exempt.policy}`, {
      repo: exempt.repo.repo,
      digest: exempt.digest,
      reason: "for some seconds",
      expireTime: iso(30_000),
    });
    await changed(exempt, () => later(31_000));
    for (const field of ["notAfter", "revokeTime"]) {
      const ending = await openStage({}, { [field]: iso(40_000) });
      await ending.repo.sign(ending.digest, ending.key);
      await changed(ending, () => later(41_000));
    }
  });
});

test("a verdict that changes without its verification is found by a stale answer, for a minute at most", async () => {
  await whileTimeStands(async () => {
    const stage = await openStage();
    await stage.repo.sign(stage.digest, stage.key);
    // What no command does: nothing says that the signature was verified anew.
    const ended = (tx: Database): Promise<unknown> =>
      tx.deleteFrom("signature_verdicts").where("subject", "=", stage.digest).execute();
    await changed(stage, () => platform.transact(ended), ANSWERED);
    await later(61_000);
    assert.deepEqual(await statuses(stage), DENIED);
    // What commands do.
    const other = await openStage();
    await other.repo.sign(other.digest, other.key);
    await changed(other, () =>
      platform.transact(async (tx) => {
        await tx.deleteFrom("signature_verdicts").where("subject", "=", other.digest).execute();
        const set = tx.updateTable("signature_readings").set((row) => ({ finish_time: row("finish_time", "+", 1) }));
        await set.where("subject", "=", other.digest).execute();
      }),
    );
  });
});
