// The table of cases: tag patterns, since, exemptions, history and modes, and what the rules of a policy count.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GateMode,
  SignatureAction as Action,
  SignatureOutcome as Outcome,
  SignatureOutcomeSchema,
  SignatureState as State,
} from "@moorage/api/messages";
import { claimsOf } from "../claims/claims.ts";
import { compilePolicy, type PolicyRow } from "./compile.ts";
import { enforced, holdingPolicies, isForNow, isHeld, judge } from "./judge.ts";
import type {
  Attempted,
  Evidence,
  Exemption,
  HoldingPolicy,
  Judgment,
  SignatureFact,
  SignedManifest,
} from "./types.ts";

const heldBy = (judgment: Judgment): HoldingPolicy[] => enforced(holdingPolicies(judgment));

const NOW = 1_000_000;
const DIGEST = `sha256:${"a".repeat(64)}`;
const INDEX = `sha256:${"b".repeat(64)}`;
const OTHER = `sha256:${"c".repeat(64)}`;
const REPO = "g/r";
const CI = "g/ci";
const OPS = "g/ops";
const NAMES = new Map([
  [CI, "ci"],
  [OPS, "ops"],
]);

const fact = (fields: Partial<SignatureFact> = {}): SignatureFact => ({
  manifest: OTHER,
  layer: 0,
  signer: CI,
  key: "one",
  predicateType: "",
  state: State.TRUSTED,
  reason: "",
  ...fields,
});

const manifest = (
  digest: string,
  facts: SignatureFact[] = [],
  fields: Partial<SignedManifest> = {},
): SignedManifest => ({
  digest,
  facts,
  waits: false,
  waitsFor: new Set(),
  unread: [],
  ...fields,
});

function evidence(fields: Partial<Evidence> = {}): Evidence {
  return {
    repo: REPO,
    path: "acme/prod/app",
    digest: DIGEST,
    kind: "image",
    heldMs: NOW - 1_000,
    tags: [],
    currentTags: [],
    hasAllTags: true,
    own: manifest(DIGEST),
    indexes: [],
    images: [],
    hasAllImages: true,
    signerNames: NAMES,
    ...fields,
  };
}

const RULE = { name: "image", signers: [CI] };

function policyOf(fields: Partial<PolicyRow> & { rule?: object; all?: object[]; exempt?: Partial<Exemption>[] } = {}) {
  const { rule = RULE, all = [rule], exempt = [], ...row } = fields;
  const plain: PolicyRow = {
    uid: "g/p",
    name: "release",
    mode: GateMode.ENFORCE,
    actions: JSON.stringify([Action.PULL, Action.PROMOTE]),
    repo_pattern: "",
    tag_pattern: "",
    each_platform: 0,
    rules: JSON.stringify(all),
    since: null,
    hold_tags: 0,
    document_signers: "[]",
  };
  const exemptions = exempt.map((each) => ({ repo: REPO, digest: "", tag: "", expireMs: NOW + 1, ...each }));
  return compilePolicy({ ...plain, ...row }, "acme", exemptions);
}

const PULL: Attempted = { action: Action.PULL, nowMs: NOW };
const promoteTo = (tag: string): Attempted => ({ action: Action.PROMOTE, tag, nowMs: NOW });

type Fields = Parameters<typeof policyOf>[0];
type Case = readonly [
  what: string,
  policy: Fields,
  evidence: Partial<Evidence>,
  attempted: Attempted,
  outcome: Outcome,
];

const { SIGNED, UNSIGNED, WAITING, UNKNOWN, EXEMPT, HELD_BEFORE, NOT_COVERED, DOCUMENT } = Outcome;
const V = { tag_pattern: "v.*" };
const now = (...tags: string[]): Partial<Evidence> => ({ tags, currentTags: tags });
const before = (...tags: string[]): Partial<Evidence> => ({ tags });
const saying = (said: Parameters<typeof claimsOf>[0], fields: Partial<SignatureFact> = {}): Partial<Evidence> => {
  const { predicateType = "" } = said;
  return { own: manifest(DIGEST, [fact({ claims: claimsOf(said), predicateType, ...fields })]) };
};
const SCAN = "https://cosign.sigstore.dev/attestation/vuln/v1";
const SLSA_1 = "https://slsa.dev/provenance/v1";
const SLSA_02 = "https://slsa.dev/provenance/v0.2";
const asking = (rule: object): Fields => ({ rule: { ...RULE, ...rule } });
const where = (condition: object): Fields => asking({ predicateType: SCAN, conditions: [condition] });
const scanned = (predicate: object): Partial<Evidence> =>
  saying({ names: [], annotations: {}, predicateType: SCAN, predicate });
