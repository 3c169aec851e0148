import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Version } from "@cyclonedx/cyclonedx-library/Spec";
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { digestOf, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { spdxProblem } from "../../../server/test/support/schemas.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const OS = { path: "etc/os-release", content: "ID=debian\nVERSION_ID=12\n" };
const dpkg = (...packages: string[]): { path: string; content: string } => ({
  path: "var/lib/dpkg/status",
  content: packages
    .map((name) => `Package: ${name}\nVersion: 1.0\nSource: src-${name}\nArchitecture: amd64\n`)
    .join("\n"),
});
const LICENSED = {
  path: "a/node_modules/two/package.json",
  content: JSON.stringify({ name: "two", version: "2.0.0", license: "MIT OR Apache-2.0" }),
};
const CUSTOM = {
  path: "a/node_modules/three/package.json",
  content: JSON.stringify({ name: "three", version: "3.0.0", license: "SEE LICENSE IN file" }),
};

let platform: Platform;
let place: PushTarget;
let repo = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  const { url, owner, bootstrap, organization } = platform;
  repo = (await platform.repo(organization, { name: "app" })).uid;
  const token = await platform.token(owner, { audience: new URL(url).host });
  place = { url, token, name: `${bootstrap.organization.name}/app` };
});
after(() => platform.close());

async function sbom(digest: string, query = "", token?: string): Promise<Answer> {
  const path = `/registry/v2/repos/${repo}/digests/${digest}/sbom${query}`;
  return await platform.call("GET", path, { token: token ?? (await platform.token()) });
}

/** The answer as soon as the images are read. */
async function whenRead(digest: string, query = ""): Promise<Record<string, unknown>> {
  return await eventually(async () => {
    const { status, body, text } = await sbom(digest, query);
    if (status === 200) return body["document"] as Record<string, unknown>;
    assert.match(text, /waits to be read/);
    return undefined;
  });
}

interface CycloneDx {
  components: { name: string; purl: string; licenses?: object[]; properties?: { name: string; value: string }[] }[];
}
interface Spdx {
  packages: { SPDXID: string; name: string; licenseDeclared: string; sourceInfo?: string; externalRefs?: object[] }[];
  relationships: { relationshipType: string; relatedSpdxElement: string }[];
}

test("an image's CycloneDX document is valid and says what it holds, from which layer", async () => {
  const layers = [tarOf([OS, dpkg("bash")]), tarOf([npmFile("a", "@one/one", "1.0.0"), LICENSED, CUSTOM])];
  const digest = await pushLayers(place, "v1", layers);
  const document = await whenRead(digest);
  const problem = await new JsonStrictValidator(Version.v1dot6).validate(JSON.stringify(document));
  assert.equal(problem, null, JSON.stringify(problem));
  const { components } = document as unknown as CycloneDx;
  assert.deepEqual(
    components.map(({ purl, licenses }) => [purl, licenses]),
    [
      ["pkg:deb/debian/bash@1.0?arch=amd64&distro=debian-12", undefined],
      ["pkg:npm/%40one/one@1.0.0", undefined],
      ["pkg:npm/three@3.0.0", [{ license: { name: "SEE LICENSE IN file" } }]],
      ["pkg:npm/two@2.0.0", [{ expression: "MIT OR Apache-2.0" }]],
    ],
  );
  assert.deepEqual(components[0]?.properties, [
    { name: "moorage:source", value: "src-bash@1.0" },
    { name: "moorage:place", value: `${digestOf(layers[0] ?? Buffer.alloc(0))} var/lib/dpkg/status` },
  ]);
  assert.deepEqual(await whenRead(digest), document, "it is the same at each reading");
});

