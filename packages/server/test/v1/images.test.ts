import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { Registry } from "@moorage/api/v1/registry";
import { loadConfig, withFeeds } from "../../src/index.ts";
import { tarOf } from "../support/catalog/archives.ts";
import { npmFile } from "../support/catalog/catalog.ts";
import { digestOf, pushArtifact, pushIndex, pushLayers, type PushTarget } from "../support/catalog/push.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";
import { zipOf } from "../support/zip.ts";

const { getArchs, getImageConfig, getSize, listManifestMetadata } = Registry.method;
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER = tarOf([{ path: "etc/hostname", content: "here\n" }]);
const OS = { path: "etc/os-release", content: "ID=debian\nVERSION_ID=12\n" };
const DPKG = {
  path: "var/lib/dpkg/status",
  content: "Package: libssl3\nVersion: 3.0.11-1+b2\nSource: openssl (3.0.11-1)\nArchitecture: amd64\n",
};
const LICENSED = {
  path: "app/node_modules/two/package.json",
  content: JSON.stringify({ name: "two", version: "2.0.0", license: "MIT OR Apache-2.0" }),
};
const PRODUCT = `---
title: Engine
identifiers:
  - purl: pkg:npm/%40acme/engine
releases:
  - releaseCycle: "3"
    releaseDate: 2020-01-02
    eol: 2099-01-01
    latest: "3.1.0"
  - releaseCycle: "1"
    releaseDate: 2019-01-02
    eol: true
    latest: "1.9.9"
---
`;