const named = (...names: string[]): Partial<Evidence> => saying({ names, annotations: {} });
const GITHUB = {
  buildDefinition: {
    buildType: "https://actions.github.io/buildtypes/workflow/v1",
    externalParameters: { workflow: { repository: "https://github.com/acme/app", ref: "refs/heads/main" } },
  },
  runDetails: { builder: { id: "https://github.com/actions/runner/github-hosted" } },
};
const GENERATOR = {
  builder: { id: "https://builder.example.com" },
  buildType: "https://example.com/build/v1",
  invocation: { configSource: { uri: "git+https://github.com/acme/app@refs/tags/v1" } },
};
const built = (predicate: object, predicateType = SLSA_1): Partial<Evidence> =>
  saying({ names: [], annotations: {}, predicateType, predicate });
const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, { value: n }]));
const iso = (ms: number): string => new Date(ms).toISOString();
const signedIndex = { indexes: [manifest(INDEX, [fact()])] };

const CASES: readonly Case[] = [
  // Tag patterns and history.
  ["no pattern, no tag", {}, {}, PULL, UNSIGNED],
  ["no pattern, any tag", {}, now("dev"), PULL, UNSIGNED],
  ["pattern, no tag", V, {}, PULL, NOT_COVERED],
  ["pattern, another tag", V, now("dev"), PULL, NOT_COVERED],
  ["pattern, the tag now", V, now("v1"), PULL, UNSIGNED],
  ["pattern, the tag in the past alone", V, before("v1"), PULL, UNSIGNED],
  ["pattern, the tag in the past, another one now", V, { tags: ["v1", "dev"], currentTags: ["dev"] }, PULL, UNSIGNED],
  ["pattern, two tags of which one is meant", V, now("dev", "v1"), PULL, UNSIGNED],
  ["the whole tag must match", { tag_pattern: "v1" }, now("v10"), PULL, NOT_COVERED],
  ["pattern, and not all tags are known", V, { ...now("dev"), hasAllTags: false }, PULL, UNSIGNED],
  ["pattern, promoted to a tag that is meant", V, now("dev"), promoteTo("v1"), UNSIGNED],
  ["pattern, promoted to a tag that is not meant", V, now("dev"), promoteTo("dev2"), NOT_COVERED],
  ["pattern, promoted away from a tag that is meant", V, before("v1"), promoteTo("dev"), UNSIGNED],
  // Repos and actions.
  ["another repo", { repo_pattern: "acme/dev/.*" }, {}, PULL, NOT_COVERED],
  ["this repo", { repo_pattern: "acme/prod/.*" }, {}, PULL, UNSIGNED],
  ["the whole name must match", { repo_pattern: "acme/prod" }, {}, PULL, NOT_COVERED],
  ["another action", { actions: `[${Action.PROMOTE}]` }, {}, PULL, NOT_COVERED],
  ["copies", { actions: `[${Action.COPY}]` }, {}, { action: Action.COPY, tag: "v1", nowMs: NOW }, UNSIGNED],
  // Since.
  ["held since before", { since: NOW }, {}, PULL, HELD_BEFORE],
  ["held since just then", { since: NOW - 1_000 }, {}, PULL, UNSIGNED],
  ["held since later", { since: NOW - 1_001 }, {}, PULL, UNSIGNED],
  ["not held: through a mirror", { since: NOW }, { heldMs: undefined as never }, PULL, UNSIGNED],
  ["held since before, no tag that is meant", { ...V, since: NOW }, now("dev"), PULL, NOT_COVERED],
  ["held since before, gets a tag later", { ...V, since: NOW }, now("v1"), PULL, HELD_BEFORE],
  ["held since before, promoted now", { ...V, since: NOW }, {}, promoteTo("v1"), HELD_BEFORE],
  ["held since before, and signed", { since: NOW }, { own: manifest(DIGEST, [fact()]) }, PULL, HELD_BEFORE],
  ["held since later, and its index is signed", { since: NOW - 1_000 }, signedIndex, PULL, SIGNED],
  // What is signed with it: annotations and names.
  [
    "annotation",
    asking({ annotations: { env: "prod" } }),
    saying({ names: [], annotations: { env: "prod" } }),
    PULL,
    SIGNED,
  ],
  [
    "another value",
    asking({ annotations: { env: "prod" } }),
    saying({ names: [], annotations: { env: "dev" } }),
    PULL,
    UNSIGNED,
  ],
  ["none", asking({ annotations: { env: "prod" } }), saying({ names: [], annotations: null }), PULL, UNSIGNED],
  [
    "an inherited name",
    asking({ annotations: { constructor: "x" } }),
    saying({ names: [], annotations: {} }),
    PULL,
    UNSIGNED,
  ],
  ["no text", asking({ annotations: { n: "1" } }), saying({ names: [], annotations: { n: 1 } }), PULL, UNKNOWN],
  [
    "verified before it was kept",
    asking({ annotations: { n: "1" } }),
    { own: manifest(DIGEST, [fact()]) },
    PULL,
    WAITING,
  ],
  [
    "not kept, and by nobody asked",
    asking({ annotations: { n: "1" } }),
    { own: manifest(DIGEST, [fact({ signer: OPS })]) },
    PULL,
    UNSIGNED,
  ],
  ["this name", asking({ sameName: true }), named("acme/prod/app"), PULL, SIGNED],
  [
    "this name, with host, tag and digest",
    asking({ sameName: true }),
    named(`registry.example.com:5000/acme/prod/app:v1@${DIGEST}`),
    PULL,
    SIGNED,
  ],
  ["another name", asking({ sameName: true }), named("registry.example.com/acme/dev/app"), PULL, UNSIGNED],
  ["a name that ends alike", asking({ sameName: true }), named("other/acme/prod/app"), PULL, UNSIGNED],
  ["no name", asking({ sameName: true }), named(), PULL, UNSIGNED],
  ["one of two names", asking({ sameName: true }), named("acme/dev/app", "acme/prod/app"), PULL, SIGNED],
  // Provenance.
  ["builder", asking({ provenance: { builderIds: [GITHUB.runDetails.builder.id] } }), built(GITHUB), PULL, SIGNED],
  [
    "another builder",
    asking({ provenance: { builderIds: ["https://github.com/actions"] } }),
    built(GITHUB),
    PULL,
    UNSIGNED,
  ],
  ["no builder", asking({ provenance: { builderIds: ["x"] } }), built({}), PULL, UNSIGNED],
  [
    "source and branch",
    asking({ provenance: { sourceUris: ["git+https://github.com/acme/app"], sourceRefs: ["refs/heads/main"] } }),
    built(GITHUB),
    PULL,
    SIGNED,
  ],
  ["another branch", asking({ provenance: { sourceRefs: ["refs/heads/dev"] } }), built(GITHUB), PULL, UNSIGNED],
  [
    "a source that begins alike",
    asking({ provenance: { sourceUris: ["https://github.com/acme/ap"] } }),
    built(GITHUB),
    PULL,
    UNSIGNED,
  ],
  [
    "no source",
    asking({ provenance: { sourceUris: ["https://github.com/acme/app"] } }),
    built({ ...GITHUB, buildDefinition: {} }),
    PULL,
    UNSIGNED,
  ],
  [
    "two sources, one another",
    asking({ provenance: { sourceUris: ["https://github.com/acme/app"] } }),
    built({
      buildDefinition: {
        externalParameters: {
          ...GITHUB.buildDefinition.externalParameters,
          source: { uri: "git+https://github.com/evil/app" },
        },
      },
    }),
    PULL,
    UNSIGNED,
  ],
  [
    "kind of build",
    asking({ provenance: { buildTypes: [GITHUB.buildDefinition.buildType] } }),
    built(GITHUB),
    PULL,
    SIGNED,
  ],
  [
    "SLSA 0.2",
    asking({
      provenance: {
        builderIds: [GENERATOR.builder.id],
        sourceUris: ["https://github.com/acme/app"],
        sourceRefs: ["refs/tags/v1"],
        buildTypes: [GENERATOR.buildType],
      },
    }),
    built(GENERATOR, SLSA_02),
    PULL,
    SIGNED,
  ],
  [
    "SLSA 0.2 where 1 is asked for",
    asking({ predicateType: SLSA_1, provenance: { builderIds: [GENERATOR.builder.id] } }),
    built(GENERATOR, SLSA_02),
    PULL,
    UNSIGNED,
  ],
  [
    "fields of SLSA 1 in a 0.2",
    asking({ provenance: { builderIds: [GITHUB.runDetails.builder.id] } }),
    built(GITHUB, SLSA_02),
    PULL,
    UNSIGNED,
  ],
  [
    "a provenance of another kind",
    asking({ provenance: { builderIds: ["x"] } }),
    built({ builder: { id: "x" } }, "https://slsa.dev/provenance/v0.1"),
    PULL,
    UNSIGNED,
  ],
  [
    "an image signature",
    asking({ provenance: { builderIds: ["x"] } }),
    { own: manifest(DIGEST, [fact()]) },
    PULL,
    UNSIGNED,
  ],
  // Conditions.
  ["a value", where({ pointer: "/result", values: ["passed", "warned"] }), scanned({ result: "passed" }), PULL, SIGNED],
  ["another value", where({ pointer: "/result", values: ["passed"] }), scanned({ result: "failed" }), PULL, UNSIGNED],
  ["true", where({ pointer: "/ok", values: ["true"] }), scanned({ ok: true }), PULL, SIGNED],
  ["no value", where({ pointer: "/result", values: ["passed"] }), scanned({}), PULL, UNSIGNED],
  [
    "an object there",
    where({ pointer: "/result", values: ["passed"] }),
    scanned({ result: { passed: 1 } }),
    PULL,
    UNSIGNED,
  ],
  [
    "in a list, escaped",
    where({ pointer: "/a~1b/0/c~0d", values: ["1"] }),
    scanned({ "a/b": [{ "c~d": 1 }] }),
    PULL,
    SIGNED,
  ],
  ["at most, equal", where({ pointer: "/critical", atMost: 0 }), scanned({ critical: 0 }), PULL, SIGNED],
  ["at most, more", where({ pointer: "/critical", atMost: 0 }), scanned({ critical: 1 }), PULL, UNSIGNED],
  ["at least, less", where({ pointer: "/score", atLeast: 8 }), scanned({ score: 7.9 }), PULL, UNSIGNED],
  ["a number as text", where({ pointer: "/score", atLeast: 8 }), scanned({ score: "9" }), PULL, UNSIGNED],
  ["young", where({ pointer: "/time", newerThan: "10s" }), scanned({ time: iso(NOW - 9_000) }), PULL, SIGNED],
  ["too old", where({ pointer: "/time", newerThan: "10s" }), scanned({ time: iso(NOW - 10_000) }), PULL, UNSIGNED],
  [
    "in the future",
    where({ pointer: "/time", newerThan: "10s" }),
    scanned({ time: iso(NOW + 600_000) }),
    PULL,
    UNSIGNED,
  ],
  ["no time", where({ pointer: "/time", newerThan: "10s" }), scanned({ time: "yesterday" }), PULL, UNSIGNED],
  ["too much to be kept", where({ pointer: "/n4999/value", atMost: 9 }), scanned(wide), PULL, UNKNOWN],
  [
    "too much, and what is asked for is kept",
    where({ pointer: "/ok", values: ["yes"] }),
    scanned({ wide, ok: "yes" }),
    PULL,
    SIGNED,
  ],
  [
    "another one says it",
    where({ pointer: "/ok", values: ["yes"] }),
    {
      own: manifest(DIGEST, [
        fact({
          predicateType: SCAN,
          claims: claimsOf({ names: [], annotations: {}, predicateType: SCAN, predicate: { ok: "no" } }),
        }),
        ...(scanned({ ok: "yes" }).own?.facts ?? []),
      ]),
    },
    PULL,
    SIGNED,
  ],
  // Exemptions.
  ["exempt by digest", { exempt: [{ digest: DIGEST }] }, {}, PULL, EXEMPT],
  ["another digest is exempt", { exempt: [{ digest: OTHER }] }, {}, PULL, UNSIGNED],
  ["exempt in another repo", { exempt: [{ digest: DIGEST, repo: "g/other" }] }, {}, PULL, UNSIGNED],
  ["an exemption that ends now", { exempt: [{ digest: DIGEST, expireMs: NOW }] }, {}, PULL, UNSIGNED],
  [
    "an ended exemption beside one that holds",
    { exempt: [{ digest: DIGEST, expireMs: 1 }, { digest: DIGEST }] },
    {},
    PULL,
    EXEMPT,
  ],
  ["an image of an exempt index", { exempt: [{ digest: INDEX }] }, { indexes: [manifest(INDEX)] }, PULL, EXEMPT],
  ["exempt by a tag that points to it", { exempt: [{ tag: "v1" }] }, now("v1"), PULL, EXEMPT],
  ["exempt by a tag that pointed to it", { exempt: [{ tag: "v1" }] }, before("v1"), PULL, UNSIGNED],
  [
    "exempt by tag, and another tag points to it, too",
    { ...V, exempt: [{ tag: "v1" }] },
    now("v1", "v2"),
    PULL,
    EXEMPT,
  ],
  ["exempt by a tag that it is promoted to", { exempt: [{ tag: "v1" }] }, {}, promoteTo("v1"), EXEMPT],
  ["exempt by a tag, promoted to another one", { exempt: [{ tag: "v1" }] }, {}, promoteTo("v2"), UNSIGNED],
  ["exempt, and no tag that is meant", { ...V, exempt: [{ digest: DIGEST }] }, now("dev"), PULL, NOT_COVERED],
  ["exempt, and held since before", { since: NOW, exempt: [{ digest: DIGEST }] }, {}, PULL, EXEMPT],
  ["exempt and in the past under the tag", { ...V, exempt: [{ digest: DIGEST }] }, before("v1"), PULL, EXEMPT],
  // Documents: what signing needs.
  ["a signature's own manifest", {}, { kind: "document" }, PULL, DOCUMENT],
  ["the same under a damaged policy", { rules: "[" }, { kind: "document" }, PULL, DOCUMENT],
  // What is not known.
  ["a damaged policy", { rules: "[" }, { own: manifest(DIGEST, [fact()]) }, PULL, UNKNOWN],
  ["a policy without rules", { all: [] }, { own: manifest(DIGEST, [fact()]) }, PULL, UNKNOWN],
  ["a pattern that cannot be compiled", { tag_pattern: "(" }, {}, PULL, UNKNOWN],
  ["not verified yet", {}, { own: manifest(DIGEST, [], { waits: true }) }, PULL, WAITING],
  ["verified, and something else is not yet", {}, { own: manifest(DIGEST, [fact()], { waits: true }) }, PULL, SIGNED],
  [
    "not verified against what the signer says now",
    {},
    { own: manifest(DIGEST, [], { waitsFor: new Set([CI]) }) },
    PULL,
    WAITING,
  ],
  [
    "the same of a signer that is not asked for",
    {},
    { own: manifest(DIGEST, [], { waitsFor: new Set([OPS]) }) },
    PULL,
    UNSIGNED,
  ],
  ["its index is not verified yet", {}, { indexes: [manifest(INDEX, [], { waits: true })] }, PULL, WAITING],
  ["verification failed to run", {}, { own: manifest(DIGEST, [], { unread: ["too large"] }) }, PULL, UNKNOWN],
  // Whose signatures count.
  ["signed", {}, { own: manifest(DIGEST, [fact()]) }, PULL, SIGNED],
  ["signed by somebody else", {}, { own: manifest(DIGEST, [fact({ signer: OPS })]) }, PULL, UNSIGNED],
  [
    "any of two signers",
    { rule: { ...RULE, signers: [CI, OPS] } },
    { own: manifest(DIGEST, [fact({ signer: OPS })]) },
    PULL,
    SIGNED,
  ],
  ["expired", {}, { own: manifest(DIGEST, [fact({ state: State.EXPIRED })]) }, PULL, UNSIGNED],
  ["revoked", {}, { own: manifest(DIGEST, [fact({ state: State.REVOKED })]) }, PULL, UNSIGNED],
  ["an attestation is no signature", {}, { own: manifest(DIGEST, [fact({ predicateType: "p" })]) }, PULL, UNSIGNED],
  [
    "a signature is no attestation",
    { rule: { ...RULE, predicateType: "p" } },
    { own: manifest(DIGEST, [fact()]) },
    PULL,
    UNSIGNED,
  ],
  [
    "the attestation",
    { rule: { ...RULE, predicateType: "p" } },
    { own: manifest(DIGEST, [fact({ predicateType: "p" })]) },
    PULL,
    SIGNED,
  ],
  [
    "two keys",
    { rule: { ...RULE, threshold: 2 } },
    { own: manifest(DIGEST, [fact(), fact({ key: "two" })]) },
    PULL,
    SIGNED,
  ],
  [
    "one key twice",
    { rule: { ...RULE, threshold: 2 } },
    { own: manifest(DIGEST, [fact(), fact({ manifest: INDEX })]) },
    PULL,
    UNSIGNED,
  ],
  [
    "one key of two signers",
    { rule: { ...RULE, signers: [CI, OPS], threshold: 2 } },
    { own: manifest(DIGEST, [fact(), fact({ signer: OPS })]) },
    PULL,
    UNSIGNED,
  ],
  [
    "one key at the image and one at its index",
    { rule: { ...RULE, threshold: 2 } },
    { own: manifest(DIGEST, [fact()]), indexes: [manifest(INDEX, [fact({ key: "two" })])] },
    PULL,
    UNSIGNED,
  ],
  [
    "all rules count",
    { all: [RULE, { name: "provenance", signers: [CI], predicateType: "p" }] },
    { own: manifest(DIGEST, [fact()]) },
    PULL,
    UNSIGNED,
  ],
  [
    "one rule by the index, the other by the image",
    { all: [RULE, { name: "provenance", signers: [CI], predicateType: "p" }] },
    { own: manifest(DIGEST, [fact({ predicateType: "p" })]), ...signedIndex },
    PULL,
    SIGNED,
  ],
  [
    "one rule is not met, the other waits",
    { all: [RULE, { name: "ops", signers: [OPS] }] },
    { own: manifest(DIGEST, [], { waitsFor: new Set([CI]) }) },
    PULL,
    UNSIGNED,
  ],
  // Age.
  [
    "young",
    { rule: { ...RULE, maxAge: "60s" } },
    { own: manifest(DIGEST, [fact({ signedMs: NOW - 59_999 })]) },
    PULL,
    SIGNED,
  ],
  [
    "old",
    { rule: { ...RULE, maxAge: "60s" } },
    { own: manifest(DIGEST, [fact({ signedMs: NOW - 60_000 })]) },
    PULL,
    UNSIGNED,
  ],
  ["of no known time", { rule: { ...RULE, maxAge: "60s" } }, { own: manifest(DIGEST, [fact()]) }, PULL, UNSIGNED],
  // Indexes.
  ["an image of a signed index", {}, signedIndex, PULL, SIGNED],
  ["the same, each by itself", { each_platform: 1 }, signedIndex, PULL, UNSIGNED],
  ["an index whose images are signed", {}, { kind: "index", images: [manifest(OTHER, [fact()])] }, PULL, SIGNED],
  [
    "the same, each by itself",
    { each_platform: 1 },
    { kind: "index", images: [manifest(OTHER, [fact()])] },
    PULL,
    UNSIGNED,
  ],
  ["one image is not", {}, { kind: "index", images: [manifest(OTHER, [fact()]), manifest(DIGEST)] }, PULL, UNSIGNED],
  [
    "not all images were looked at",
    {},
    { kind: "index", images: [manifest(OTHER, [fact()])], hasAllImages: false },
    PULL,
    UNSIGNED,
  ],
  ["an index without images", {}, { kind: "index" }, PULL, UNSIGNED],
  [
    "one image waits, the others are signed",
    {},
    { kind: "index", images: [manifest(OTHER, [fact()]), manifest(DIGEST, [], { waits: true })] },
    PULL,
    WAITING,
  ],
  [
    "one image waits, another one is not signed",
    {},
    { kind: "index", images: [manifest(OTHER), manifest(DIGEST, [], { waits: true })] },
    PULL,
    UNSIGNED,
  ],
];

