// Libraries: which images hold one, and which versions a vulnerability hits.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publishDocument } from "../../server/test/support/npm.ts";
import { openStage, timeless } from "./tasks-stage.ts";
import { eventually } from "../../server/test/support/eventually.ts";

const RECORD = {
  id: "ACME-2026-1",
  modified: "2026-11-01T08:00:00Z",
  aliases: ["CVE-2026-0001"],
  summary: "Says hello to strangers",
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
  affected: [
    {
      package: { ecosystem: "npm", name: "hello" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.3.0" }] }],
    },
  ],
};

test("images that hold a library, and findings of libraries, by their names", { timeout: 300_000 }, async (t) => {
  const { url, folder, ok, fails, run, json, push } = await openStage(t);
  const token = (await ok("token")).trim();
  for (const [name, version] of [
    ["hello", "1.1.0"],
    ["hello", "1.3.0"],
    ["hello-again", "1.0.0"],
  ] as const) {
    const answer = await fetch(`${url}/npm/acme/${name}`, {
      method: "PUT",
      body: JSON.stringify(publishDocument(name, version)),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    assert.equal(answer.status, 201);
  }
  const form = new FormData();
  for (const [field, value] of Object.entries({ ":action": "file_upload", name: "Hello_Py", version: "1.0" }))
    form.set(field, value);
  form.set("content", new Blob(["a source distribution"]), "hello_py-1.0.tar.gz");
  const uploaded = await fetch(`${url}/pypi/acme/legacy/`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(uploaded.status, 200);
  // Python takes these for one name.
  for (const name of ["hello-py", "acme:hello_py"])
    assert.equal(await ok("libraries", "get", name, "-o", "jsonpath=$.name"), "Hello_Py\n");
  for (const [ecosystem, cooldown] of [
    ["javascript", "86400s"],
    ["python", "172800s"],
  ] as const)
    await ok("policies", "create", "acme", "--ecosystem", ecosystem, "--mode", "preview", "--cooldown", cooldown);
  for (const [name, cooldown] of [
    ["acme:javascript", "86400s"],
    ["acme:Python", "172800s"],
  ] as const)
    assert.equal(await ok("policies", "get", name, "-o", "jsonpath=$.cooldown"), `${cooldown}\n`);
  await push("acme/web:1.0", 1);
  await push("acme/app:1.0", 1);
  await push("acme/app:2.0", 2);
  const images = (...args: string[]): Promise<{ artifactImages: object[] }> => json("libraries", "images", ...args);
  // The server reads images in the background.
  await eventually(async () => (await images("hello")).artifactImages.length >= 6);
  assert.equal(
    timeless(await ok("libraries", "images", "hello")),
    `IMAGE         PLATFORM     VERSION  SINCE
acme/app:1.0  linux/amd64  1.1.0    TIME
acme/app:1.0  linux/arm64  1.1.0    TIME
acme/app:2.0  linux/amd64  1.2.0    TIME
acme/app:2.0  linux/arm64  1.2.0    TIME
acme/web:1.0  linux/amd64  1.1.0    TIME
acme/web:1.0  linux/arm64  1.1.0    TIME
`,
  );
  assert.equal(
    await ok("libraries", "images", "hello@1.2.0", "--ecosystem", "npm", "--in", "acme", "-o", "name"),
    "acme/app:2.0\nacme/app:2.0\n",
  );
  assert.equal((await images("hello", "--limit", "1")).artifactImages.length, 1);
  const listed = (await ok("libraries", "list", "--query", "hello", "-o", "name")).trim();
  assert.deepEqual(listed.split("\n"), ["acme:Hello_Py", "acme:hello", "acme:hello-again"]);
  assert.deepEqual(await images("acme:hello@1.2.0"), await images("hello@1.2.0"));
  const none = await run(["libraries", "images", "hello@1.3.0"]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, "", "no artifact images\n"]);
  for (const [code, ...args] of [
    [3, "images", "hell"],
    [3, "images", "acme:hell"],
    [3, "images", "nowhere:hello"],
    [3, "images", `hello${"-again".repeat(20)}`],
    [3, "images", "hello", "--ecosystem", "pypi"],
    [2, "images", "hello@"],
    [3, "findings", "hell@1.0.0"],
  ] as const)
    assert.equal((await fails("libraries", ...args))[0], code, args.join(" "));

  mkdirSync(join(folder, "acme-osv"));
  writeFileSync(join(folder, "acme-osv", "ACME-2026-1.json"), JSON.stringify(RECORD));
  await ok("feeds", "import", "acme-osv", "--licence", "CC0-1.0");
  const table = `SEVERITY  ID             LIBRARY  VERSION  FIXED IN  EXPLOITED  SUMMARY
critical  CVE-2026-0001  hello    1.1.0    1.3.0                Says hello to strangers
`;
  for (const args of [
    [],
    ["hello"],
    ["hello@1.1.0"],
    ["--vulnerability", "acme-2026-1", "--vulnerability", "CVE-1"],
    ["--min-severity", "critical", "--fixable", "--in", "acme"],
  ])
    assert.equal(await ok("libraries", "findings", ...args), table, args.join(" "));
  for (const args of [["hello@1.3.0"], ["--malware"], ["--kev"], ["--ecosystem", "maven"]])
    assert.equal(await ok("libraries", "findings", ...args), "", args.join(" "));
  const known = await run(["libraries", "findings", "hello@1.3.0"]);
  assert.equal(known.stderr, "no library findings\n");
  const unknown = await run(["libraries", "findings", "--ecosystem", "maven"]);
  assert.equal(
    unknown.stderr,
    "no library findings\nmoorage: NO_DATA: no feed covers libraries of java: moorage feeds add osv-maven would\n",
  );
});
