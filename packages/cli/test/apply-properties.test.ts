// What `apply --print` prints is what is there: applied, it changes nothing, in whichever form of proto JSON it is
// written. The resources are random; the seed of a failure is in its message.
import assert from "node:assert/strict";
import { generateKeyPairSync, randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { CapabilitySchema } from "@moorage/api/messages";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { fieldOf } from "../src/apply/fields.ts";
import { KIND_SPECS, kindNamed } from "../src/apply/kinds.ts";
import { newTrustedRoot } from "../../server/test/support/certificate.ts";
import { documents, isWrite, type Json, openStage, type Stage } from "./apply-stage.ts";

const SEED = randomInt(2 ** 31 - 1);
const PRIVATE = { issuer: "https://issuer.example.com", url: "http://127.0.0.1:9/" };

const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = {
  ...publicKey.export({ format: "jwk" }),
  kid: "k",
  alg: "ES256",
};

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 3, maxLength: 12 });
const name = fc.string({ unit: fc.constantFrom(...letters, " ", ".", "_", "-"), minLength: 2, maxLength: 20 });
const text = fc.string({ unit: "grapheme", maxLength: 60 }).map((each) => each.replaceAll("\0", ""));
const lines = fc.array(text, { maxLength: 4 }).map((each) => each.join("\n"));
const words = fc.uniqueArray(word, { maxLength: 4 });
const seconds = (least: number, most: number) => fc.integer({ min: least, max: most }).map((each) => `${each}s`);
const days = fc.integer({ min: 1, max: 900 }).map((each) => `${each * 86_400}s`);
const time = fc
  .integer({ min: 1_900_000_000, max: 4_000_000_000 })
  .map((each) => new Date(each * 1000 + 7).toISOString());
const capabilities = fc.shuffledSubarray(
  CapabilitySchema.values.filter(({ number }) => number > 0).map((each) => each.name),
  { minLength: 1 },
);
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const long = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String);

const claimMatch = fc.record({
  issuer: fc.constant(PRIVATE.issuer),
  subject: word,
  audience: some(word),
  claims: fc.dictionary(
    word,
    text.filter((each) => each !== ""),
    { maxKeys: 3 },
  ),
  claimPatterns: fc.dictionary(word, word, { maxKeys: 3 }),
});
const relationship = fc.oneof(
  fc.record({ claimMatch }),
  fc.record({
    claimMatch: fc.record({ issuerPattern: fc.constant("https://.*\\.example\\.com"), subjectPattern: word }),
  }),
  fc.record({
    staticKeys: fc.record({
      issuer: fc.constant(PRIVATE.issuer),
      subject: word,
      issuerKeys: fc.constant(JSON.stringify({ keys: [jwk] })),
      expirationTime: time,
      audiences: words,
    }),
  }),
  fc.record({
    awsIdentity: fc.record({
      awsAccount: fc.constant("123456789012"),
      arn: word.map((each) => `arn:aws:sts::123456789012:assumed-role/${each}/s`),
    }),
  }),
  fc.constant({}),
);
const policy = fc.record({
  immutableTags: words,
  protectedTags: words,
  retention: fc.array(
    fc.record({ tagPattern: word, keepLast: fc.integer({ min: 1, max: 500 }), keepFor: some(days) }),
    { maxLength: 3 },
  ),
  historyRetention: some(days),
  allowSparse: fc.boolean(),
  vulnerabilities: some(
    fc.record({
      severity: fc.constantFrom("FINDING_SEVERITY_HIGH", "FINDING_SEVERITY_LOW"),
      fixableOnly: fc.boolean(),
      graceDays: fc.integer({ min: 0, max: 3650 }),
      on: fc.shuffledSubarray(["GATE_ACTION_PULL", "GATE_ACTION_PROMOTE"], { minLength: 1 }),
      mode: fc.constantFrom("GATE_MODE_PREVIEW", "GATE_MODE_ENFORCE"),
      onUnknown: fc.constantFrom("ON_UNKNOWN_PASS", "ON_UNKNOWN_HOLD"),
    }),
  ),
});
const mirror = fc.record({
  source: word.map((each) => `https://registry.example.com/${each}`),
  tagPattern: word,
  interval: some(seconds(60, 86_400)),
  pullThrough: fc.boolean(),
  uniqueTags: fc.boolean(),
  gracePeriod: fc.boolean(),
  expirationTime: some(time),
  history: fc.boolean(),
  keepMoved: fc.boolean(),
});
const associations = fc.record({
  name: word,
  description: text,
  amazon: some(fc.constant({ account: "123456789012" })),
  azure: some(
    fc.record({
      tenantId: fc.constant("01234567-89ab-cdef-0123-456789abcdef"),
      clientIds: fc.dictionary(word, fc.constant("01234567-89ab-cdef-0123-456789abcdef"), { maxKeys: 2 }),
    }),
  ),
  github: fc.record({
    appInstallations: fc.dictionary(
      long,
      fc.record({
        installations: fc.uniqueArray(fc.record({ installationId: long, name: word }), {
          selector: ({ installationId }) => installationId,
          minLength: 1,
          maxLength: 3,
        }),
      }),
      { minKeys: 1, maxKeys: 2 },
    ),
  }),
});
const policyOfLibraries = fc.record({
  description: text,
  mode: fc.constantFrom("POLICY_MODE_PREVIEW", "POLICY_MODE_ENFORCE"),
  cooldown: some(days),
  blockMalware: fc.boolean(),
  deniedLicenses: fc.shuffledSubarray(["GPL-3.0-only", "AGPL-3.0-only", "MIT"]),
});

