import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { type Answer, blamed, type Platform, rows, startPlatform } from "../support/platform.ts";
import { checkAnswer, checkStage, openStage, property, type Stage, text } from "../support/properties.ts";

// Arbitrary bad input against the running server: every answer is a clear error, never a 5xx, and no data is lost.
// Here: bodies, masks and their fields.
let platform: Platform;
let stage: Stage;
let group: string;
let token: string;
before(async () => {
  platform = await startPlatform();
  stage = await openStage(platform);
  ({ group, token } = stage);
});
after(async () => {
  await checkStage(platform, stage);
  await platform.close();
});

const ask = async (method: string, path: string, body?: unknown): Promise<Answer> =>
  checkAnswer(await platform.call(method, path, { token, body }));

const KEYS = [
  "name",
  "description",
  "uid",
  "createTime",
  "capabilities",
  "claimMatch",
  "claim_match",
  "staticKeys",
  "identityUid",
  "roleUid",
  "digest",
  "deprecated",
  "bundles",
  "catalogTier",
  "syncConfig",
  "kind",
  "verified",
  "resourceLimits",
  "__proto__",
  "constructor",
  "parent",
  "awsIdentity",
  "servicePrincipal",
  "ttl",
  "email",
  "code",
  "documentIds",
  "amazon",
  "google",
  "azure",
  "services",
  "github",
  "",
  "@type",
];
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  text,
  fc.constantFrom(
    2 ** 53,
    "1",
    "2024-01-01T00:00:00Z",
    "CAP_REPO_LIST",
    "3600s",
    "-1.5s",
    { account: "123456789012", projectId: 1, tenantId: "x", clientIds: { a: "b" } },
    { serviceBindings: { a: "b" }, appInstallations: { "1": { installations: [{ installationId: "0" }] }, x: {} } },
    [null],
    [["x"]],
    { issuer: 5 },
    { issuer: "https://i.example", subject: "s", issuerPattern: ".*" },
  ),
);
const object = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 5 })
  .map((pairs) => Object.fromEntries(pairs) as unknown);

