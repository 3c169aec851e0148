import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newKey } from "../../server/test/support/signing.ts";
import { run as execute, temporaryFolder } from "./commands.ts";
import { BUILD, ENFORCED_POLICY, openStage, timeless } from "./tasks-stage.ts";

const RECORD = {
  id: "ACME-2026-1",
  modified: "2026-11-01T08:00:00Z",
  aliases: ["CVE-2026-0001"],
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
  affected: [
    {
      package: { ecosystem: "npm", name: "hello" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.3.0" }] }],
    },
  ],
};

test("images are listed, inspected, measured and searched", { timeout: 300_000 }, async (t) => {
  const { url, ok, run, fails, json, push } = await openStage(t);
  await push("acme/team/app:1.0", 1);
  await push("acme/team/app:latest", 1);
  await push("acme/hello:2.0", 2);

  assert.equal(
    timeless(await ok("images", "list")),
    `IMAGE${" ".repeat(17)}DIGEST${" ".repeat(67)}MOVED
acme/team/app:1.0     ${BUILD[1]}  TIME
acme/hello:2.0        ${BUILD[2]}  TIME
acme/team/app:latest  ${BUILD[1]}  TIME
`,
  );
  assert.equal(await ok("images", "list", "acme/team", "-o", "name"), "acme/team/app:1.0\nacme/team/app:latest\n");
  assert.equal(await ok("images", "list", "acme/hello", "-o", "name"), "acme/hello:2.0\n");
  assert.equal(await ok("images", "list", "--limit", "1", "-o", "name"), "acme/team/app:1.0\n");
  assert.deepEqual(await fails("images", "list", "acme/tean"), [
    3,
    "moorage: there is no group acme/tean that you may see; did you mean acme/team?",
  ]);

  // Without a tag it is latest, as for all clients of registries.
  const text = await ok("images", "inspect", "acme/team/app");
  assert.equal(
    text.replace(/sha256:[0-9a-f]{64}/g, "DIGEST").replace(/\d+B$/gm, "SIZE"),
    `acme/team/app:latest
DIGEST
type        application/vnd.oci.image.index.v1+json
size        1.5KiB
tags        1.0, latest
findings    none
annotations
  org.opencontainers.image.version=1

linux/amd64  DIGEST
  size        SIZE
  created     1970-01-01T00:00:00Z
  entrypoint  ["/hello"]
  labels
    org.opencontainers.image.version=1
  layers      2
    DIGEST  SIZE
    DIGEST  SIZE

linux/arm64  DIGEST
  size        SIZE
  created     1970-01-01T00:00:00Z
  entrypoint  ["/hello"]
  labels
    org.opencontainers.image.version=1
  layers      2
    DIGEST  SIZE
    DIGEST  SIZE
`.replace("findings    none", /\nfindings .*/.exec(text)?.[0].trim() ?? ""),
  );
  assert.equal(text.split("\n")[1], BUILD[1]);
  const inspected = await json<{
    digest: string;
    platforms: { platform: string; layers: unknown[] }[];
    tags: string[];
  }>("images", "inspect", `acme/team/app@${BUILD[1]}`);
  assert.deepEqual(
    [inspected.digest, inspected.tags, inspected.platforms.map(({ platform, layers }) => [platform, layers.length])],
    [
      BUILD[1],
      ["1.0", "latest"],
      [
        ["linux/amd64", 2],
        ["linux/arm64", 2],
      ],
    ],
  );
  assert.equal((await fails("images", "inspect", `acme/hello@${BUILD[1]}`))[0], 3);
  assert.match(await ok("images", "size", "acme/team/app:1.0"), /^ARCHITECTURE +SIZE\namd64 +\d+B\narm64 +\d+B\n$/);

  // A signature is attached as OCI 1.1 has it.
  const registry = (await ok("token", "--audience", "registry")).trim();
  const blob = async (content: string): Promise<{ digest: string; size: number }> => {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    const path = `${url}/v2/acme/team/app/blobs/uploads/?digest=${digest}`;
    const headers = { authorization: `Bearer ${registry}`, "content-type": "application/octet-stream" };
    assert.equal((await fetch(path, { method: "POST", body: content, headers })).status, 201);
    return { digest, size: content.length };
  };
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    artifactType: "application/vnd.dev.sigstore.bundle.v0.3+json",
    config: { mediaType: "application/vnd.oci.empty.v1+json", ...(await blob("{}")) },
    layers: [{ mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", ...(await blob("signed")) }],
    subject: { mediaType: "application/vnd.oci.image.index.v1+json", digest: BUILD[1], size: 1 },
  });
  assert.match(
    (await run(["images", "referrers", "acme/team/app"])).stderr,
    /^nothing is attached to acme\/team\/app@/,
  );
  const attached = `sha256:${createHash("sha256").update(manifest).digest("hex")}`;
  const put = await fetch(`${url}/v2/acme/team/app/manifests/${attached}`, {
    method: "PUT",
    body: manifest,
    headers: { authorization: `Bearer ${registry}`, "content-type": "application/vnd.oci.image.manifest.v1+json" },
  });
  assert.equal(put.status, 201);
  assert.match(await ok("images", "referrers", "acme/team/app"), new RegExp(`\nsignature  ${attached}  \\S+\n$`));
  assert.match(await ok("images", "inspect", "acme/team/app"), new RegExp(`\nAttached\n.*\nsignature  ${attached}`));
  assert.deepEqual(
    await json<{ manifests: object[] }>("images", "referrers", "acme/team/app", "--artifact-type", "x"),
    {
      manifests: [],
    },
  );
  assert.deepEqual(await fails("images", "referrers", "acme/team/app", "--platform", "linux/s390x"), [
    3,
    "moorage: --platform: the image has no linux/s390x; it has linux/amd64, linux/arm64",
  ]);

  assert.equal(
    timeless(await ok("search", "TEAM/a", "--kind", "repo")),
    "KIND  IMAGE          FOUND  CHANGED\nrepo  acme/team/app         TIME\n",
  );
  assert.equal(await ok("search", "2.0", "-o", "name"), "acme/hello:2.0\n");
  assert.deepEqual((await run(["eol", "acme"])).stderr, "no tag is known to be past its end of life\n");
  assert.equal((await fails("eol", "--product", "nodejs"))[0], 3);
});

test(
  "findings of an image, what they make of the exit code, and its bill of materials",
  { timeout: 300_000 },
  async (t) => {
    const { url, folder, ok, run, fails, json, push } = await openStage(t);
    await push("acme/app:1.0", 1);
    await push("acme/app:3.0", 3);
    await run(["images", "findings", "acme/app:1.0", "--wait", "60s"]);
    const unknown = await run(["images", "findings", "acme/app:3.0", "--fail-on", "low", "--wait", "60s"]);
    assert.equal(unknown.code, 8);
    assert.match(
      unknown.stderr,
      /^moorage: not known: acme\/app:3\.0: linux\/amd64: NO_DATA: no feed covers 1 package of npm \(moorage feeds add osv-npm would\); linux\/arm64: NO_DATA: /,
    );
    const open = await run(["images", "findings", "acme/app:3.0"]);
    assert.equal(open.code, 0);
    assert.match(open.stderr, /^moorage: not known: acme\/app:3\.0: /);
    assert.match(
      await ok("images", "inspect", "acme/app:3.0"),
      /\nfindings {4}not known: linux\/amd64: NO_DATA: no feed/,
    );
    assert.match(
      await ok("images", "coverage", "acme/app:3.0"),
      /^acme\/app:3\.0: NO_DATA\n\nlinux\/amd64: NO_DATA\n {2}1 package\n/,
    );
    const list = await run(["findings", "list", "acme"]);
    assert.deepEqual(
      [list.code, list.stdout, list.stderr.split("\n")],
      [
        0,
        "",
        [
          "no findings",
          "moorage: no feed is there that images are compared with: nothing is known",
          "moorage: not known: 0 images NOT_READ, 4 images NO_DATA; moorage findings list-unknown-images lists them",
          "moorage: no feed covers npm, in 4 images: moorage feeds add osv-npm would",
          "",
        ],
      ],
    );
    const { unknownSummary } = await json<{ unknownSummary: object }>("findings", "list", "acme");
    assert.deepEqual(unknownSummary, {
      notRead: 0,
      noData: 4,
      atLeast: false,
      uncovered: [{ ecosystem: "npm", images: 4, preset: "osv-npm" }],
    });
    const names = await json<{ unknownImages: { tags: string[] }[] }>("findings", "list-unknown-images", "acme/app");
    assert.deepEqual(names.unknownImages.flatMap(({ tags }) => tags).sort(), ["1.0", "1.0", "3.0", "3.0"]);

    // A gate lets pass what is not known: whoever promotes is warned before anything is moved.
    const gate = { severity: "HIGH", on: ["PROMOTE"], mode: "ENFORCE", onUnknown: "PASS" };
    await ok("repos", "update", "acme/app", "--tag-policy-vulnerabilities", JSON.stringify(gate));
    const promoted = await run(["tags", "promote", "acme/app:3.0", "prod", "--yes"]);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.match(
      promoted.stderr,
      /^moorage: not known: sha256:[0-9a-f]{64}: NO_DATA: no feed covers 1 package of npm.*\n(.*\n)*promoted tag prod of acme\/app\n$/,
    );
    const planned = await run(["tags", "promote", "acme/app:3.0", "next", "--dry-run", "-o", "json"]);
    assert.match(planned.stderr, /^moorage: not known: /);

    mkdirSync(join(folder, "acme-osv"));
    writeFileSync(join(folder, "acme-osv", "ACME-2026-1.json"), JSON.stringify(RECORD));
    await ok("feeds", "import", "acme-osv", "--licence", "CC0-1.0");
    const table = `SEVERITY  ID             PACKAGE  VERSION  FIXED IN  EXPLOITED
critical  CVE-2026-0001  hello    1.1.0    1.3.0
`;
    // The server reads images and compares them with feeds in the background.
    while (
      !(await json<{ findings: object[] }>("images", "findings", "acme/app:1.0", "--wait", "60s")).findings.length
    );
    assert.equal(timeless(await ok("images", "findings", "acme/app:1.0")), table);
    const failed = await run(["images", "findings", "acme/app:1.0", "--fail-on", "high"]);
    assert.deepEqual(
      [failed.code, timeless(failed.stdout), failed.stderr],
      [6, table, "moorage: acme/app:1.0 has 1 finding of severity high or worse\n"],
    );
    const clean = await run(["images", "findings", "acme/app:3.0", "--fail-on", "low", "--wait", "60s"]);
    assert.deepEqual([clean.code, clean.stderr], [0, "acme/app:3.0 has no open findings\n"]);
    // A version that no order reads is in no range: that nothing was found is not "none".
    const pushing = join(import.meta.dirname, "../../../examples/push-packages.ts");
    const token = (await ok("token", "--audience", "registry")).trim();
    const pushed = await execute(process.execPath, [pushing, url, token, "acme/odd", "1.0", "hello@nightly"]);
    assert.equal(pushed.code, 0, pushed.stderr);
    await run(["images", "findings", "acme/odd:1.0", "--wait", "60s"]);
    assert.match(
      await ok("images", "inspect", "acme/odd:1.0"),
      /\nfindings {4}1 not compared: see moorage images coverage\n/,
    );
    assert.equal((await run(["images", "findings", "acme/app:1.0", "--min-severity", "severe"])).code, 2);
    assert.match(await ok("images", "inspect", "acme/app:1.0"), /\nfindings {4}1 critical\n/);
    assert.match(
      await ok("tags", "diff", "acme/app:1.0", "3.0"),
      /\nFindings: 0 new, 1 gone, 0 changed\n- critical CVE-2026-0001 in hello, fixed in 1\.3\.0\n/,
    );

    assert.equal(
      timeless(await ok("images", "sbom", "acme/app:1.0", "-o", "table")),
      "PACKAGE  VERSION  TYPE  LICENCE\nhello    1.1.0    npm   Apache-2.0\n",
    );
    assert.equal(
      (JSON.parse(await ok("images", "sbom", "acme/app:1.0")) as { bomFormat: string }).bomFormat,
      "CycloneDX",
    );
    const file = join(folder, "sbom.json");
    await ok("images", "sbom", "acme/app:1.0", "--format", "spdx", "--file", file);
    assert.match((JSON.parse(readFileSync(file, "utf8")) as { spdxVersion: string }).spdxVersion, /^SPDX-2/);
    assert.equal((await fails("images", "sbom", "acme/app:1.0", "--file", join(folder, "none", "x")))[0], 1);
  },
);

test("what signature policies say of an image is shown rule by rule, and that there is none", async (t) => {
  const { ok, push } = await openStage(t);
  await push("acme/app:1.0", 1);
  const decision = (...flags: string[]) => ok("images", "signature-decision", "acme/app:1.0", ...flags);
  const unasked = "acme/app:1.0: no signature policy applies to it, so no signature is asked for\n";
  assert.equal(await decision(), unasked);

  const keys = join(temporaryFolder(t), "cosign.pub");
  writeFileSync(keys, newKey().pem);
  await ok("signers", "create", "acme/release", "--key", keys);
  await ok(...ENFORCED_POLICY);
  assert.equal(
    (await decision()).replaceAll(BUILD[1] ?? "", "DIGEST"),
    `acme/app:1.0: blocked
  DIGEST is not signed as policy signed (acme) asks: rule image: 0 of 1 by release. Have it signed, or exempt it from the policy

acme/signed (enforce): not signed
  rule image: not signed: 0 of 1 by release
`,
  );
  assert.equal(
    await decision("--action", "COPY"),
    `${unasked}
acme/signed (enforce): does not apply: it is not for copies
`,
  );
  assert.equal(await decision("--jq", ".held"), "true\n");
});