describe("images by v1", () => {
  let platform: Platform;
  let token = "";
  let repoId = "";
  let place: PushTarget;
  before(async () => {
    platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
    const { url, owner, bootstrap, organization, settings } = platform;
    repoId = (await platform.repo(organization, { name: "app" })).uid;
    token = await platform.token();
    const registry = await platform.token(owner, { audience: new URL(url).host });
    place = { url, token: registry, name: `${bootstrap.organization.name}/app` };
    const archive = path.join(settings["MOORAGE_DATA_DIR"] ?? "", "products.zip");
    writeFileSync(archive, zipOf([{ name: "products/engine.md", content: PRODUCT }]));
    await withFeeds(loadConfig(settings), async (feeds) => {
      await feeds.add({ name: "eol", format: "endoflife", licence: "MIT" });
      await feeds.importData("eol", archive, {});
    });
  });
  after(() => platform.close());

  const asked = <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    by: string | undefined = token,
  ): Promise<Answer> => both(platform, method, request, by);
  /** The methods about an image, by name. */
  const methods = (digest: string, by?: string) => ({
    getArchs: (change: object = {}) => asked(getArchs, { repoId, digest, ...change }, by),
    getImageConfig: (change: object = {}) => asked(getImageConfig, { repoId, digest, ...change }, by),
    getSize: (change: object = {}) => asked(getSize, { repoId, digest, ...change }, by),
  });

  test("the configuration of an image has every field, for each architecture of an index", async () => {
    const config = {
      User: "65532:65532",
      ExposedPorts: { "8080/tcp": {}, "53/udp": {} },
      Env: ["PATH=/bin", "A=b=c"],
      Entrypoint: ["/bin/app"],
      Cmd: ["--serve"],
      Volumes: { "/data": {} },
      WorkingDir: "/srv",
      Labels: { "org.opencontainers.image.title": "app", constructor: "own" },
      StopSignal: "SIGTERM",
      Unknown: { more: 1 },
    };
    const amd64 = await pushLayers(place, "amd64", [LAYER], undefined, { architecture: "amd64", os: "linux", config });
    const arm = { architecture: "arm", variant: "v7", os: "linux", config: { User: "arm" } };
    const armed = await pushLayers(place, "arm", [LAYER], undefined, arm);
    const index = await pushIndex(place, "index", [
      [armed, { os: "linux", architecture: "arm", variant: "v7" }],
      [amd64, { os: "linux", architecture: "amd64" }],
    ]);
    const expected = {
      user: "65532:65532",
      exposedPorts: { "8080/tcp": {}, "53/udp": {} },
      env: ["PATH=/bin", "A=b=c"],
      entrypoint: ["/bin/app"],
      cmd: ["--serve"],
      volumes: { "/data": {} },
      workingDir: "/srv",
      labels: { "org.opencontainers.image.title": "app", constructor: "own" },
      stopSignal: "SIGTERM",
    };
    const configOf = async (request: MessageInitShape<typeof getImageConfig.input>): Promise<object> =>
      JSON.parse((await asked(getImageConfig, { repoId, ...request })).text) as object;
    assert.deepEqual(await configOf({ digest: amd64 }), expected);
    assert.deepEqual(await configOf({ digest: amd64, registry: true }), expected);
    assert.deepEqual(await configOf({ digest: index }), expected);
    assert.deepEqual(await configOf({ digest: index, arch: "amd64" }), expected);
    assert.deepEqual(await configOf({ digest: index, arch: "arm/v7" }), { user: "arm" });
    assert.deepEqual(await configOf({ digest: index, arch: "arm" }), { user: "arm" });

    assert.deepEqual((await asked(getArchs, { repoId, digest: index })).body, { archs: ["amd64", "arm/v7"] });
    const sizes = await platform.ok("GET", `/registry/v2/repos/${repoId}/digests/${index}/size?architecture=arm`);
    assert.deepEqual((await asked(getSize, { repoId, digest: index, arch: "arm" })).body, {
      size: sizes["size"],
      arch: "arm/v7",
    });
    assert.equal((await asked(getSize, { repoId, digest: index })).body["arch"], "amd64");
  });

  test("a configuration that is none, or of another type than it should be", async () => {
    const odd = {
      architecture: "amd64",
      config: { User: 7, Env: ["A=1", 2], Cmd: "text", Labels: { a: 1, b: "two" } },
    };
    const digest = await pushLayers(place, "odd", [LAYER], undefined, odd);
    assert.deepEqual((await asked(getImageConfig, { repoId, digest })).body, { env: ["A=1"], labels: { b: "two" } });
    const bare = await pushLayers(place, "bare", [LAYER], undefined, { architecture: "amd64" });
    assert.equal((await asked(getImageConfig, { repoId, digest: bare })).text, "{}");
    const large = { architecture: "amd64", config: { User: "x".repeat(1 << 20) } };
    const unread = await pushArtifact(place, {
      config: { mediaType: CONFIG_TYPE, content: JSON.stringify(large) },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", content: LAYER }],
    });
    const index = await pushIndex(place, "large", [[unread, { os: "linux", architecture: "amd64" }]]);
    const answer = await asked(getImageConfig, { repoId, digest: index });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.details[1]?.violations?.[0]?.type, "CONFIG_NOT_READ");
  });

  test("errors name the fields of v1, and images that are not there are not found", async () => {
    const digest = await pushLayers(place, "only", [LAYER]);
    const named = methods(digest);
    assert.deepEqual(blamed(await named.getImageConfig({ arch: "s390x" })), ["arch"]);
    assert.deepEqual(blamed(await named.getSize({ arch: "s390x" })), ["arch"]);
    for (const [name, call] of Object.entries(named)) {
      assert.deepEqual(blamed(await call({ digest: "wrong" })), ["digest"], name);
      assert.equal((await call({ digest: `sha256:${"0".repeat(64)}` })).status, 404, name);
      assert.equal((await call({ repoId: `${platform.organization}/0123456789abcdef` })).status, 404, name);
    }
  });

  test("the packages of images have their source, licence and end of life", async () => {
    const files = [npmFile("app", "@acme/engine", "3.0.1"), npmFile("old", "@acme/engine", "1.2.3"), LICENSED];
    const amd64 = await pushLayers(place, "v1", [tarOf([OS, DPKG, ...files])]);
    const arm = await pushLayers(place, "v1-arm", [tarOf([npmFile("app", "other", "1.0.0")])], undefined, {
      architecture: "arm64",
      os: "linux",
    });
    const index = await pushIndex(place, "v1-index", [
      [amd64, { os: "linux", architecture: "amd64" }],
      [arm, { os: "linux", architecture: "arm64" }],
    ]);
    const listed = (items: MessageInitShape<typeof listManifestMetadata.input>["items"]): Promise<Answer> =>
      asked(listManifestMetadata, { repoId, ...(items && { items }) });
    const image = (digest: string) => ({ filter: { case: "imageDigest" as const, value: digest } });
    const inIndex = (digest: string, arch: string) => ({
      filter: { case: "indexFilter" as const, value: { digest, arch } },
    });
    await eventually(async () => {
      const request = { repoId, items: [image(amd64), image(arm)] };
      return (await platform.grpc.call(listManifestMetadata, request, token)).message?.items.length === 2;
    });
    const ofAmd64 = {
      digest: amd64,
      pkgMetadata: [
        {
          purl: "pkg:deb/debian/libssl3@3.0.11-1%2Bb2?arch=amd64&distro=debian-12",
          originPurl: "pkg:deb/debian/openssl@3.0.11-1?arch=source&distro=debian-12",
        },
        { purl: "pkg:npm/%40acme/engine@1.2.3" },
        { purl: "pkg:npm/%40acme/engine@3.0.1", eolDate: "2099-01-01T00:00:00.000Z" },
        { purl: "pkg:npm/two@2.0.0", license: "MIT OR Apache-2.0" },
      ],
    };
    const ofArm = { digest: arm, pkgMetadata: [{ purl: "pkg:npm/other@1.0.0" }] };
    assert.deepEqual((await listed([image(amd64)])).body, { items: [ofAmd64] });
    assert.deepEqual((await listed([inIndex(index, "arm64"), image(amd64)])).body, { items: [ofArm, ofAmd64] });
    // Nothing is known of these.
    const other = digestOf(Buffer.from("another"));
    assert.deepEqual((await listed([image(other), inIndex(index, "s390x"), image(arm)])).body, { items: [ofArm] });
    assert.equal((await listed([])).text, "{}");
    assert.deepEqual(blamed(await listed([image("wrong"), inIndex("", ""), {}])), [
      "items[0].imageDigest",
      "items[1].indexFilter.digest",
      "items[1].indexFilter.arch",
      "items[2]",
    ]);
    assert.deepEqual(blamed(await listed(Array.from({ length: 101 }, () => image(arm)))), ["items"]);
    const missing = { repoId: `${platform.organization}/0123456789abcdef`, items: [image(arm)] };
    assert.equal((await asked(listManifestMetadata, missing)).status, 404);
  });

  test("no token, a stranger and a viewer", async () => {
    const digest = await pushLayers(place, "guarded", [LAYER]);
    const { uid: elsewhere } = await platform.group(platform.organization);
    const tokens = [
      "none",
      await platform.token(await platform.identity(elsewhere, "owner")),
      await platform.token(await platform.identity(platform.organization, "viewer")),
    ];
    for (const name of ["getArchs", "getImageConfig", "getSize"] as const) {
      const found: number[] = [];
      for (const each of tokens) found.push((await methods(digest, each)[name]()).status);
      assert.deepEqual(found, [401, 404, 200], name);
    }
  });
});