test("arbitrary JSON bodies for every write get a clear answer", async () => {
  const targets = fc.constantFrom(
    ...[
      "groups",
      "identities",
      "roles",
      "roleBindings",
      "groupInvites",
      "identityProviders",
      "accountAssociations",
      "terms",
    ].map((each) => ["POST", `/iam/v2/${each}/GROUP`] as const),
    ["POST", "/registry/v2/repos/GROUP"] as const,
    ["POST", "/registry/v2/tags/PLAY"] as const,
    ["POST", "/iam/v2/roleBindings:batchCreate"] as const,
    ["POST", "/iam/v2/groupInvites:accept"] as const,
    ["POST", "/iam/v2/externalGroupRoleMappings/PROVIDER"] as const,
    ["PATCH", "/iam/v2/identityProviders/PROVIDER"] as const,
    ["PATCH", "/registry/v2/repos/PLAY"] as const,
    ["PATCH", "/iam/v2/groups/GROUP"] as const,
    ["PATCH", "/registry/v2/repos/PLAY/readme"] as const,
  );
  const { uid: playground } = await platform.group(platform.organization);
  const { uid: play } = await platform.repo(playground);
  const oidc = { issuer: "https://login.example.com", clientId: "moorage" };
  const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${playground}`, {
    name: "login",
    oidc,
  });
  await property(
    fc.tuple(targets, fc.oneof(object, fc.jsonValue({ maxDepth: 3 }))),
    async ([[method, path], body]) => {
      await ask(method, path.replace("GROUP", playground).replace("PLAY", play).replace("PROVIDER", provider), body);
    },
    400,
  );
});

test("bodies that are no JSON, in any encoding, are refused clearly", async () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(30), fc.constantFrom("{", "}", '"', ",", "\\u", "\0", "//", "NaN"))
    .map(([json, at, bit]) => Buffer.from(json.slice(0, at) + bit + json.slice(at)));
  await property(
    fc.oneof(
      broken,
      fc.uint8Array({ minLength: 1, maxLength: 100 }),
      fc
        .integer({ min: 1, max: 2000 })
        .map((depth) => Buffer.from(`{"name":${"[".repeat(depth)}${"]".repeat(depth)}}`)),
    ),
    async (raw) => {
      const answer = checkAnswer(await platform.call("POST", `/registry/v2/repos/${group}`, { token, raw }));
      assert.notEqual(answer.status, 200);
    },
  );
});

test("masks: a known path changes only its field, anything else is an error on updateMask", async () => {
  const { uid } = await platform.repo(group, { description: "kept" });
  const known = [
    "name",
    "description",
    "bundles",
    "readme",
    "catalogTier",
    "catalog_tier",
    "syncConfig.source",
    "sync_config.source",
  ];
  const part = fc.oneof(
    fc.constantFrom(...known, "uid", "createTime", "name.x", "*", "", ".", "__proto__", "description.", "updateMask"),
    text,
  );
  await property(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
    const mask = parts.join(",");
    const answer = await ask("PATCH", `/registry/v2/repos/${uid}?updateMask=${encodeURIComponent(mask)}`, {
      name: "never taken",
    });
    // Spaces around paths are ignored, and without a mask the body's fields count. These masks, `*` and `name` itself
    // take the body's name, which no repo may have.
    const paths = mask.trim() === "" ? [] : mask.split(",").map((each) => each.trim());
    const takesName =
      paths.length === 0 ||
      mask.trim() === "*" ||
      (paths.includes("name") && paths.every((each) => known.includes(each)));
    if (answer.status !== 200 || takesName)
      assert.deepEqual([...new Set(blamed(answer))], [takesName ? "name" : "updateMask"], mask);
  });
  assert.match((await platform.ok("GET", `/registry/v2/repos/${uid}`)).name, /^made-/);
});

test("names: a name that the pattern allows is created and found, any other is an error on name", async () => {
  const cases = [
    ["/registry/v2/repos", /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/, {}],
    ["/iam/v2/identities", /^[a-z0-9 ._-]+$/, {}],
    ["/iam/v2/groups", /^(?!(?:-|-rev|simple|legacy)$)[a-z0-9 ._-]{1,63}$/, {}],
  ] as const;
  const name = fc.oneof(
    text,
    fc.string({ unit: fc.constantFrom(..."ab09._- /:\n\u00e9A"), maxLength: 12 }),
    fc.constantFrom(
      "a".repeat(63),
      "a".repeat(64),
      "a".repeat(255),
      "a".repeat(256),
      "..",
      "a..b",
      "a__b",
      "a___b",
      "a--b",
      "-",
      " ",
    ),
  );
  for (const [path, pattern, fields] of cases) {
    const { uid: place } = await platform.group(platform.organization);
    await property(
      name,
      async (wanted) => {
        const answer = await ask("POST", `${path}/${place}`, { name: wanted, ...fields });
        if (answer.status === 409) return;
        assert.equal(
          answer.status === 200,
          pattern.test(wanted) && wanted.length <= 255,
          `${path} ${JSON.stringify(wanted)}: ${answer.text}`,
        );
        if (answer.status !== 200) return assert.deepEqual(blamed(answer), ["name"]);
        const plural = path.slice(path.lastIndexOf("/") + 1);
        const found = await rows(
          ask("GET", `${path}?uidp.children_of=${place}&name=${encodeURIComponent(wanted)}`).then(({ body }) => body),
          plural,
        );
        assert.ok(found.some((each) => each.uid === answer.body.uid && each.name === wanted));
      },
      80,
    );
  }
});

test("tags and digests: a valid pair is created, anything else is an error on its field", async () => {
  const { uid } = await platform.repo(group);
  const hex = (length: number): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
  const good = fc.oneof(
    hex(64).map((each) => `sha256:${each}`),
    hex(128).map((each) => `sha512:${each}`),
  );
  const bad = fc.oneof(
    text,
    hex(63).map((each) => `sha256:${each}`),
    hex(64).map((each) => `sha512:${each}`),
    hex(64).map((each) => `SHA256:${each}`),
    hex(64).map((each) => `sha256:${each.toUpperCase()}g`),
    hex(64).map((each) => `sha256:${each}\n`),
  );
  await property(
    fc.tuple(fc.oneof(fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,20}$/), text), fc.oneof(good, bad)),
    async ([name, digest]) => {
      const answer = await ask("POST", `/registry/v2/tags/${uid}`, { name, digest });
      const wrong = [
        ...(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/.test(name) ? [] : ["name"]),
        ...(/^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/.test(digest) ? [] : ["digest"]),
      ];
      if (wrong.length > 0) return assert.deepEqual(blamed(answer), wrong);
      assert.deepEqual([answer.status, answer.body.name, answer.body["digest"]], [200, name, digest]);
      const image = await ask("GET", `/registry/v2/repos/${uid}/digests/${encodeURIComponent(digest)}/architectures`);
      assert.equal(image.status, 404);
    },
  );
  await property(
    bad.filter((digest) => digest !== ""),
    async (digest) => {
      const answer = await ask("GET", `/registry/v2/repos/${uid}/digests/${encodeURIComponent(digest)}/size`);
      assert.ok(answer.status === 400 || answer.status === 404, answer.text);
    },
    60,
  );
});