test("its SPDX document is valid by the official schema, and names the same packages", async () => {
  const digest = await pushLayers(place, "spdx", [tarOf([OS, dpkg("bash"), LICENSED, CUSTOM])]);
  const document = await whenRead(digest, "?format=SPDX");
  assert.equal(spdxProblem(document), undefined);
  assert.notEqual(spdxProblem({ ...document, creationInfo: {} }), undefined, "the schema finds what is missing");
  const { packages, relationships, ...rest } = document as unknown as Spdx;
  assert.equal((rest as Record<string, unknown>)["spdxVersion"], "SPDX-2.3");
  assert.deepEqual(
    packages.map(({ name, licenseDeclared }) => [name, licenseDeclared]),
    [
      [place.name, "NOASSERTION"],
      ["bash", "NOASSERTION"],
      ["three", "NOASSERTION"],
      ["two", "MIT OR Apache-2.0"],
    ],
  );
  const contained = relationships.filter((each) => each.relationshipType === "CONTAINS");
  assert.deepEqual(
    contained.map((each) => each.relatedSpdxElement),
    packages.slice(1).map(({ SPDXID }) => SPDXID),
  );
  assert.equal(new Set(packages.map(({ SPDXID }) => SPDXID)).size, 4);
  for (const { SPDXID } of packages) assert.match(SPDXID, /^SPDXRef-[a-zA-Z0-9.-]+$/);
});

test("an index has the packages of all its images, each with its platforms", async () => {
  const digests = [
    await pushLayers(place, "a", [tarOf([OS, dpkg("common", "amd")])]),
    await pushLayers(place, "b", [tarOf([OS, dpkg("common", "arm")])]),
  ];
  const platforms = [
    { os: "linux", architecture: "amd64" },
    { os: "linux", architecture: "arm", variant: "v7" },
  ];
  const manifests = digests.map((digest, n) => ({ mediaType: MANIFEST, digest, size: 1, platform: platforms[n] }));
  for (const each of manifests)
    each.size = Number(
      (
        await fetch(`${place.url}/v2/${place.name}/manifests/${each.digest}`, {
          method: "HEAD",
          headers: { authorization: `Bearer ${place.token}` },
        })
      ).headers.get("content-length"),
    );
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
  const put = await fetch(`${place.url}/v2/${place.name}/manifests/index`, {
    method: "PUT",
    body: index,
    headers: { authorization: `Bearer ${place.token}`, "content-type": INDEX },
  });
  assert.equal(put.status, 201, await put.text());
  const of = async (query = ""): Promise<string[]> =>
    ((await whenRead(digestOf(index), query)) as unknown as CycloneDx).components.map(({ name, properties = [] }) =>
      [name, ...properties.filter((each) => each.name === "moorage:platform").map(({ value }) => value)].join(" "),
    );
  assert.deepEqual(await of(), ["amd linux/amd64", "arm linux/arm/v7", "common linux/amd64 linux/arm/v7"]);
  assert.deepEqual(await of("?architecture=amd64"), ["amd linux/amd64", "common linux/amd64"]);
  const wrong = await sbom(digestOf(index), "?architecture=s390x");
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /the image is for amd64, arm\/v7/);
});

test("an index that names an image which only another repo holds does not reveal what that holds", async () => {
  const digest = await pushLayers(place, "held", [tarOf([npmFile("a", "held-elsewhere", "1.0.0")])]);
  await whenRead(digest);
  const { organization } = platform;
  const other = await platform.repo(organization, { name: "sparse", tagPolicy: { allowSparse: true } });
  const index = Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [{ mediaType: MANIFEST, digest, size: 1 }] }),
  );
  const put = await fetch(`${place.url}/v2/${place.name.replace("/app", "/sparse")}/manifests/index`, {
    method: "PUT",
    body: index,
    headers: { authorization: `Bearer ${place.token}`, "content-type": INDEX },
  });
  assert.equal(put.status, 201, await put.text());
  const path = `/registry/v2/repos/${other.uid}/digests/${digestOf(index)}/sbom`;
  const { status, text } = await platform.call("GET", path, { token: await platform.token() });
  assert.equal(status, 400, text);
  assert.match(text, /is not stored here/);
});

test("an image that could not be read is answered with the reason, an unknown one with NOT_FOUND", async () => {
  const damaged = await pushLayers(place, "damaged", [Buffer.from("no archive")]);
  const failed = await eventually(async () => {
    const answer = await sbom(damaged);
    return !answer.text.includes("waits to be read") && answer;
  });
  assert.equal(failed.status, 400);
  assert.equal(failed.body.code, 9);
  assert.match(failed.text, /it could not be read: layer sha256:\w+ is no tar archive/);
  assert.equal((await sbom(`sha256:${"0".repeat(64)}`)).status, 404);
  const stranger = await platform.token(await platform.identity(platform.organization));
  assert.equal((await sbom(damaged, "", stranger)).status, 404);
});
