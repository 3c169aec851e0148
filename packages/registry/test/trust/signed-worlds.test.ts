// Random worlds of policies: what pulls, explanations and decisions say of an image never differs.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { pushIndex } from "../../../server/test/support/catalog/push.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { ACME, newChain } from "../../../server/test/support/notation-certificates.ts";
import { newX509Signer, signByNotation } from "../../../server/test/support/notation-repo.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  cosignLayer,
  cosignPayload,
  envelopeBundle,
  inToto,
  newKey,
  newSigner,
  PROVENANCE,
  pushCosign,
  pushReferrer,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

// `npm test` asks the same every time; the long run draws a seed.
const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? sized(18, randomInt(2 ** 31)));
const COUNT = Number(process.env["MOORAGE_TEST_WORLDS"] ?? sized(25, 500));

let platform: Platform;
let inner = "";
const keys = [newKey(), newKey()];
/** Of certificates: one whose identities have signed, and one who has the same root and other identities. */
const chain = newChain({ subject: [...ACME, ["CN", "release"]] });
const signers: string[] = [];
const repos: SignedRepo[] = [];
const digests = new Map<SignedRepo, string[]>();
/** What the tag points to that pointed to something signed before. */
const moved = new Map<SignedRepo, string>();
/** What certificates alone have signed. */
const certified = new Set<string>();

before(async () => {
  platform = await startPlatform();
  for (const [at, key] of keys.entries())
    signers.push(await newSigner(platform, platform.organization, `signer ${at}`, [key]));
  for (const name of ["release", "other"]) {
    const identities = [`x509.subject: C=US, ST=WA, O=acme, CN=${name}`];
    signers.push(await newX509Signer(platform, platform.organization, { roots: [chain[2].pem], identities }));
  }
  const outer = await openSignedRepo(platform);
  inner = (await platform.group(outer.group, { name: "inner" })).uid;
  repos.push(outer, await openSignedRepo(platform, inner, outer.name.replace(/app$/, "inner")));
  const [first, second] = keys;
  for (const repo of repos) {
    const [plain, signed, twice] = [await repo.push("plain"), await repo.push("v1"), await repo.push("v2")];
    if (first !== undefined) await repo.sign(signed, first);
    if (first !== undefined && second !== undefined) {
      const named = [
        cosignPayload(twice, `registry.example.com/${repo.name}`, { env: "prod" }),
        cosignPayload(twice, "other/app", { env: "dev" }),
      ];
      await pushCosign(repo, twice, [cosignLayer(first, named[0] ?? ""), cosignLayer(second, named[1] ?? "")]);
      const predicate = { runDetails: { builder: { id: "ci" }, metadata: { finished: iso(), level: 3 } } };
      await pushReferrer(repo, twice, envelopeBundle(first, inToto(twice, PROVENANCE, predicate)));
      await verifiedSignatures(platform, repo, twice, 3);
    }
    const linux = (architecture: string) => ({ os: "linux", architecture });
    const mixed = await pushIndex(repo, "mixed", [
      [plain, linux("amd64")],
      [signed, linux("arm64")],
    ]);
    const whole = await pushIndex(repo, "v3", [
      [signed, linux("amd64")],
      [twice, linux("arm64")],
    ]);
    const byNotation = await repo.push("v4");
    await signByNotation(repo, byNotation, chain, { annotations: { env: "prod" } });
    await verifiedSignatures(platform, repo, byNotation);
    certified.add(byNotation);
    digests.set(repo, [plain, signed, twice, mixed, whole, byNotation]);
    const earlier = await repo.push("moved");
    if (first !== undefined) await repo.sign(earlier, first);
    await signByNotation(repo, earlier, chain, { annotations: { env: "prod" } });
    await verifiedSignatures(platform, repo, earlier, 2);
    moved.set(repo, await repo.push("moved"));
  }
});
after(() => platform?.close());

const iso = (): string => new Date(platform.clock.nowMs()).toISOString();

/** What rules ask for beside who has signed: nothing, mostly. */
function askedOf(dice: Dice): object {
  const metadata = "/runDetails/metadata";
  return dice.pick<object>([
    {},
    {},
    { annotations: { env: dice.pick(["prod", "dev"]) } },
    { sameName: true },
    { provenance: { builderIds: [dice.pick(["ci", "laptop"])] } },
    { predicateType: PROVENANCE, conditions: [{ pointer: `${metadata}/level`, atLeast: dice.pick([2, 4]) }] },
    { predicateType: PROVENANCE, conditions: [{ pointer: `${metadata}/finished`, newerThan: "3600s" }] },
  ]);
}

