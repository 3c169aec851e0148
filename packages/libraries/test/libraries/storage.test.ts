// What libraries take up counts in the storage of their groups, as images do, and no longer once it is removed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { putMaven } from "../../../server/test/support/maven.ts";
import { publishNpm, tarballOf } from "../../../server/test/support/npm.ts";
import { type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const ALL = "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVASCRIPT";

/** Libraries and their bytes, by the names of the rows. */
async function storage(group: string): Promise<Record<string, [libraries: number, bytes: number]>> {
  const page = platform.ok("GET", `/registry/v2/storage?uidp.descendants_of=${group}`);
  const found = await rows<{ name: string; own: boolean; libraries: string; libraryBytes: string }>(page, "storage");
  return Object.fromEntries(
    found.map(({ name, own, libraries, libraryBytes }) => [
      `${name}${own ? " itself" : ""}`,
      [Number(libraries), Number(libraryBytes)],
    ]),
  );
}

test("the bytes of libraries of all ecosystems count by group, and a removed version's do not", async () => {
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  await platform.group(team, { name: "inner" });
  const versions = ["1.0.0", "1.1.0"].map((version) => {
    const manifest = { name: "sized", version };
    return { version, tarball: tarballOf(manifest, { "index.js": `// ${version}\n` }) };
  });
  for (const { version, tarball } of versions)
    assert.equal((await publishNpm(platform, "acme/team", "sized", version, { tarball })).status, 201);
  const wheel = wheelOf({ name: "sized-py", version: "1.0" });
  const uploaded = await uploadPypi(platform, "acme/team/inner", { ...wheel, name: "sized-py", version: "1.0" });
  assert.equal(uploaded.status, 200);
  const jar = Buffer.alloc(12_345, "j");
  assert.equal((await putMaven(platform, "acme/team/inner", "o/sized/1/sized-1.jar", jar)).status, 201);

  const [first = 0, second = 0] = versions.map(({ tarball }) => tarball.length);
  const inner = wheel.bytes.length + wheel.metadata.length + jar.length;
  assert.deepEqual(await storage(team), { "team itself": [1, first + second], inner: [2, inner] });
  assert.deepEqual((await storage(platform.organization))["team"], [3, first + second + inner]);

  // The same file again adds nothing.
  assert.equal((await putMaven(platform, "acme/team/inner", "o/sized/1/sized-1.jar", jar)).status, 201);
  assert.deepEqual((await storage(team))["inner"], [2, inner]);

  const artifacts = await rows(platform.ok("GET", `/libraries/v2/artifacts?${ALL}&query=sized`), "artifacts");
  const uidOf = (name: string): string => artifacts.find((each) => each.name === name)?.uid ?? "";
  const path = `/libraries/v2/artifacts/${encodeURIComponent(uidOf("sized"))}/versions`;
  const [latest] = await rows(platform.ok("GET", path), "artifactVersions");
  assert.equal(Number(latest?.["sizeBytes"]), second);
  await platform.ok("DELETE", `/libraries/v2/artifactVersions/${latest?.uid ?? ""}`);
  await platform.ok("DELETE", `/libraries/v2/artifacts/${uidOf("o:sized")}`);
  assert.deepEqual(await storage(team), { "team itself": [1, first], inner: [1, inner - jar.length] });
});