const limit = some(fc.bigInt({ min: 100n, max: 2n ** 53n - 1n }).map(String));
const quotas = fc.record({
  bytes: limit,
  repos: limit,
  tags: limit,
  libraries: limit,
  softPercent: fc.integer({ min: 1, max: 100 }),
});
const signer = fc.record({
  description: text,
  keys: fc.constant([{ pem: publicKey.export({ format: "pem", type: "spki" }), notAfter: "2099-01-01T00:00:00Z" }]),
  times: fc.shuffledSubarray(["SIGNATURE_TIME_REGISTRY"]),
});

// One that is enforced has a pattern that the images with tags do not match: they begin with b, and nobody signs them.
const policyOfSignatures = fc
  .record({
    description: text,
    mode: fc.constantFrom("GATE_MODE_PREVIEW", "GATE_MODE_ENFORCE"),
    on: fc.shuffledSubarray(["SIGNATURE_ACTION_PULL", "SIGNATURE_ACTION_PROMOTE"], { minLength: 1 }),
    repoPattern: some(word),
    tagPattern: some(word),
    eachPlatform: fc.boolean(),
  })
  .map((each) => (each.mode === "GATE_MODE_ENFORCE" ? { ...each, repoPattern: `a${each.repoPattern ?? "ny"}` } : each));

let draws = 0;
/** A random value; two calls give two. */
function draw<T>(arbitrary: fc.Arbitrary<T>): T {
  draws += 1;
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed: SEED + draws });
  return JSON.parse(JSON.stringify(value)) as T;
}

let stage: Stage;
let adapter = "";