const HOLDING: ReadonlySet<Outcome> = new Set([UNSIGNED, WAITING, UNKNOWN]);
const wordOf = (outcome: Outcome = Outcome.UNSPECIFIED): string =>
  SignatureOutcomeSchema.value[outcome]?.name ?? String(outcome);

for (const [what, policy, known, attempted, outcome] of CASES)
  test(`${what}: ${wordOf(outcome)}`, () => {
    for (const mode of [GateMode.UNSPECIFIED, GateMode.PREVIEW, GateMode.ENFORCE, 9 as GateMode]) {
      const judgment = judge([policyOf({ ...policy, mode })], evidence(known), attempted);
      const [judged] = judgment.policies;
      assert.ok(judged);
      assert.equal(wordOf(judged.outcome), wordOf(outcome), judged.reason);
      const holds = HOLDING.has(outcome);
      assert.equal(isHeld(judged), holds);
      // Only an enforcing policy blocks; a mode that is not known counts as one.
      const enforces = mode === GateMode.ENFORCE || mode === (9 as GateMode);
      assert.equal(heldBy(judgment).length, holds && enforces ? 1 : 0);
      if (outcome === SIGNED) assert.equal(judged.reason, "");
      else assert.ok(judged.reason);
    }
  });

test("all policies count: one that is met does not speak for another, and only what is certain is not for now", () => {
  const policies = [policyOf(), policyOf({ rule: { ...RULE, signers: [OPS] } }), policyOf({ mode: GateMode.PREVIEW })];
  const own = manifest(DIGEST, [fact()], { waitsFor: new Set([OPS]) });
  const judgment = judge(policies, evidence({ own }), PULL);
  assert.deepEqual(
    judgment.policies.map(({ outcome }) => outcome),
    [SIGNED, WAITING, SIGNED],
  );
  assert.equal(isForNow(heldBy(judgment)), true);
  const both = judge([...policies, policyOf({ rule: { ...RULE, threshold: 2 } })], evidence({ own }), PULL);
  assert.equal(heldBy(both).length, 2);
  assert.equal(isForNow(heldBy(both)), false);
});

test("the words name what is missing, by whom, and why what is there does not count", () => {
  const own = manifest(DIGEST, [fact({ state: State.EXPIRED, reason: "the key was valid until then" })]);
  const [judged] = judge([policyOf()], evidence({ own }), PULL).policies;
  assert.equal(judged?.reason, `rule image: 0 of 1 by ci; ${OTHER.slice(0, 19)}: the key was valid until then`);
});

test("a judgment ends when an exemption, a verdict or an age does", () => {
  const end = (policy: Fields, known: Partial<Evidence>): number =>
    judge([policyOf(policy)], evidence(known), PULL).untilMs;
  assert.equal(end({}, {}), Infinity);
  assert.equal(
    end(
      {
        exempt: [
          { digest: OTHER, expireMs: NOW + 5 },
          { digest: OTHER, expireMs: 1 },
        ],
      },
      {},
    ),
    NOW + 5,
  );
  assert.equal(end({}, { own: manifest(DIGEST, [fact({ untilMs: NOW + 7 })]) }), NOW + 7);
  const signed = manifest(DIGEST, [fact({ signedMs: NOW - 10 })]);
  assert.equal(end({ rule: { ...RULE, maxAge: "1s" } }, { own: signed }), NOW + 990);
});
