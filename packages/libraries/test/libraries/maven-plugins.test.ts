// Metadata of a groupId: by it Maven finds plugins by their prefix, as in `mvn greet:hello`.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { mavenPath, pomText, putMaven } from "../../../server/test/support/maven.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  await platform.group(platform.organization, { name: "team" });
});
after(() => platform.close());

const GROUP = "acme/team";
const get = (path: string): Promise<Answer> => platform.call("GET", mavenPath(GROUP, path), { token });
const plugin = (prefix: string): Buffer =>
  zipOf([
    { name: "Mojo.class", content: "" },
    { name: "META-INF/maven/plugin.xml", content: `<plugin><goalPrefix>${prefix}</goalPrefix></plugin>` },
  ]);

/** Deploys a version with this packaging. */
async function deploy(
  [groupId, artifactId, version]: readonly [string, string, string],
  {
    jar,
    packaging = "maven-plugin",
    name = "",
    file = `${artifactId}-${version}`,
  }: { jar?: Buffer; packaging?: string; name?: string; file?: string },
): Promise<void> {
  const folder = `${groupId.replaceAll(".", "/")}/${artifactId}/${version}`;
  const pom = pomText(groupId, artifactId, version).replace(
    "</version>",
    `</version><packaging>${packaging}</packaging><name>${name}</name>`,
  );
  for (const [path, content] of [
    [`${file}.jar`, jar ?? "no archive"],
    [`${file}.pom`, pom],
  ] as const)
    assert.equal((await putMaven(platform, GROUP, `${folder}/${path}`, content)).status, 201, path);
}

function pluginsIn({ text }: Answer): string[] {
  const pattern =
    /<plugin>\s*<name>(.*)<\/name>\s*<prefix>(.*)<\/prefix>\s*<artifactId>(.*)<\/artifactId>\s*<\/plugin>/g;
  return [...text.matchAll(pattern)].map(([, name, prefix, artifactId]) => `${artifactId} ${prefix} ${name}`);
}

test("the plugins of a groupId have the prefix of their jar, or the usual one", async () => {
  await deploy(["org.plugins", "greet-maven-plugin", "1.0"], { jar: plugin("hello"), name: "Says &lt;hello&gt;" });
  await deploy(["org.plugins", "wave-maven-plugin", "1.0"], {});
  await deploy(["org.plugins", "maven-nod-plugin", "1.0-SNAPSHOT"], {
    jar: plugin("nods"),
    file: "maven-nod-plugin-1.0-20260131.101112-1",
  });
  await deploy(["org.plugins", "library", "1.0"], { jar: plugin("shaded"), packaging: "jar" });
  await deploy(["org.plugins.more", "other-maven-plugin", "1.0"], {});
  await deploy(["org.pluginsx", "x-maven-plugin", "1.0"], {});
  const found = await get("org/plugins/maven-metadata.xml");
  assert.equal(found.status, 200, found.text);
  assert.deepEqual(pluginsIn(found), [
    "greet-maven-plugin hello Says &lt;hello&gt;",
    "maven-nod-plugin nods maven-nod-plugin",
    "wave-maven-plugin wave wave-maven-plugin",
  ]);
  assert.doesNotMatch(found.text, /<versioning>/);
  const sum = await get("org/plugins/maven-metadata.xml.sha1");
  assert.equal(sum.text, createHash("sha1").update(found.text).digest("hex"));
});

test("a folder that is an artifact and a groupId has the versions and the plugins", async () => {
  await deploy(["org.both", "tools", "1.0"], { packaging: "pom" });
  await deploy(["org.both.tools", "lint-maven-plugin", "1.0"], { jar: plugin("lint") });
  const found = await get("org/both/tools/maven-metadata.xml");
  assert.deepEqual(pluginsIn(found), ["lint-maven-plugin lint lint-maven-plugin"]);
  assert.match(found.text, /<artifactId>tools<\/artifactId>\s+<versioning>[^]*<version>1\.0<\/version>/);
});

test("a groupId without plugins has no metadata, and what a client sends of it is not kept", async () => {
  await deploy(["org.plain", "app", "1.0"], { packaging: "jar" });
  assert.equal((await get("org/plain/maven-metadata.xml")).status, 404);
  const sent =
    "<metadata><plugins><plugin><prefix>evil</prefix><artifactId>app</artifactId></plugin></plugins></metadata>";
  assert.equal((await putMaven(platform, GROUP, "org/plain/maven-metadata.xml", sent)).status, 201);
  assert.equal((await get("org/plain/maven-metadata.xml")).status, 404);
});
