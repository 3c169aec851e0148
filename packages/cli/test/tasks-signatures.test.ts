// Policies of signatures without JSON, and what the commands say of signatures.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pushArtifact } from "../../server/test/support/catalog/push.ts";
import {
  BUNDLE,
  cosignLayer,
  cosignPayload,
  envelopeBundle,
  inToto,
  newKey,
  PROVENANCE,
  pushCosign,
  pushReferrer,
} from "../../server/test/support/signing.ts";
import { Table } from "../src/output/table.ts";
import { SIGNATURES } from "../src/tasks/image-signatures.ts";
import { BUILD, ENFORCED_POLICY, openStage } from "./tasks-stage.ts";

test("policies are made by flags, why names the signature that lacks, and signatures say what they are", async (t) => {
  const { url, folder, ok, run, fails, json, api, push } = await openStage(t);
  const [key, other] = [newKey(), newKey()];
  for (const [name, { pem }] of Object.entries({ release: key, security: other })) {
    writeFileSync(join(folder, `${name}.pub`), pem);
    await ok("signers", "create", `acme/${name}`, "--key", `${name}.pub`);
  }
  const uidOf = async (name: string): Promise<string> => (await json<{ uid: string }>("signers", "get", name)).uid;
  const [release, security] = [await uidOf("acme/release"), await uidOf("acme/security")];
  const flags = [
    ["--signer", "acme/release"],
    ["--signer", "acme/security"],
    ["--threshold", "2"],
    ["--on", "pull,promote"],
    ["--annotation", "env=prod"],
    ["--annotation", "team=a=b"],
    ["--same-name"],
    ["--max-age", "30d"],
    ["--builder-id", "https://builder.example"],
    ["--source-uri", "https://github.com/acme/app"],
    ["--source-ref", "refs/heads/main"],
    ["--build-type", "https://build.example/v1"],
    ["--condition", "/level=high"],
    ["--condition", "/level=low"],
    ["--condition", "/count>=1"],
    ["--condition", "/count<=2.5"],
    ["--newer", "/scannedOn=7d"],
    ["--hold-tags"],
    ["--each-platform"],
    ["--since", "2026-01-01T00:00:00Z"],
  ].flat();
  const policy = await json<Record<string, unknown>>("signature-policies", "create", "acme/all", ...flags);
  assert.deepEqual(policy["rules"], [
    {
      name: "image",
      signers: [release, security],
      threshold: 2,
      predicateType: "",
      annotations: { env: "prod", team: "a=b" },
      provenance: {
        builderIds: ["https://builder.example"],
        sourceUris: ["https://github.com/acme/app"],
        sourceRefs: ["refs/heads/main"],
        buildTypes: ["https://build.example/v1"],
      },
      conditions: [
        { pointer: "/level", values: ["high", "low"] },
        { pointer: "/count", values: [], atLeast: 1, atMost: 2.5 },
        { pointer: "/scannedOn", values: [], newerThan: "604800s" },
      ],
      maxAge: "2592000s",
      sameName: true,
    },
  ]);
  assert.deepEqual(
    [policy["holdTags"], policy["eachPlatform"], policy["since"], policy["documentSigners"]],
    [true, true, "2026-01-01T00:00:00.000Z", []],
  );
  const documents = await json<{ documentSigners: string[] }>(
    "signature-policies",
    "create",
    "acme/documents",
    "--document-signer",
    "acme/security",
  );
  assert.deepEqual(documents.documentSigners, [security]);
  for (const [words, line] of [
    [["--same-name"], "is of no use without --signer"],
    [["--condition", "/a<1", "--signer", "acme/release"], "must be such as /a/b=value, /a/b>=1 or /a/b<=2"],
    [["--newer", "7d", "--signer", "acme/release"], "must be a name, = and a value, not 7d"],
    [["--max-age", "soon", "--signer", "acme/release"], "must be a duration such as 90s"],
  ] as const)
    assert.ok((await fails("signature-policies", "create", "acme/wrong", ...words))[1].includes(line), line);
  await ok("signature-policies", "delete", "acme/all", "--yes");

  await push("acme/app:1.0", 1);
  await ok(...ENFORCED_POLICY);
  const organization = (await json<{ uid: string }>("groups", "get", "acme")).uid;
  const { uid: reader } = await api("POST", `/iam/v2/identities/${organization}`, { name: "reader" });
  await ok("bindings", "create", "acme", "--identity-uid", reader, "--role-uid", "viewer");
  const why = async (): Promise<[code: number, text: string]> => {
    const { code, stdout } = await run(["why", reader, "pull", "acme/app:1.0"]);
    return [code, stdout];
  };
  const [code, text] = await why();
  assert.equal(code, 5, text);
  assert.match(
    text.replaceAll(/\s+/g, " "),
    /is not signed as policy signed \(acme\) asks: rule image: 0 of 1 by release/,
  );
  const repo = (await json<{ uid: string }>("repos", "get", "acme/app")).uid;
  const token = (await ok("token", "--audience", "registry")).trim();
  const place = { url, repo, name: "acme/app", token };
  await pushCosign(place, BUILD[1], [cosignLayer(key, cosignPayload(BUILD[1]))]);
  await pushReferrer(place, BUILD[1], envelopeBundle(other, inToto(BUILD[1], PROVENANCE)));
  await pushReferrer(place, BUILD[1], envelopeBundle(newKey(), inToto(BUILD[1], "https://acme.example/predicate/v1")));
  await pushArtifact(place, {
    artifactType: BUNDLE,
    subject: BUILD[1],
    layers: [{ mediaType: BUNDLE, content: "{" }],
  });
  const listed = await run(["images", "signatures", "acme/app:1.0", "--wait", "90s"]);
  assert.equal(listed.code, 0, listed.stderr);
  for (const line of [
    /^trusted +release +image +\S+$/m,
    /^trusted +security +provenance +\S+$/m,
    /^untrusted +acme\.example\/predicate\/v1 +\S+ +none of the signers has made it$/m,
    /^invalid +image +\S+ +the bundle cannot be read as JSON/m,
  ])
    assert.match(listed.stdout, line);
  assert.equal((await why())[0], 0);
});

test("on a terminal of 80 columns each signature has a line with its state, its signer and what it says", () => {
  const style = { wide: false, headers: true, terminal: true, columns: 80, colored: false };
  const shown = SIGNATURES.columns.filter(({ wide }) => wide !== true);
  const cells = [
    "untrusted",
    "release-workflow",
    "provenance",
    "2026-11-01T08:00:00Z",
    "none of the signers has made it",
  ];
  const table = new Table(shown, style).lines([{ cells, colors: cells.map(() => undefined) }]);
  const [head = "", line = ""] = table.split("\n");
  assert.ok(head.length <= 80 && line.length <= 80, table);
  for (const word of ["untrusted", "release-workflow", "provenance", "2026-11-01T08:00:00Z"])
    assert.ok(line.includes(word));
});