/** Starts a scanner's adapter that answers what it is, as the server asks before it takes one. */
async function startAdapter(t: TestContext): Promise<string> {
  const server = createServer((_, response) => {
    const capability = {
      type: "vulnerability",
      consumes_mime_types: ["application/vnd.oci.image.manifest.v1+json"],
      produces_mime_types: ["application/vnd.security.vulnerability.report; version=1.1"],
    };
    response.setHeader("content-type", "application/vnd.scanner.adapter.metadata+json; version=1.0");
    response.end(
      JSON.stringify({
        scanner: { name: "any", vendor: "v", version: "1" },
        capabilities: [capability],
        properties: {},
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** One or more of every kind below a new group, by the API. Returns the path of the group. */
async function random(): Promise<string> {
  const make = async (path: string, parent: string, fields: object): Promise<string> =>
    String((await stage.ok("POST", `${path}/${parent}`, fields))["uid"]);
  const acme = String((await stage.all("/iam/v2/groups?uidp.inRoot=true&name=acme", "groups"))[0]?.["uid"]);
  const viewer = String((await stage.all("/iam/v2/roles?uidp.inRoot=true&name=viewer", "roles"))[0]?.["uid"]);
  const group = await make("/iam/v2/groups", acme, { name: "top", description: draw(text) });
  const inner = await make("/iam/v2/groups", group, { name: draw(name), description: draw(lines) });
  for (const place of [group, inner]) {
    const role = await make("/iam/v2/roles", place, {
      name: draw(name),
      description: draw(text),
      capabilities: draw(capabilities),
    });
    const identity = await make("/iam/v2/identities", place, {
      name: `id ${draw(name)}`,
      description: draw(lines),
      ...draw(relationship),
    });
    await make("/iam/v2/identities", place, {
      name: `other ${draw(name)}`,
      company: draw(text),
      ...draw(relationship),
    });
    await make("/iam/v2/roleBindings", place, { identityUid: identity, roleUid: draw(fc.constantFrom(viewer, role)) });
    const provider = await make("/iam/v2/identityProviders", place, {
      name: draw(name),
      oidc: {
        issuer: PRIVATE.issuer,
        clientId: draw(word),
        additionalScopes: draw(words),
        groupsClaim: draw(word),
        pkceEnabled: draw(fc.boolean()),
        correlationRule: draw(
          fc.constantFrom("CORRELATION_RULE_UNSPECIFIED", "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"),
        ),
      },
      ...(draw(fc.boolean()) && { defaultRole: viewer }),
    });
    await make("/iam/v2/externalGroupRoleMappings", provider, {
      externalGroupId: draw(word),
      roleUid: role,
      scope: place,
    });
    await make("/iam/v2/accountAssociations", place, {
      ...draw(associations),
      ...(draw(fc.boolean()) && { services: { serviceBindings: { [draw(word)]: identity } } }),
    });
    await make("/vulnerabilities/v2/scanners", place, {
      name: draw(name),
      url: adapter,
      disabled: true,
      onRequestOnly: draw(fc.boolean()),
    });
    await make("/libraries/v2/upstreams", place, {
      ecosystem: "ECOSYSTEM_JAVASCRIPT",
      url: PRIVATE.url,
      reservedNames: draw(words),
      disabled: true,
      description: draw(text),
    });
    await make("/registry/v2/replications", place, {
      name: draw(fc.constantFrom("one", "two")),
      destination: draw(fc.constantFrom("quay.io/acme", "registry.example.com:5000/a/b")),
      tagPattern: draw(fc.constantFrom("", "v[0-9]+")),
      disabled: true,
      description: draw(text),
    });
    // At least one does. Repos below a group that stands for a registry follow no other.
    const standsForRegistry = draw(fc.boolean()) || place === inner;
    if (standsForRegistry)
      await make("/registry/v2/upstreams", place, {
        registry: draw(fc.constantFrom("docker.io", "quay.io", "registry.example.com:5000")),
        denied: draw(words),
        disabled: true,
        description: draw(text),
      });
    await make("/libraries/v2/artifactPolicies", place, {
      ecosystem: draw(fc.constantFrom("ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON")),
      ...draw(policyOfLibraries),
    });
    await make("/registry/v2/quotas", place, draw(quotas));
    const trustRoot = await make("/registry/v2/trustRoots", place, { name: draw(name), trustedRoot: newTrustedRoot() });
    await make("/registry/v2/signers", place, {
      name: draw(name),
      keyless: { trustRoot, issuer: "https://token.example.com", subjectPattern: draw(word) },
    });
    const signs = await make("/registry/v2/signers", place, { name: draw(name), ...draw(signer) });
    await make("/registry/v2/signaturePolicies", place, {
      name: draw(name),
      ...draw(policyOfSignatures),
      rules: [{ name: "image", signers: [signs] }],
    });
    const repo = await make("/registry/v2/repos", place, {
      name: `a${draw(word)}`,
      description: draw(text),
      readme: draw(lines),
      bundles: draw(words),
      aliases: draw(words).map((each) => `alias-${each}`),
      activeTags: draw(words),
      catalogTier: draw(fc.constantFrom("CATALOG_TIER_UNSPECIFIED", "CATALOG_TIER_FIPS")),
      tagPolicy: draw(policy),
      ...(!standsForRegistry && draw(fc.boolean()) && { syncConfig: draw(mirror) }),
    });
    const plain = await make("/registry/v2/repos", place, { name: `b${draw(word)}` });
    await make("/registry/v2/tags", plain, {
      name: `t${draw(word)}`,
      digest: `sha256:${"a".repeat(64)}`,
      deprecated: draw(fc.boolean()),
      bundles: draw(words),
    });
    await make("/events/v2/subscriptions", place, {
      sink: `${PRIVATE.url}${draw(word)}`,
      typePrefixes: draw(fc.shuffledSubarray(["dev.moorage.registry", "dev.moorage.api.iam"])),
      subjectPrefixes: draw(fc.shuffledSubarray([place, repo])),
      taggedOnly: draw(fc.boolean()),
    });
  }
  return "acme/top";
}

/** The fields of a document in another form that proto JSON has for them. */
function otherwise(message: DescMessage, fields: Json, names: Readonly<Record<string, string>> = {}): Json {
  return Object.fromEntries(
    Object.entries(fields).map(([own, value]) => {
      const field = fieldOf(message, names[own] ?? own);
      if (field === undefined || names[own] !== undefined) return [own, value];
      return [draw(fc.boolean()) ? field.name : own, otherValue(field, value)];
    }),
  );
}

function otherValue(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") {
    const values = (value as unknown[]).map((each) => otherSingle(field, each));
    return field.listKind === "message" ? values : draw(fc.shuffledSubarray(values, { minLength: values.length }));
  }
  if (field.fieldKind === "map")
    return Object.fromEntries(
      Object.entries(value as Json)
        .toReversed()
        .map(([key, each]) => [key, otherSingle(field, each)]),
    );
  return otherSingle(field, value);
}

function otherSingle(field: DescField, value: unknown): unknown {
  if (field.message?.typeName === "google.protobuf.Duration") return `${Number(String(value).slice(0, -1)) * 1000}ms`;
  if (field.message?.typeName === "google.protobuf.Timestamp") return String(value).replace("Z", "000+00:00");
  if (field.message !== undefined) return otherwise(field.message, value as Json);
  if (field.enum !== undefined) return field.enum.values.find((each) => each.name === value)?.number ?? value;
  return typeof value === "number" ? String(value) : value;
}

test("what is printed changes nothing when it is applied, of every kind and in every form", async (t) => {
  stage = await openStage(t);
  adapter = await startAdapter(t);
  const seed = `seed ${SEED}`;
  const group = await random();
  const printed = await stage.run(["apply", "--print", group, "--tags"]);
  assert.equal(printed.code, 0, `${seed}: ${printed.stderr}`);
  const all = parseAllDocuments(printed.stdout).map((each) => each.toJS() as Json);
  const kinds = new Set(all.map(({ kind }) => kind));
  assert.deepEqual(
    KIND_SPECS.map((spec) => spec.name).filter((kind) => !kinds.has(kind)),
    [],
    seed,
  );
  const shown = documents(
    all.map(({ kind, parent, uid, ...fields }) => {
      const spec = kindNamed(String(kind)) ?? assert.fail();
      return { kind, parent, ...(uid !== undefined && { uid }), ...otherwise(spec.message, fields, spec.renamed) };
    }),
  );
  // Integers of 64 bits as numbers: JSON has all of their digits.
  const numbers = shown.replaceAll(/"(installationId|installation_id)":"(\d+)"/g, '"$1":$2');
  assert.match(numbers, /"installation_?[iI]d":\d/);
  for (const [file, content] of [
    ["printed.yaml", printed.stdout],
    ["otherwise.yaml", numbers],
  ] as const) {
    stage.file(file, content);
    stage.sent.splice(0);
    const { code, stderr } = await stage.run(["apply", "-f", file]);
    const sent = stage.sent.filter(isWrite).map(({ method, url, body }) => `${method} ${url} ${body}`);
    assert.deepEqual(
      [code, stderr, sent],
      [0, `${all.length} resources: no change\n`, []],
      `${seed} ${file}\n${content}`,
    );
  }
  // In that form it is also what makes the same elsewhere.
  const elsewhere = numbers.replaceAll("acme/top", "acme/two").replace('"name":"top"', '"name":"two"');
  stage.file("elsewhere.yaml", elsewhere);
  const made = await stage.run(["apply", "-f", "elsewhere.yaml"]);
  assert.equal(made.code, 0, `${seed}: ${made.stderr}\n${elsewhere}`);
  const again = await stage.run(["apply", "-f", "elsewhere.yaml"]);
  assert.deepEqual([again.code, again.stderr], [0, `${all.length} resources: no change\n`], `${seed}\n${elsewhere}`);
});