async function deal(dice: Dice): Promise<void> {
  const { signaturePolicies: old } = (await platform.ok("GET", "/registry/v2/signaturePolicies")) as unknown as {
    signaturePolicies: { uid: string }[];
  };
  for (const { uid } of old) await platform.ok("DELETE", `/registry/v2/signaturePolicies/${uid}`);
  for (const group of [platform.organization, repos[0]?.group ?? "", inner]) {
    if (dice.chance(0.5)) continue;
    const on = dice.pick([["PULL"], ["PROMOTE"], ["PULL", "PROMOTE"]]);
    const policy = await newPolicy(platform, group, {
      on,
      holdTags: on.includes("PULL") && dice.chance(0.8),
      mode: dice.pick(["GATE_MODE_PREVIEW", "GATE_MODE_ENFORCE", "GATE_MODE_ENFORCE"]),
      tagPattern: dice.pick(["", "", "v.*", "plain", "v3", "moved"]),
      repoPattern: dice.pick(["", "", ".*/inner/.*"]),
      eachPlatform: dice.chance(0.2),
      rules: [
        {
          signers: dice.pick([signers, ...signers.map((signer) => [signer]), signers.slice(1)]),
          threshold: dice.pick([1, 1, 2]),
          ...askedOf(dice),
        },
      ],
      ...(dice.chance(0.3) && { since: new Date(platform.clock.nowMs() + 3_600_000).toISOString() }),
    });
    const repo = dice.pick(repos);
    if (!dice.chance(0.3) || (group === inner && repo === repos[0])) continue;
    const of = dice.chance(0.5)
      ? { tag: dice.pick(["plain", "v1", "mixed"]) }
      : { digest: dice.pick(digests.get(repo) ?? []) };
    const expireTime = new Date(platform.clock.nowMs() + 3_600_000).toISOString();
    await platform.ok("POST", `/registry/v2/signatureExemptions/${policy}`, {
      ...of,
      repo: repo.repo,
      reason: "dealt",
      expireTime,
    });
  }
}

/** What a pull of the moved tag is answered with, by the decision and the explanation. */
async function compareMoved(
  repo: SignedRepo,
  { identity, readsUnsigned }: { identity: string; readsUnsigned: boolean },
  words: string,
): Promise<boolean> {
  const current = moved.get(repo) ?? "";
  const path = `/registry/v2/repos/${repo.repo}/digests/${current}/signatureDecision?tag=moved`;
  const { held, answeredInstead } = (await platform.ok("GET", path)) as unknown as {
    held: boolean;
    answeredInstead: string;
  };
  const expected = readsUnsigned || !held ? current : answeredInstead;
  const { status, headers } = await repo.pullAs(identity, "moved");
  assert.equal(status === 200 ? headers["docker-content-digest"] : "", expected, words);
  const question = { identity, action: "REGISTRY_ACTION_PULL", resource: `${repo.name}:moved` };
  const said: Json = await platform.ok("POST", "/iam/v2/access:explain", question);
  assert.equal(said["allowed"], status === 200, words);
  return answeredInstead !== "";
}

test("pulls, explanations and decisions never differ", async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}, MOORAGE_TEST_WORLDS=${COUNT}`);
  const actors = [
    { identity: await platform.identity(platform.organization, "viewer"), readsUnsigned: false },
    { identity: await platform.identity(platform.organization, "registry.push"), readsUnsigned: true },
  ];
  const seen = new Map<string, number>();
  const ofCertified = new Set<string>();
  let heldTags = 0;
  for (let at = 0; at < COUNT; at += 1) {
    const dice = diceOf(SEED, at);
    await deal(dice);
    for (const repo of repos)
      if (await compareMoved(repo, dice.pick(actors), `seed ${SEED}, world ${at}, ${repo.name}:moved`)) heldTags += 1;
    for (const repo of repos)
      for (const digest of digests.get(repo) ?? []) {
        const path = `/registry/v2/repos/${repo.repo}/digests/${digest}/signatureDecision`;
        const { held, policies } = (await platform.ok("GET", path)) as unknown as {
          held: boolean;
          policies: { mode: string; outcome: string }[];
        };
        const words = `seed ${SEED}, world ${at}, ${repo.name}@${digest}: ${JSON.stringify(policies)}`;
        for (const { outcome } of policies) {
          seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
          if (certified.has(digest)) ofCertified.add(outcome);
        }
        assert.equal(
          held,
          policies.some(
            ({ mode, outcome }) => mode === "GATE_MODE_ENFORCE" && /UNSIGNED|WAITING|UNKNOWN/.test(outcome),
          ),
          words,
        );
        const { identity, readsUnsigned } = dice.pick(actors);
        const isAnswered = (await repo.pullAs(identity, digest)).status === 200;
        assert.equal(isAnswered, readsUnsigned || !held, words);
        const question = { identity, action: "REGISTRY_ACTION_PULL", resource: `${repo.name}@${digest}` };
        const said: Json = await platform.ok("POST", "/iam/v2/access:explain", question);
        assert.equal(said["allowed"], isAnswered, `${words} ${JSON.stringify(said)}`);
        if (!isAnswered) assert.equal(said["reason"], "ACCESS_REASON_SIGNATURE", words);
      }
  }
  assert.ok(heldTags > 0, "no tag was held");
  for (const outcome of ["SIGNED", "UNSIGNED"])
    assert.ok(ofCertified.has(`SIGNATURE_OUTCOME_${outcome}`), `what certificates have signed was never ${outcome}`);
  for (const outcome of ["SIGNED", "UNSIGNED", "EXEMPT", "NOT_COVERED", "HELD_BEFORE"])
    assert.ok(
      (seen.get(`SIGNATURE_OUTCOME_${outcome}`) ?? 0) > 0,
      `no image was ${outcome}: ${JSON.stringify([...seen])}`,
    );
});
